package privacy

import (
	"context"
	"encoding/hex"
	"errors"
	"slices"

	"pmg/sms"
	"pmg/store"
)

const (
	// atOnce is how many notes are changed in one commit. Only so many may have been changed by others since they were read.
	atOnce = 100
	// noteTimes is how often notes are looked for: one that others have changed meanwhile is left for the next time.
	noteTimes = 5
)

// A change is the change of one note.
type change struct {
	of *store.Note
	do func(*store.Batch)
}

// notes removes the addresses from what the store keeps of messages that have left, and purges the disk.
func (f *forgetting) notes(ctx context.Context) error {
	if f.Notes == nil {
		return nil
	}
	f.say("notes of the store")
	var all int64
	busy := true
	for times := 0; busy && times < noteTimes; times++ {
		n, meanwhile, err := f.changeNotes(ctx)
		if all += n; err != nil {
			f.report.removed("store", "notes", all)
			return err
		}
		busy = meanwhile
	}
	if busy {
		f.report.left("store", errors.New("notes that have a number changed each time they were read: ask again"))
	}
	if f.report.removed("store", "notes", all); f.dry {
		return nil
	}
	f.say("the store's files")
	return f.Notes.Purge(ctx, func() error {
		return f.Notes.Write(func(b *store.Batch) { b.DropEvents(0) }) // drops no event
	})
}

// changeNotes changes all notes that have a number, and reports whether others have changed some meanwhile, which stay.
func (f *forgetting) changeNotes(ctx context.Context) (n int64, busy bool, err error) {
	var changes []change
	write := func() error {
		some := changes
		changes = nil
		if f.dry {
			n += int64(len(some))
			return nil
		}
		still := some[:0]
		for _, c := range some {
			is, err := f.Notes.IsStill(c.of)
			if err != nil {
				return err
			}
			if busy = busy || !is; is {
				still = append(still, c)
			}
		}
		if n += int64(len(still)); len(still) == 0 {
			return nil
		}
		return f.Notes.Write(func(b *store.Batch) {
			for _, c := range still {
				c.do(b)
			}
		})
	}
	err = f.Notes.EachNote(ctx, func(v *store.Note) error {
		if do := f.changeOf(v); do != nil {
			kept := &store.Note{Kind: v.Kind, Key: slices.Clone(v.Key), Value: slices.Clone(v.Value), Day: v.Day}
			changes = append(changes, change{kept, do})
		}
		if len(changes) < atOnce {
			return nil
		}
		return write()
	})
	if err == nil {
		err = write()
	}
	return n, busy, err
}

// changeOf returns the function that changes a note, or nil if the note must not be changed.
func (f *forgetting) changeOf(v *store.Note) func(*store.Batch) {
	kind, key, day := v.Kind, slices.Clone(v.Key), v.Day
	switch {
	case kind == store.KindBalance, kind == store.KindPaid, kind == store.KindForm, kind == store.KindFile,
		kind == store.KindListed:
		return nil
	case kind == store.KindInbox:
		return f.inboxChange(v)
	case f.of.IsIn(key): // the key of a keyword or of a client's request, or an SMSC's id that contains the number
		return func(b *store.Batch) { b.Erase(kind, key, day) }
	case kind == store.KindKeyword, kind == store.KindPart, kind == store.KindRequest:
		return nil
	}
	value, changed := f.withoutAddresses(v.Value)
	if !changed {
		return nil
	}
	return func(b *store.Batch) { b.Note(kind, key, value, day) }
}

// inboxChange returns the function that removes a text of an inbox that is from a number, to it, or has it, or nil.
func (f *forgetting) inboxChange(v *store.Note) func(*store.Batch) {
	account, id, ok := store.CutReceivedKey(v.Key)
	if !ok || len(v.Value) == 0 {
		return nil
	}
	r, err := store.DecodeReceived(v.Value)
	if r.Binary {
		r.Text, _ = hex.DecodeString(string(r.Text))
	}
	if err != nil || !f.isAddress(r.From) && !f.isAddress(r.To) && !f.of.IsIn(r.Text) {
		return nil
	}
	day := v.Day
	return func(b *store.Batch) {
		b.Erase(store.KindInbox, store.ReceivedKey(account, id), day)
		b.Erase(store.KindInbox, store.AnsweredKey(account, id), day)
	}
}

// withoutAddresses returns a mapping without the addresses, and what stands behind it.
func (f *forgetting) withoutAddresses(value []byte) (_ []byte, changed bool) {
	m, rest, err := store.CutMapping(value)
	if err != nil {
		return nil, false
	}
	for _, a := range []*sms.Address{&m.Source, &m.Dest} {
		if f.isAddress(*a) {
			*a, changed = sms.Address{}, true
		}
	}
	if s, ok := sms.ReadSubmitted(m.Submitted); ok && (f.isAddress(s.Source) || f.isAddress(s.Dest)) {
		for _, a := range []*sms.Address{&s.Source, &s.Dest} {
			if f.isAddress(*a) {
				*a = sms.Address{}
			}
		}
		m.Submitted, changed = s.Append(nil), true
	}
	if f.of.IsIn(m.PeerID) {
		m.PeerID, changed = nil, true
	}
	if changed && f.of.MayBeIn(m.Context) || f.of.IsIn(m.Context) {
		m.Context, changed = nil, true
	}
	if !changed {
		return nil, false
	}
	return append(m.Append(nil), rest...), true
}
