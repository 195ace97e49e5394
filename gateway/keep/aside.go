package keep

import (
	"pmg/sms"
	"pmg/store"
)

// SetAside stores a message that waits in no lane until an operator decides.
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

// CountAside adds n to the number of messages that are put aside for a reason. n is negative for
// messages that are not put aside any more.
func (k *Keeper) CountAside(o *sms.Origin, why store.Aside, n int64) {
	k.aside[why].Add(n)
	if why == store.Parked {
		o.Tally.Parked.Add(n)
	}
}

// Aside returns how many messages are put aside for a reason at present.
func (k *Keeper) Aside(why store.Aside) int64 { return k.aside[why].Load() }

// reasonOf returns the text that says why an accepted message is put aside.
func reasonOf(m *sms.Message, why store.Aside) string {
	if mark, by := sms.MarkOf(m); mark == sms.Held {
		return "held by plugin " + by
	}
	return AsideReasons[why]
}

// AsideReasons are texts for the reasons of store.Aside.
var AsideReasons = [...]string{
	store.Parked: "no route leads anywhere", store.Orphan: "no message is known that the receipt belongs to",
}
