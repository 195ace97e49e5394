package smpp

import (
	"math/rand/v2"
	"testing"
	"time"
)

// F30: ids for peers of SMPP 3.3 are not repeated for longer than receipts may take.
func TestShortIDs(t *testing.T) {
	start := uint64(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC).UnixMicro())
	for _, want := range []struct {
		id    uint64
		short string
	}{{0, "00000000"}, {35, "0000000Z"}, {36, "00000010"}, {shortIDs - 1, "ZZZZZZZZ"}, {shortIDs, "00000000"}} {
		if got := shortText(want.id); got != want.short {
			t.Errorf("id %d is %s, want %s", want.id, got, want.short)
		}
	}
	seen := map[string]uint64{}
	for id := start; id < start+100_000; id++ { // consecutive ids
		if before, ok := seen[shortText(id)]; ok {
			t.Fatalf("ids %d and %d are both %s", before, id, shortText(id))
		}
		seen[shortText(id)] = id
	}
	// Two ids of the same week, with a million per second, have different short ids.
	const week = 7 * 24 * uint64(time.Hour/time.Microsecond)
	if week >= shortIDs {
		t.Errorf("ids of a week are %d, there are %d forms", week, uint64(shortIDs))
	}
	r := rand.New(rand.NewPCG(1, 1))
	for range 100_000 {
		a, b := start+r.Uint64N(week), start+r.Uint64N(week)
		if a != b && shortText(a) == shortText(b) {
			t.Fatalf("ids %d and %d are both %s", a, b, shortText(a))
		}
	}
	// The low 32 bits in hex, which were used once, are repeated within a day.
	if a, b := start, start+1<<32; shortText(a) == shortText(b) {
		t.Errorf("ids %d and %d are both %s", a, b, shortText(a))
	}
}

// shortText returns the id of a message for a peer of SMPP 3.3.
func shortText(id uint64) string {
	var b [16]byte
	return string(shortID(&b, id))
}
