package connector

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// Answers leave in the order of their times, and in the order of Add if these are the same.
// The answers of a session can be removed.
func TestDelayed(t *testing.T) {
	t.Parallel()
	var d Delayed[string]
	links := []*Link{{}, {}, {}}
	if _, _, ok := d.Due(start); ok || d.Next() != 0 {
		t.Error("an empty one has an answer")
	}
	d.Take(links[0], func(string) { t.Error("an empty one has an answer") })
	for i, at := range []int64{3, 1, 2, 1, 3, 2} {
		d.Add(at, links[i%3], fmt.Sprint(at, "/", i))
	}
	var got []string
	d.Take(links[2], func(s string) { got = append(got, s) })
	if want := []string{"2/2", "2/5"}; !slices.Equal(got, want) {
		t.Errorf("took %v, want %v", got, want)
	}
	got = nil
	for at := int64(1); at < 4; at += 2 {
		if d.Next() != at {
			t.Errorf("next at %d, want %d", d.Next(), at)
		}
		for l, s, ok := d.Due(at); ok; l, s, ok = d.Due(at) {
			got = append(got, s)
			if l != links[(s[2]-'0')%3] {
				t.Errorf("%s is of another session", s)
			}
		}
	}
	if want := []string{"1/1", "1/3", "3/0", "3/4"}; !slices.Equal(got, want) || d.Next() != 0 || len(d.of) != 0 {
		t.Errorf("%v, want %v; next at %d, %d sessions", got, want, d.Next(), len(d.of))
	}
}

// With random use every answer comes out once, for the right session.
func TestDelayedRandom(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 5))
	var d Delayed[int]
	links := make([]*Link, 20)
	for i := range links {
		links[i] = &Link{}
	}
	waits := map[int]*Link{}
	n, now := 0, int64(1)
	out := func(l *Link, i int) {
		if waits[i] != l {
			t.Fatalf("answer %d comes out wrongly", i)
		}
		delete(waits, i)
	}
	for range 20_000 {
		switch l := links[random.IntN(len(links))]; random.IntN(5) {
		case 0:
			now += random.Int64N(3)
			for l, i, ok := d.Due(now); ok; l, i, ok = d.Due(now) {
				out(l, i)
			}
		case 1:
			if random.IntN(10) == 0 {
				d.Take(l, func(i int) { out(l, i) })
			}
		default:
			n++
			waits[n] = l
			d.Add(now+random.Int64N(10), l, n)
		}
	}
	for l, i, ok := d.Due(now + 10); ok; l, i, ok = d.Due(now + 10) {
		out(l, i)
	}
	if len(waits) != 0 || len(d.of) != 0 || d.tree.Len() != 0 {
		t.Errorf("%d answers are lost, %d sessions and %d answers are left", len(waits), len(d.of), d.tree.Len())
	}
}

// BenchmarkDelayedTake measures the end of a session without answers while other sessions
// have many (H17).
func BenchmarkDelayedTake(b *testing.B) {
	for _, n := range []int{100, 100_000} {
		b.Run(fmt.Sprintf("others=%d", n), func(b *testing.B) {
			var d Delayed[int]
			for i := range n {
				d.Add(int64(i+1), &Link{}, i)
			}
			l := &Link{}
			b.ReportAllocs()
			for b.Loop() {
				d.Add(1, l, 0)
				d.Take(l, func(int) {})
			}
		})
	}
}
