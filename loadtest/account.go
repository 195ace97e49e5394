package loadtest

import (
	"hash/maphash"
	"sync"
)

// An Account is what clients log in with.
type Account struct {
	SystemID, Password string
}

// accountReceipts pairs receipts with the messages that an account has submitted, by message
// id. The sessions of the account share it, because a receipt may come on any of them. Ids
// are compared by their hash of 64 bits. A message takes some 40 octets.
type accountReceipts struct {
	mu    sync.Mutex
	sent  map[uint64]sentMessage  // by id
	early map[uint64]earlyReceipt // receipts with ids that no answer has had yet
}

// A sentMessage is an accepted message.
type sentMessage struct {
	number   int64
	at       int64 // the time at which it was, or should have been, sent
	receipts uint32
}

// An earlyReceipt is what has come for an id that is not known yet.
type earlyReceipt struct {
	receipt  receivedReceipt
	receipts uint32
}

// A receivedReceipt is a receipt that a client has received.
type receivedReceipt struct {
	id     uint64
	at     int64
	number int64 // in its text, -1 if there is none
	state  state
}

// An acceptedMessage is a message whose answer has come.
type acceptedMessage struct {
	id     uint64
	number int64
	at     int64
	before int // how many receipts of the batch have come before the answer
}

func newAccountReceipts() *accountReceipts {
	return &accountReceipts{sent: map[uint64]sentMessage{}, early: map[uint64]earlyReceipt{}}
}

// receiptBatch is what one batch of a client's PDUs says about receipts.
type receiptBatch struct {
	accepted []acceptedMessage
	received []receivedReceipt

	// What matching finds.
	numbers                []int64 // of the messages that have a receipt now
	doubled, wrong, before int64
	states                 [states]int64
}

// match pairs the batch's receipts with messages, in the order in which they came. matched is
// called with the time from the submit of a message to its receipt.
func (a *accountReceipts) match(b *receiptBatch, matched func(taken int64)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	done := 0
	for _, m := range b.accepted {
		for ; done < m.before; done++ {
			a.received(b, &b.received[done], matched)
		}
		early, ok := a.early[m.id]
		if ok {
			delete(a.early, m.id)
			b.before++
			b.match(&early.receipt, m.number)
			b.doubled += int64(early.receipts - 1)
			matched(early.receipt.at - m.at)
		}
		a.sent[m.id] = sentMessage{m.number, m.at, early.receipts}
	}
	for ; done < len(b.received); done++ {
		a.received(b, &b.received[done], matched)
	}
	b.accepted, b.received = b.accepted[:0], b.received[:0]
}

// received pairs a receipt with its message, or keeps it until the message is answered.
func (a *accountReceipts) received(b *receiptBatch, r *receivedReceipt, matched func(taken int64)) {
	m, ok := a.sent[r.id]
	if !ok {
		early := a.early[r.id]
		if early.receipts == 0 {
			early.receipt = *r
		}
		early.receipts++
		a.early[r.id] = early
		return
	}
	m.receipts++
	a.sent[r.id] = m
	if m.receipts > 1 {
		b.doubled++
		return
	}
	b.match(r, m.number)
	matched(r.at - m.at)
}

// match counts the first receipt for a message.
func (b *receiptBatch) match(r *receivedReceipt, number int64) {
	b.numbers = append(b.numbers, number)
	b.states[min(r.state, states-1)]++
	if r.number >= 0 && r.number != number {
		b.wrong++
	}
}

// strays counts the receipts that belong to no message of the account: those that belong to
// another of the accounts, and those that are not known at all.
func (a *accountReceipts) strays(all []*accountReceipts) (misrouted, unknown int64) {
	for id, early := range a.early {
		n := int64(early.receipts)
		if isOf(id, all) {
			misrouted += n
		} else {
			unknown += n
		}
	}
	return misrouted, unknown
}

func isOf(id uint64, all []*accountReceipts) bool {
	for _, a := range all {
		if _, ok := a.sent[id]; ok {
			return true
		}
	}
	return false
}

// hash returns the hash of a message id.
func (r *run) hash(id []byte) uint64 { return maphash.Bytes(r.seed, id) }
