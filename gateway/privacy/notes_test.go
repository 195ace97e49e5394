package privacy

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pmg/sms"
	"pmg/store"
)

// Changing are the notes of a store, of which another one changes one between the reading and the writing.
type changing struct {
	store.Eraser
	t    *testing.T
	s    store.Store
	then func() // once
}

func (c *changing) Write(change func(*store.Batch)) error {
	var b store.Batch
	change(&b)
	return c.s.Commit(&b)
}

func (c *changing) EachNote(ctx context.Context, f func(*store.Note) error) error {
	err := c.Eraser.EachNote(ctx, f)
	if then := c.then; then != nil {
		c.then = nil
		then()
	}
	return err
}

// A note that a receipt changes while somebody is forgotten keeps what the receipt has said, and loses the number all the same.
func TestNotesChangedMeanwhile(t *testing.T) {
	t.Parallel()
	s, err := store.Open(t.TempDir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	of, err := ParseNumbers([]string{"+46701740605"})
	if err != nil {
		t.Fatal(err)
	}
	key := []byte("00000007")
	note := func(price sms.Money) {
		t.Helper()
		v := store.Mapping{ID: 7, Price: price, Account: []byte("acme"), Dest: sms.Address{TON: 1, Addr: []byte("46701740605")}}
		var b store.Batch
		b.Note(store.IDsOf("smsc"), key, v.Append(nil), 7)
		if err := s.Commit(&b); err != nil {
			t.Fatal(err)
		}
	}
	note(100)
	p := &Places{Notes: &changing{store.EraserOf(s), t, s, func() { note(0) }}}
	r, err := p.Forget(t.Context(), of, false, func(string) {})
	if err != nil || len(r.Removed) != 1 || r.Removed[0].Count != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	value, ok, err := s.Lookup(store.IDsOf("smsc"), key)
	if err != nil || !ok {
		t.Fatalf("%t, %v", ok, err)
	}
	if v, err := store.DecodeMapping(value); err != nil || v.Price != 0 || len(v.Dest.Addr) != 0 || string(v.Account) != "acme" {
		t.Errorf("%+v, %v", v, err)
	}
}

// breaking are notes whose writes, or whose purge, fail.
type breaking struct {
	Notes
	writes int // that succeed
	purge  error
}

var errDisk = errors.New("the disk is full")

func (b *breaking) Write(change func(*store.Batch)) error {
	if b.writes--; b.writes < 0 {
		return errDisk
	}
	return b.Notes.Write(change)
}

func (b *breaking) Purge(ctx context.Context, between func() error) error {
	if b.purge != nil {
		return b.purge
	}
	return b.Notes.Purge(ctx, between)
}

// Where the store fails, the report has what was removed before, and the error says that not all was.
func TestNotesFail(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for id := range uint64(atOnce + 1) {
		h.note(t, id, ann)
	}
	notes := h.Notes
	h.Notes = &breaking{notes, 1, nil}
	r, err := h.forget(t.Context(), t, false)
	if !errors.Is(err, errDisk) || removed(r)["notes"] < atOnce || h.has(t, ann) != 3 {
		t.Errorf("%+v, %v, in logs %d times", r, err, h.has(t, ann))
	}
	h.Notes = &breaking{notes, 100, errDisk}
	if r, err = h.forget(t.Context(), t, false); !errors.Is(err, errDisk) || removed(r)["notes"] != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}

// A note loses what its client has said beside the message if that has the number, and an SMSC's id that has it.
func TestNoteWithoutNumber(t *testing.T) {
	t.Parallel()
	f := &forgetting{of: numbers(t, ann)}
	to := func(number string) sms.Address { return sms.Address{TON: 1, Addr: []byte(number)} }
	for name, c := range map[string]struct {
		was, want store.Mapping // the same: unchanged
	}{
		"others":               {store.Mapping{ID: 1, Dest: to(bob), Context: []byte("order 7")}, store.Mapping{ID: 1, Dest: to(bob), Context: []byte("order 7")}},
		"to":                   {store.Mapping{ID: 1, Source: to("1"), Dest: to(ann), Context: []byte("order 7")}, store.Mapping{ID: 1, Source: to("1"), Context: []byte("order 7")}},
		"from":                 {store.Mapping{ID: 1, Source: to(ann), Dest: to("1")}, store.Mapping{ID: 1, Dest: to("1")}},
		"in the context":       {store.Mapping{ID: 1, Dest: to(bob), Context: []byte("of " + ann)}, store.Mapping{ID: 1, Dest: to(bob)}},
		"in both":              {store.Mapping{ID: 1, Dest: to(ann), Context: []byte("x" + ann + "7")}, store.Mapping{ID: 1}},
		"a part of the number": {store.Mapping{ID: 1, Dest: to(bob), Context: []byte("x" + ann + "7")}, store.Mapping{ID: 1, Dest: to(bob), Context: []byte("x" + ann + "7")}},
		"in the SMSC's id":     {store.Mapping{ID: 1, Dest: to(bob), PeerID: []byte("7-" + ann)}, store.Mapping{ID: 1, Dest: to(bob)}},
	} {
		was, want := c.was.Append(nil), c.want.Append(nil)
		got, changed := f.withoutAddresses(append(was[:len(was):len(was)], "rest"...))
		if !changed {
			got = append(was[:len(was):len(was)], "rest"...)
		}
		if changed == bytes.Equal(was, want) || string(got) != string(want)+"rest" {
			t.Errorf("%s: %v, %q, want %q", name, changed, got, want)
		}
	}
	if _, changed := f.withoutAddresses([]byte("x")); changed {
		t.Error("what is no note is changed")
	}
}

// A note that others change each time is looked for a few times, and stays. The report says so.
func TestNotesAlwaysChange(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.Events, h.PDULogs = nil, nil
	h.note(t, 7, ann)
	c, times := h.Notes.(*changing), 0
	var again func()
	again = func() {
		times++
		h.priced(t, 7, ann, sms.Money(times))
		c.then = again
	}
	c.then = again
	r, err := h.forget(t.Context(), t, false)
	if err != nil || times != noteTimes || len(r.Removed) > 0 {
		t.Errorf("%+v, %v after %d times", r, err, times)
	}
	if len(r.Left) != 2 || !r.Left[1].Failed || r.Left[1].Where != "store" {
		t.Errorf("%+v", r.Left)
	}
	c.then = nil
	if r, err := h.forget(t.Context(), t, false); err != nil || removed(r)["notes"] != 1 || len(r.Left) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}

// A text of an inbox goes as a whole, with the note of its reply, if it is from the number, to it, or has it. Others stay.
func TestInboxNotes(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	at := func(number string) sms.Address { return sms.Address{TON: 1, Addr: []byte(number)} }
	texts := []store.Received{
		{From: at(ann), To: at("1234"), Text: []byte("hello")},
		{From: at(bob), To: at(ann), Text: []byte("hello")},
		{From: at(bob), To: at("1234"), Text: []byte("call " + ann + "!")},
		{From: at(bob), To: at("1234"), Text: []byte("3c" + hex.EncodeToString([]byte(ann)) + "3e"), Binary: true},
		{From: at(bob), To: at("1234"), Text: []byte("hello")},
		{From: at(bob), To: at("1234"), Text: []byte("order " + ann + "7")},
	}
	if err := h.Notes.Write(func(b *store.Batch) {
		for i, v := range texts {
			b.Note(store.KindInbox, store.ReceivedKey("shop", uint64(i)), v.Append(nil), store.Forever)
			b.Note(store.KindInbox, store.AnsweredKey("shop", uint64(i)), []byte("12345678"), store.Forever)
		}
	}); err != nil {
		t.Fatal(err)
	}
	for _, dry := range []bool{true, false} {
		if r, err := h.forget(t.Context(), t, dry); err != nil || removed(r)["notes"] != 4 {
			t.Errorf("%+v, %v", r, err)
		}
	}
	var left []string
	if err := h.Notes.EachNote(t.Context(), func(v *store.Note) error {
		left = append(left, fmt.Sprintf("%s%d", v.Key[:6], v.Key[len(v.Key)-1]))
		return nil
	}); err != nil || strings.Join(left, " ") != "shop\x00a4 shop\x00a5 shop\x00m4 shop\x00m5" {
		t.Errorf("%q, %v", left, err)
	}
}
