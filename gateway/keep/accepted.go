package keep

import (
	"pmg/connector"
	"pmg/sms"
	"pmg/store"
)

// An Accepted is an accepted message with its place.
type Accepted struct {
	Message *sms.Message
	Share   *connector.Share // the share with the message's place; nil: the message is put aside, see Aside
}

// Places returns how many places of the queue a message takes: one for each of its parts.
func (a Accepted) Places() int64 {
	if a.Share == nil {
		return 1
	}
	return max(int64(a.Message.Parts), 1)
}

// Octets returns the maximum size of the message after it was split, in octets.
func (a Accepted) Octets() int64 {
	if a.Share == nil {
		return a.Message.Size()
	}
	return a.Message.SizeInParts()
}

// Aside returns why a message is put aside, or store.InLane. A receipt is put aside if its message
// is not known. Any other message is put aside if it has no route.
func (a Accepted) Aside() store.Aside {
	switch {
	case a.Share != nil:
		return store.InLane
	case a.Message.Kind == sms.Receipt && !a.Message.IsKnownReceipt():
		return store.Orphan
	}
	return store.Parked
}

// Put adds the accepted messages of one PDU to the next commit, and returns its position. Messages
// without a share are put aside.
func (k *Keeper) Put(first Accepted, more []Accepted) store.Position {
	w := k.writings.Get().(*writing)
	w.first, w.more = first, more
	p := k.Batches.Write(w.put)
	k.Spend(w.octets)
	w.free()
	return p
}

// Collect adds the accepted messages of one PDU to a batch of the caller's, and Append adds that
// batch to the next commit.
func (k *Keeper) Collect(b *store.Batch, first Accepted, more []Accepted) {
	b.Ahead = k.node.Clock.Ahead()
	k.Add(b, first)
	for _, a := range more {
		k.Add(b, a)
	}
}

// Append adds a batch of Collect to the next commit, empties the batch, and returns the position of
// the commit.
func (k *Keeper) Append(b *store.Batch) store.Position {
	at := k.Batches.Append(b)
	k.Spend(b.Octets())
	b.Reset()
	return at
}

// Add adds an accepted message to the open batch.
func (k *Keeper) Add(b *store.Batch, a Accepted) {
	switch {
	case a.Share == nil:
		b.Put(a.Message, store.Lane{})
		why := a.Aside()
		k.KeepAside(b, a.Message, store.Lane{}, why, reasonOf(a.Message, why))
	case k.Durable():
		b.Put(a.Message, LaneName(a.Share.Lane))
		k.Receive(b, a.Message, a.Share.Lane)
	}
}

// An Inbox keeps the texts that accounts receive.
type Inbox interface {
	// Add adds a message that an account's lane gets to the open batch, if the account has an inbox. Adding it again changes
	// nothing.
	Add(b *store.Batch, m *sms.Message, lane *connector.Lane)
}

// Receive adds a message of a lane to the inbox of the lane's account, in the open batch, if it comes from a mobile.
func (k *Keeper) Receive(b *store.Batch, m *sms.Message, lane *connector.Lane) {
	if m.Kind == sms.MO && lane.ToClient() && k.Inbox != nil {
		k.Inbox.Add(b, m, lane)
	}
}
