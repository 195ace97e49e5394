package sms

import "sync/atomic"

// An Answer is a peer's answer to a message, or the reason why no answer came. It determines how the gateway settles the message.
type Answer struct {
	Code   Code
	Status uint32 // the protocol's own value of Code
	PeerID []byte // the peer's id of the message; the slice is a part of the answer's PDU
	At     int64  // Unix nanoseconds
}

// A Tally contains the counters of an account's messages, over all connectors. It is safe for concurrent use.
type Tally struct {
	Counters[atomic.Int64]
	Credit  Credit
	Margin  Margin
	Last    atomic.Int64 // time of the last accepted message, by the engine's clock; 0: no message was accepted
	refused [codes]atomic.Int64
}

// A Margin sums up the messages of an account of which it is known what the SMSC charges. It is safe for concurrent use.
type Margin struct{ price, cost atomic.Int64 }

// Add adds a message: what the account is charged when it has been sent, and what the SMSC charges.
func (m *Margin) Add(price, cost Money) {
	m.price.Add(int64(price))
	m.cost.Add(int64(cost))
}

// Sums returns the sums since the start.
func (m *Margin) Sums() (price, cost Money) { return Money(m.price.Load()), Money(m.cost.Load()) }

// Refuse counts a message that was refused, by the reason.
func (t *Tally) Refuse(why Code) {
	t.Refused.Add(1)
	t.refused[min(why, codes-1)].Add(1)
}

// RefusedBy calls f for each reason for which messages were refused.
func (t *Tally) RefusedBy(f func(why Code, n int64)) {
	for code := range t.refused {
		if n := t.refused[code].Load(); n > 0 {
			f(Code(code), n)
		}
	}
}

// Counters are the counters of an account's clients. The tags set how they are displayed (see admin/rows.go). N is
// atomic.Int64, and int64 in a status.
type Counters[N any] struct {
	Scheduled N `json:"scheduled" metric:"scheduled_messages" column:"scheduled" help:"Messages of the account's clients that wait for their delivery time."`
	Parked    N `json:"parked" metric:"parked_messages" help:"Messages of the account's clients that have no route, and wait for an operator."`
	Memory    N `json:"memory" metric:"memory_bytes" help:"Octets of memory that the messages of the account's clients take."`
	Accepted  N `json:"accepted" metric:"messages_accepted_total" column:"accepted" help:"Messages of the account's clients that were accepted."`
	Refused   N `json:"refused" metric:"messages_refused_total" column:"refused" help:"Messages of the account's clients that were refused."`
	Sent      N `json:"sent" metric:"messages_sent_total" column:"sent" help:"Messages of the account's clients that a peer accepted."`
	Failed    N `json:"failed" metric:"messages_failed_total" column:"failed" help:"Messages of the account's clients that were given up."`
	Cancelled N `json:"cancelled" metric:"messages_cancelled_total" column:"cancelled" help:"Messages of the account's clients that their client or an operator deleted before a peer had accepted them."`
	Expired   N `json:"expired" metric:"messages_expired_total" column:"expired" help:"Messages of the account's clients whose validity ran out while they waited."`
}
