package keep

import (
	"pmg/connector"
	"pmg/sms"
	"pmg/store"
)

// A writing is what a message adds to a batch. It is used again, so that no message costs the
// allocation of a function.
type writing struct {
	keeper *Keeper

	first  Accepted
	more   []Accepted
	octets int                // total octets of the records
	put    func(*store.Batch) // adds first and more

	lane     *connector.Lane
	message  *sms.Message
	underWay bool               // the message is about to leave
	keep     func(*store.Batch) // adds the state of the message
}

func newWriting(k *Keeper) *writing {
	w := &writing{keeper: k}
	w.put, w.keep = w.addPut, w.addState
	return w
}

// free returns a writing for reuse.
func (w *writing) free() {
	w.first, w.more, w.lane, w.message = Accepted{}, nil, nil, nil
	w.keeper.writings.Put(w)
}

func (w *writing) addPut(b *store.Batch) {
	before := b.Octets()
	w.keeper.Add(b, w.first)
	for _, a := range w.more {
		w.keeper.Add(b, a)
	}
	w.octets = b.Octets() - before
}

func (w *writing) addState(b *store.Batch) {
	b.Keep(w.message, store.State{Lane: LaneName(w.lane), UnderWay: w.underWay})
	if w.underWay {
		w.keeper.intents.last.Store(b.Position())
	}
}

// KeepState stores what has changed in a message that waits again, and returns the position of the
// change, or zero if nothing is stored.
func (k *Keeper) KeepState(l *connector.Lane, m *sms.Message) store.Position {
	return k.keepState(l, m, false)
}

func (k *Keeper) keepState(l *connector.Lane, m *sms.Message, underWay bool) store.Position {
	if !k.Durable() {
		return store.Position{}
	}
	w := k.writings.Get().(*writing)
	w.lane, w.message, w.underWay = l, m, underWay
	p := k.Batches.Write(w.keep)
	w.free()
	return p
}
