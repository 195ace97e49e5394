package testsms

import (
	"iter"
	"slices"
	"strings"

	"pmg/protocols"
	"pmg/sms"
)

// A Driver implements protocols.Driver for an SMSC without a socket. It has no sessions and no octets.
type Driver struct{}

// New returns a driver.
func New() *Driver { return &Driver{} }

// The commands in the order of Commands.
const (
	unknownCommand = iota
	Submit         // a message
	SubmitAnswer
	Deliver // a receipt, or a message from a mobile
	DeliverAnswer
)

var commands = []string{"test_unknown", "test_submit", "test_submit_resp", "test_deliver", "test_deliver_resp"}

// Name implements protocols.Driver.
func (*Driver) Name() string { return "test" }

// Commands implements protocols.Driver. The first name is for all unknown commands.
func (*Driver) Commands() []string { return slices.Clone(commands) }

// StatusName implements protocols.Driver: statuses are the gateway's codes with TEST_ in front, and success has no name.
func (*Driver) StatusName(status uint32) string {
	if status != uint32(sms.OK) && status < uint32(len(sms.Codes())) {
		return "TEST_" + strings.ToUpper(sms.Code(status).String())
	}
	return ""
}

// Statuses lists the statuses that have a name.
func (d *Driver) Statuses() iter.Seq2[uint32, string] {
	return func(yield func(uint32, string) bool) {
		for _, code := range sms.Codes()[1:] {
			if !yield(uint32(code), d.StatusName(uint32(code))) {
				return
			}
		}
	}
}

// Protocol implements protocols.Driver.
func (*Driver) Protocol() sms.Protocol { return protocols.Test }

// Losses implements protocols.Driver: nothing is lost.
func (*Driver) Losses() []protocols.Loss { return nil }

// Leave implements protocols.Driver.
func (*Driver) Leave(*sms.Message) (lost protocols.Lost) { return lost }

// Lacks implements protocols.Driver.
func (*Driver) Lacks(*sms.Message, protocols.Options) (lost protocols.Lost) { return lost }

// NewPDU implements protocols.Driver.
func (*Driver) NewPDU() protocols.PDU { return new(PDU) }
