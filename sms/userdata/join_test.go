package userdata

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pmg/sms"
)

const second = int64(time.Second)

var limits = Limits{Octets: 100_000, Timeout: 60 * second}

func source(account string) Source {
	return Source{Account: account, From: sms.Address{TON: 1, NPI: 1, Addr: []byte("46700000001")}, To: sms.Address{Addr: []byte("123")}}
}

// add adds a part whose value is its text.
func add(t *testing.T, j *Joiner[string], now int64, from Source, ref uint16, number, total uint8, text string, o Outcome, want ...string) {
	t.Helper()
	got, values := j.Add(now, from, Part{Reference: ref, Number: number, Total: total}, []byte(text), text, len(text))
	if got != o || !slices.Equal(values, want) {
		t.Errorf("part %d/%d of %d: %d, %q; want %d, %q", number, total, ref, got, values, o, want)
	}
}

func empty(t *testing.T, j *Joiner[string]) {
	t.Helper()
	if j.oldest != nil || len(j.sets) != 0 || j.octets != 0 || len(j.accounts) != 0 || j.newest != nil {
		t.Errorf("%d messages and %d octets are left", len(j.sets), j.octets)
	}
}

func TestJoin(t *testing.T) {
	j, a := NewJoiner[string](limits), source("a")
	add(t, j, 0, a, 1, 1, 1, "whole", Complete, "whole")
	add(t, j, 0, a, 1, 1, 2, "one", Kept)
	add(t, j, 0, a, 1, 2, 2, "two", Complete, "one", "two")
	empty(t, j)
	for i, n := range []uint8{3, 1, 4} { // out of order
		add(t, j, int64(i), a, 2, n, 4, fmt.Sprint(n), Kept)
	}
	add(t, j, 3, a, 2, 2, 4, "2", Complete, "1", "2", "3", "4")
	empty(t, j)
}

func TestJoinInvalid(t *testing.T) {
	j, a := NewJoiner[string](limits), source("a")
	add(t, j, 0, a, 1, 0, 2, "x", Invalid)
	add(t, j, 0, a, 1, 3, 2, "x", Invalid)
	add(t, j, 0, a, 1, 0, 0, "x", Invalid)
	empty(t, j)
}

// A part that was sent twice is there once. One that is another is of another message.
func TestJoinDoubled(t *testing.T) {
	j, a := NewJoiner[string](limits), source("a")
	add(t, j, 0, a, 1, 1, 3, "one", Kept)
	octets := j.octets
	add(t, j, 0, a, 1, 1, 3, "one", Doubled)
	if j.octets != octets {
		t.Error("a part that is not kept takes room")
	}
	add(t, j, 0, a, 1, 2, 3, "two", Kept)
	add(t, j, 0, a, 1, 1, 3, "new one", Replaced, "one", "two")
	add(t, j, 0, a, 1, 2, 3, "two", Kept)
	add(t, j, 0, a, 1, 3, 3, "three", Complete, "new one", "two", "three")
	empty(t, j)
}

// Parts of different messages do not meet.
func TestJoinApart(t *testing.T) {
	j := NewJoiner[string](limits)
	other := source("a")
	other.To.Addr = []byte("124")
	swapped := source("a")
	swapped.From, swapped.To = swapped.To, swapped.From
	ton := source("a")
	ton.From.TON = 2
	for _, s := range []Source{source("a"), source("b"), source(""), other, swapped, ton} {
		add(t, j, 0, s, 1, 1, 2, "one", Kept)
	}
	add(t, j, 0, source("a"), 2, 2, 2, "another reference", Kept)
	add(t, j, 0, source("a"), 1, 2, 3, "another total", Kept)
	o, _ := j.Add(0, source("a"), Part{Reference: 1, Number: 2, Total: 2, Wide: true}, []byte("16 bits"), "16 bits", 7)
	if o != Kept || len(j.sets) != 9 {
		t.Errorf("%d, %d messages", o, len(j.sets))
	}
	add(t, j, 0, source("b"), 1, 2, 2, "two", Complete, "one", "two")
}

func TestJoinExpires(t *testing.T) {
	j := NewJoiner[string](limits)
	expire := func(now int64, want ...string) {
		t.Helper()
		if got, ok := j.Expire(now); ok != (want != nil) || !slices.Equal(got, want) {
			t.Errorf("at %d s: %q, %t; want %q", now/second, got, ok, want)
		}
	}
	expire(math.MaxInt64)
	add(t, j, 10*second, source("a"), 1, 3, 3, "a3", Kept)
	add(t, j, 20*second, source("b"), 1, 1, 2, "b1", Kept)
	add(t, j, 30*second, source("c"), 1, 1, 2, "c1", Kept)
	add(t, j, 60*second, source("a"), 1, 1, 3, "a1", Kept) // does not give it more time
	if j.oldest == nil || j.oldest.deadline != 70*second {
		t.Errorf("the oldest is %+v", j.oldest)
	}
	expire(69 * second)
	expire(70*second, "a1", "a3")
	expire(70 * second)
	add(t, j, 70*second, source("b"), 1, 2, 2, "b2", Complete, "b1", "b2")
	add(t, j, 5*second, source("d"), 1, 1, 2, "d1", Kept) // time does not go backwards
	expire(100*second, "c1")
	expire(129 * second)
	expire(130*second, "d1")
	empty(t, j)
	add(t, j, 130*second, source("a"), 1, 2, 2, "late", Kept)
	expire(math.MaxInt64, "late")
	empty(t, j)
	add(t, j, 140*second, source("a"), 1, 2, 2, "later", Kept)
	expire(141 * second)
}

