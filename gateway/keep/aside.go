package keep

import (
	"pmg/sms"
	"pmg/store"
)

// SetAside keeps a message in the store that waits in no lane, until an operator decides.
func (k *Keeper) SetAside(m *sms.Message, lane store.Lane, why store.Aside, reason string) {
	k.Batches.Write(func(b *store.Batch) { k.KeepAside(b, m, lane, why, reason) })
}

// KeepAside adds to the open batch that a message is put aside.
func (k *Keeper) KeepAside(b *store.Batch, m *sms.Message, lane store.Lane, why store.Aside, reason string) {
	b.Keep(m, store.State{Lane: lane, Aside: why, Reason: reason})
	k.CountAside(m.Origin, why, 1)
	if k.node.Repeats.First("aside") {
		k.node.Log.Warn().Str("id", sms.FormatID(m.ID)).Str("account", m.Account()).Str("reason", reason).
			Msg("a message was put aside; pmg queue shows those that were")
	}
}

// CountAside counts n messages that were put aside, or, if n is negative, are not any more.
func (k *Keeper) CountAside(o *sms.Origin, why store.Aside, n int64) {
	k.aside[why].Add(n)
	if why == store.Parked {
		o.Tally.Parked.Add(n)
	}
}

// Aside returns how many messages were put aside, and not taken up again, for a reason.
func (k *Keeper) Aside(why store.Aside) int64 { return k.aside[why].Load() }

// reasonOf returns why a message is put aside that was accepted.
func reasonOf(m *sms.Message, why store.Aside) string {
	if mark, by := sms.MarkOf(m); mark == sms.Held {
		return "held by plugin " + by
	}
	return AsideReasons[why]
}

// AsideReasons are those reasons for people.
var AsideReasons = [...]string{
	store.Parked: "no route leads anywhere", store.Orphan: "no message is known that the receipt belongs to",
}
