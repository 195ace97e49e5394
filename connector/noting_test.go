package connector

import (
	"slices"
	"testing"

	"pmg/sms"
)

// With on_unknown: fail a message leaves when the note of that is safe, and takes its place
// in the window before.
func TestNoting(t *testing.T) {
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
func TestNoNoting(t *testing.T) {
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
