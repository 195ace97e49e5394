package protocols

import (
	"iter"
	"math/bits"

	"pmg/sms"
)

// A Converter says what of a message cannot pass from one protocol to another.
//
// What two protocols have in common is in the fields of sms.Message. The rest is in the
// message's native part, which only a driver of the same protocol reads. Each driver has one
// table of all fields that may be lost: its own, which messages lose that leave for another
// protocol, and those of sms.Message, which it cannot write.
type Converter interface {
	// Protocol returns the number of the protocol in messages.
	Protocol() sms.Protocol
	// Losses returns the table. The results of Leave and Lacks are its rows.
	Losses() []Loss
	// Leave makes a message that came by this protocol ready for a peer of another one: what
	// its native part has and sms.Message has room for is put there. It returns the fields that
	// remain, which are lost. A message without a native part is not changed, nor is one that
	// has left before.
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

// A Dropper is a Session that may not send all that its protocol has: its peer may speak an older
// version.
type Dropper interface {
	// Drops returns what a message of the protocol loses in this session, or nil.
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