// There is a limit to what all parts take, and to what an account's do.
func TestJoinIsBounded(t *testing.T) {
	j := NewJoiner[string](Limits{Octets: 40_000, Account: 10_000, Timeout: second})
	kept := map[string]int{}
	for _, account := range []string{"a", "b", "c", "d", "e", "f"} {
		for ref := range uint16(200) {
			o, _ := j.Add(0, source(account), Part{Reference: ref, Number: 1, Total: 2}, []byte("text"), "text", 140)
			if o == Kept {
				kept[account]++
			} else if o != Full {
				t.Fatal(o)
			}
		}
	}
	if j.octets > 40_000 || kept["a"] < 15 || kept["a"] > 30 || kept["d"] < 15 || kept["f"] > 1 {
		t.Errorf("%d octets, kept %v", j.octets, kept)
	}
	if o, _ := j.Add(0, source("a"), Part{Reference: 500, Number: 1, Total: 9}, nil, "no room for this", 1000); o != Full {
		t.Error(o)
	}
	if o, values := j.Add(0, source("a"), Part{Reference: 1, Number: 2, Total: 2}, nil, "the last", 1000); o != Complete {
		t.Errorf("%d, %q", o, values)
	}
	add(t, j, 0, source("a"), 0, 1, 2, "in place of another", Replaced, "text")
	for _, ok := j.Expire(second); ok; _, ok = j.Expire(second) {
	}
	empty(t, j)
	if j.frees > maxFree {
		t.Errorf("%d sets are kept", j.frees)
	}
	add(t, j, 2*second, source("a"), 0, 1, 2, "one", Kept)
}

// Parts in any order, with losses, doubles and time-outs: what is complete is right,
// and every value comes back once.
func TestJoinRandom(t *testing.T) {
	type value struct{ message, number int }
	r := rand.New(rand.NewPCG(1, 2))
	j := NewJoiner[value](Limits{Octets: 60_000, Timeout: 500})
	open := map[value]bool{}
	back := func(values []value) {
		for _, v := range values {
			if !open[v] {
				t.Fatalf("%v comes back, but was not kept", v)
			}
			delete(open, v)
		}
	}
	complete := 0
	for now := range int64(20_000) {
		m := int(now)/50*8 + r.IntN(8) // the reference comes again after a while
		total := 2 + m%5
		v := value{m, 1 + r.IntN(total)}
		o, values := j.Add(now, source(""), Part{Reference: uint16(m % 64), Number: uint8(v.number), Total: uint8(total)},
			fmt.Appendf(nil, "%d/%d", m, v.number), v, 10)
		switch o {
		case Kept:
			open[v] = true
		case Complete:
			complete++
			open[v] = true
			for i, got := range values {
				if got.number != i+1 {
					t.Fatalf("%v", values)
				}
			}
			back(values)
		case Replaced:
			back(values)
			open[v] = true
		}
		for values, ok := j.Expire(now); ok; values, ok = j.Expire(now) {
			back(values)
		}
	}
	for values, ok := j.Expire(math.MaxInt64); ok; values, ok = j.Expire(math.MaxInt64) {
		back(values)
	}
	if len(open) > 0 || complete < 100 || j.octets != 0 || len(j.sets) != 0 {
		t.Errorf("%d values are lost, %d messages complete, %d octets left", len(open), complete, j.octets)
	}
}

// A part takes no memory of the Joiner's own, but for the first one's key.
func TestJoinAllocations(t *testing.T) {
	j, a, text := NewJoiner[*int](limits), source("account"), []byte("text")
	now, v := int64(0), new(int)
	if n := testing.AllocsPerRun(100, func() {
		now++
		for i := range uint8(10) {
			j.Add(now, a, Part{Reference: uint16(now), Number: i + 1, Total: 10}, text, v, 100)
		}
	}); n > 1 {
		t.Errorf("%v allocations for 10 parts", n)
	}
}

func BenchmarkJoin(b *testing.B) {
	j, a, text := NewJoiner[*int](limits), source("account"), make([]byte, 134)
	now, v := int64(0), new(int)
	b.ReportAllocs()
	for b.Loop() {
		now++
		for i := range uint8(4) {
			j.Add(now, a, Part{Reference: uint16(now), Number: i + 1, Total: 4}, text, v, 300)
		}
	}
}
