package httpsms

import (
	"iter"
	"net/http"
	"slices"
	"strings"

	"pmg/protocols"
	"pmg/sms"
	"pmg/sms/userdata"
)

// A Driver implements protocols.RequestDriver for HTTP. It reads requests that carry one of its payloads. All others are left to
// net/http.
type Driver struct{ payloads []*Payload }

// New returns a driver whose sessions know the payloads.
func New(payloads ...*Payload) *Driver { return &Driver{payloads} }

// The commands in the order of Commands.
const (
	unknownCommand = iota
	Submit         // a request that submits messages
	SubmitAnswer
	Ask // any other request
	AskAnswer
	Told // a call
	ToldAnswer
	Deliver // a request of an SMSC that brings a receipt or a message from a mobile
	DeliverAnswer
)

var commands = []string{
	"http_unknown", "http_submit", "http_submit_resp", "http_request", "http_request_resp", "http_call", "http_call_resp",
	"http_deliver", "http_deliver_resp",
}

// Name implements protocols.Driver.
func (*Driver) Name() string { return "http" }

// Commands implements protocols.Driver. The first name is for all unknown commands.
func (*Driver) Commands() []string { return slices.Clone(commands) }

// NoAnswer is the status of a call that was not answered.
const NoAnswer = 1

// StatusName implements protocols.Driver. Its names are single words.
func (*Driver) StatusName(status uint32) string {
	if status == NoAnswer {
		return "No-Answer"
	}
	return strings.ReplaceAll(http.StatusText(int(status)), " ", "-")
}

// Statuses lists the statuses that have a name.
func (d *Driver) Statuses() iter.Seq2[uint32, string] {
	return func(yield func(uint32, string) bool) {
		for status := uint32(NoAnswer); status < 600; status++ {
			if name := d.StatusName(status); name != "" && !yield(status, name) {
				return
			}
		}
	}
}

// Protocol implements protocols.Driver.
func (*Driver) Protocol() sms.Protocol { return protocols.HTTP }

// Rows of the table of losses.
const lostHeader = 0

// Losses implements protocols.Driver. The native part of a message is only for the client that sent the
// message, so that nothing is lost.
func (*Driver) Losses() []protocols.Loss {
	return []protocols.Loss{
		lostHeader: {
			Field: "header", Neutral: true,
			Text:   "A user data header where the request of the connector has no field for it: the message is refused.",
			Refuse: sms.BadParameter,
		},
	}
}

// Leave implements protocols.Driver.
func (*Driver) Leave(*sms.Message) (lost protocols.Lost) { return lost }

// Lacks implements protocols.Driver. Parts of long messages may be joined before they are sent, so that they lack nothing yet.
func (*Driver) Lacks(m *sms.Message, o protocols.Options) (lost protocols.Lost) {
	c, ok := o.(*ConnectorOptions)
	if !ok || c.URL == "" || m.Flags&sms.HasHeader == 0 || c.TakesHeader() {
		return lost
	}
	header, _, _ := userdata.Cut(m.Text())
	if h, err := userdata.Parse(header); err != nil || !h.Part.Valid() {
		lost.Add(lostHeader)
	}
	return lost
}

// NewPDU implements protocols.Driver.
func (*Driver) NewPDU() protocols.PDU { return new(PDU) }
