package protocols

import (
	"iter"
	"math/bits"

	"pmg/sms"
)

// A Converter finds the parts of a message that cannot pass from one protocol to another.
//
// The fields of sms.Message are common to the protocols. Other values are in the message's native part, which
// only a driver of the same protocol reads. Each driver has one table of all fields that may be lost: its own
// fields, which messages lose when they leave by another protocol, and those fields of sms.Message that the
// driver cannot write.
type Converter interface {
	// Protocol returns the number of the protocol in messages.
	Protocol() sms.Protocol
	// Losses returns the table. The results of Leave and Lacks refer to its rows.
	Losses() []Loss
	// Leave prepares a message that came by this protocol for a peer of another protocol: values of the
	// native part for which sms.Message has room are moved there. Leave returns the remaining fields, which
	// are lost. It does not change a message without a native part, or a message that has left before.
	Leave(m *sms.Message) Lost
	// Lacks returns the fields of a message from another protocol that peers of a connector
	// with these options cannot be sent.
	Lacks(m *sms.Message, o Options) Lost
}

// A Loss is a row of the table of fields that may be lost.
type Loss struct {
	Field   string // name of the field, as in the protocol or in sms.Message
	Neutral bool   // the field is a field of sms.Message
	Text    string // description of the loss

	Refuse sms.Code // reason for refusing a message that would lose the field; OK if the message can be sent without the field
}

// String returns the name of the field.
func (l *Loss) String() string { return l.Field }

// A Dropper is a Session that may be unable to send all fields of its protocol, because its peer may speak an older version.
type Dropper interface {
	// Drops returns the loss of a message of the protocol in this session, or nil.
	Drops(m *sms.Message) *Loss
}

// Lost is a set of rows of a driver's table, as bits.
type Lost [2]uint64

// Add adds a row.
func (s *Lost) Add(row int) { s[row/64] |= 1 << (row % 64) }

// Has reports whether the set has a row.
func (s Lost) Has(row int) bool { return s[row/64]&(1<<(row%64)) != 0 }

// All returns the rows in order.
func (s Lost) All() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i, word := range s {
			for ; word != 0; word &= word - 1 {
				if !yield(64*i + bits.TrailingZeros64(word)) {
					return
				}
			}
		}
	}
}
