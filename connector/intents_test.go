package connector

import (
	"slices"
	"testing"

	"pmg/sms"
)

// With on_unknown: fail a message leaves when the note of that is safe, and takes its place
// in the window before.
func TestIntents(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "instances: 1, window: 2, on_unknown: fail")
	d.submit("a", 3, nil)
	d.send()
	link := d.connect()
	d.want("nothing is noted", 0, 0, 0)
	if !slices.Equal(d.notes, []uint64{1, 2}) {
		t.Fatalf("notes of %v", d.notes)
	}
	d.noted = 1
	d.want("one is", 1, 0, 0)
	d.noted = 2
	d.want("both are", 1, 0, 0)
	d.answer(sms.OK)
	d.want("the third is about to leave", 0, 0, 0)
	if !slices.Equal(d.notes, []uint64{1, 2, 3}) {
		t.Fatalf("notes of %v", d.notes)
	}
	d.fail = true
	d.lose(link) // the second was under way, the third was not
	d.send()
	if !slices.Equal(d.stayed, []uint64{3}) || !slices.Equal(d.ended, []sms.Code{sms.Lost}) {
		t.Fatalf("%v have stayed, and ended: %v", d.stayed, d.ended)
	}
	d.noted = 10
	d.now += 10 * second
	d.send()
	d.connect()
	d.send()
	d.send()
	if len(d.under) != 1 || d.under[0].Message.ID != 3 {
		t.Fatal("the third has not left")
	}
	d.answer(sms.OK)
	d.wantEmpty()
}

// Without it there are no notes.
func TestNoIntents(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "instances: 1, window: 2")
	d.submit("a", 2, nil)
	d.send()
	d.connect()
	d.want("both leave", 2, 0, 0)
	if d.notes != nil {
		t.Errorf("notes of %v", d.notes)
	}
}

// Messages leave in the order of their notes. Those of a session that ends do not wait until the
// notes before theirs are safe.
func TestIntentsOrder(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "instances: 2, window: 2, on_unknown: fail, static: true")
	stays, ends := d.connect(), d.connect()
	d.submit("a", 4, nil)
	d.want("nothing is noted", 0, 0, 0)
	var kept, back []uint64
	for _, n := range d.Window.intents.waiting {
		if n.slot.Link == stays {
			kept = append(kept, n.slot.Message.ID)
		} else {
			back = append(back, n.slot.Message.ID)
		}
	}
	d.lose(ends)
	d.send()
	if !slices.Equal(d.stayed, back) || len(back) != 2 {
		t.Errorf("%v have stayed, want %v", d.stayed, back)
	}
	d.noted = 4
	d.want("the others leave", 2, 0, 0)
	if ids := []uint64{d.under[0].Message.ID, d.under[1].Message.ID}; !slices.Equal(ids, kept) {
		t.Errorf("%v leave, want %v", ids, kept)
	}
	for d.noted = 6; len(d.under) > 0; d.send() {
		d.answer(sms.OK)
	}
	d.wantEmpty()
}

// What waits for a note takes room for itself, and not for all that have waited.
func TestIntentsRoom(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "instances: 1, window: 10, on_unknown: fail, static: true")
	d.connect()
	d.submit("a", 10_000, nil)
	for id := uint64(0); len(d.Window.intents.waiting) > 0 || id == 0; d.noted++ { // always a part of them
		d.send()
		for len(d.under) > 0 {
			if id++; d.under[0].Message.ID != id {
				t.Fatalf("message %d leaves, want %d", d.under[0].Message.ID, id)
			}
			d.answer(sms.OK)
		}
	}
	if n := cap(d.Window.intents.waiting); n > 100 {
		t.Errorf("room for %d", n)
	}
	d.wantEmpty()
}

func BenchmarkIntents(b *testing.B) {
	const window = 10_000
	d := newDesk(b, "instances: 1, window: 10000, on_unknown: fail, static: true")
	d.connect()
	for b.Loop() {
		d.submit("a", window, nil)
		d.send()
		d.noted += window
		d.send()
		for len(d.under) > 0 {
			d.answerSlot(len(d.under)-1, sms.OK)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/window, "ns/message")
}
