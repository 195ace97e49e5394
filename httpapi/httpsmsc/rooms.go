package httpsmsc

import (
	"time"

	"pmg/config"
	"pmg/connector"
	"pmg/gateway/node"
	"pmg/gateway/receipts"
	"pmg/gateway/request"
	"pmg/sms"
)

// Rooms are the parts of a gateway that the HTTP client of an SMSC uses.
type Rooms struct {
	Node      *node.Node
	Lanes     Lanes
	Links     Links
	Converter Converter
	Tracer    Tracer
	Receipts  Receipts
	Deliverer Deliverer
	Holds     func() bool // whether anything may be sent; nil: always
}

// Lanes finds the lane of an out connector.
type Lanes interface {
	LaneOf(c *connector.Connector) *connector.Lane
}

// Links records whether an SMSC can be reached, and returns the pause after a failure.
type Links interface {
	ConnectFailed(now int64, i *connector.Instance, err error) (rest time.Duration)
	Reached(now int64, c *connector.Connector)
}

// A Converter converts a message to the form that an SMSC gets, or refuses the message.
type Converter interface {
	Refuses(slot *connector.Slot) sms.Code
	Leaving(to *connector.Source, m *sms.Message) *sms.Message
}

// A Tracer traces the calls of a message.
type Tracer interface {
	Traceparent(m *sms.Message) string
}

// Receipts records the SMSC's ids of messages, for their receipts.
type Receipts interface {
	Of(c *config.Connector) *receipts.SMSC
	RecordAnswer(o *receipts.SMSC, c *config.Connector, m *sms.Message, id []byte)
}

// A Deliverer accepts the MO messages and receipts that an SMSC delivers.
type Deliverer interface {
	Deliver(from *connector.Source, fill request.Fill) request.Result
}
