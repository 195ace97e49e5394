package ratelimit

import "testing"

const ms = 1_000_000

// start is a time before which nothing was sent for long.
const start = 1_700_000_000 * second

func TestReserve(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		rate, burst int
		at          []int64 // milliseconds after start of each message
		want        []int64 // milliseconds it waits
	}{
		{"no limit", 0, 0, []int64{0, 0, 0}, []int64{0, 0, 0}},
		{"even", 100, 1, []int64{0, 0, 0, 25, 45}, []int64{0, 10, 20, 5, 0}},
		{"burst", 100, 3, []int64{0, 0, 0, 0, 0}, []int64{0, 0, 0, 10, 20}},
		{"after a rest one burst, not more", 100, 2, []int64{0, 5000, 5000, 5000}, []int64{0, 0, 0, 10}},
		{"default burst of a small rate is 1", 10, 0, []int64{0, 0}, []int64{0, 100}},
		{"the clock steps back", 100, 1, []int64{0, -1000, -1000}, []int64{0, 1010, 1020}},
	} {
		l := New(c.rate, c.burst)
		for i, at := range c.at {
			now := start + at*ms
			peek := l.Wait(now)
			if got := l.Reserve(now); got != c.want[i]*ms || peek != got {
				t.Errorf("%s: message %d waits %d ns, Wait returned %d, want %d ms", c.name, i, got, peek, c.want[i])
			}
		}
	}
}

// The rate is kept over any time, however often Reserve is called.
func TestRateIsKept(t *testing.T) {
	t.Parallel()
	for _, rate := range []int{1, 7, 300, 50_000, 1_000_000} {
		l := New(rate, 1)
		last := int64(0)
		for range rate + 1 {
			last = l.Reserve(start)
		}
		if last > second || last < second-second/50 {
			t.Errorf("%d a second: message %d after %d ns", rate, rate, last)
		}
	}
}

func TestSetRate(t *testing.T) {
	t.Parallel()
	l := New(10, 1)
	l.Reserve(start)
	l.SetRate(1, 1)
	if w := l.Reserve(start); w != 100*ms {
		t.Errorf("after a change of rate the next waits %d ns", w)
	}
	if w := l.Reserve(start); w != 1100*ms {
		t.Errorf("the one behind it waits %d ns", w)
	}
	l.SetRate(0, 0)
	if w := l.Reserve(start); w != 0 {
		t.Errorf("without limit it waits %d ns", w)
	}
}

func BenchmarkReserve(b *testing.B) {
	l := New(1000, 0)
	now := int64(start)
	for b.Loop() {
		now += l.Reserve(now)
	}
}
