package account

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pmg/config"
	"pmg/sms"
	"pmg/sms/number"
)

// floodOf returns the limits of an account, in a registry.
func floodOf(r *Registry, all ...config.Flood) *Flood {
	return NewTable(&config.Config{Accounts: []config.Account{{SystemID: "acme", Policies: config.Policies{Flood: all}}}}, r).Account("acme").Flood()
}

const minute = int64(time.Minute)

// A message counts in each limit that it is for, and in none if one of them refuses it.
func TestFlood(t *testing.T) {
	t.Parallel()
	f := floodOf(
		NewRegistry(), config.Flood{Per: "recipient", Most: 2, Within: time.Minute, Keep: 1000},
		config.Flood{Prefix: "+467", Per: "all", Most: 3, Within: time.Minute},
	)
	for i, c := range []struct {
		at   int64
		to   string
		want string // in the reason; "": it passes
	}{
		{0, "4670", ""},
		{0, "+4670", ""}, // the same
		{1, "4670", "2 within 1m to one recipient"},
		{2, "4671", ""},
		{3, "4671", "3 within 1m to all recipients, of those that begin with +467"},
		{3, "467", "with +467"},
		{3, "46", ""}, // the limit of the prefix is for longer numbers
		{3, "47", ""},
		{3, "", ""},
		{minute, "4670", "one recipient"},
		{minute*13/12 - 1, "4670", "one recipient"},
		{minute * 13 / 12, "4670", ""},
	} {
		why := f.Refuses(c.at, number.Read(c.to))
		if taken := f.Take(c.at, number.Read(c.to)); taken != why || (why == "") != (c.want == "") || !strings.Contains(why, c.want) {
			t.Errorf("message %d to %s: %q, taken as %q; want %q", i, c.to, why, taken, c.want)
		}
	}
	f.GiveBack(minute*13/12, number.Read("4670"))
	for _, want := range []bool{true, true, false} {
		if why := f.Take(minute*13/12, number.Read("4670")); (why == "") != want {
			t.Errorf("after one was given back: %q", why)
		}
	}
}

// A reload keeps the counts of limits that are about the same messages, and no others.
func TestFloodIsReloaded(t *testing.T) {
	t.Parallel()
	r := NewRegistry()
	each := config.Flood{Per: "recipient", Most: 2, Within: time.Minute, Keep: 1000}
	all := config.Flood{Per: "all", Most: 2, Within: time.Minute}
	passes := func(f *Flood, want bool) {
		t.Helper()
		if why := f.Refuses(1, number.Read("46")); (why == "") != want {
			t.Errorf("%q", why)
		}
	}
	f := floodOf(r, each)
	f.Take(1, number.Read("46"))
	f.Take(1, number.Read("46"))
	passes(f, false)
	other := each
	other.Most, other.Keep = 3, 2000
	f = floodOf(r, all, other)
	passes(f, true)
	f.Take(1, number.Read("46"))
	passes(f, false) // by the other one
	other.Most = 4
	all.Prefix = "4"
	passes(floodOf(r, other, all), true)
	each.Within = time.Hour
	passes(floodOf(r, each), true)
	if floodOf(r) != nil {
		t.Error("an account without limits has some")
	}
	each.Within = time.Minute
	passes(floodOf(r, each), true)
}

// However many goroutines submit, and give back, most are accepted.
func TestFloodOfGoroutines(t *testing.T) {
	t.Parallel()
	f := floodOf(NewRegistry(), config.Flood{Per: "recipient", Most: 100, Within: time.Hour, Keep: 1000}, config.Flood{Per: "all", Most: 150, Within: time.Hour})
	var taken [2]atomic.Int64
	var group sync.WaitGroup
	for g := range 4 {
		group.Go(func() {
			for i := range 200 {
				to := number.Read([]string{"40", "41"}[i%2])
				if f.Take(int64(g), to) != "" {
					continue
				}
				if i%3 == 0 {
					f.GiveBack(int64(g), to)
				} else {
					taken[i%2].Add(1)
				}
			}
		})
	}
	group.Wait()
	a, b := taken[0].Load(), taken[1].Load()
	if a > 100 || b > 100 || a+b != 150 {
		t.Errorf("%d and %d are taken", a, b)
	}
}

// Counting allocates nothing.
func TestFloodDoesNotAllocate(t *testing.T) {
	f := floodOf(NewRegistry(), config.Flood{Per: "recipient", Most: 2, Within: time.Hour, Keep: 1000}, config.Flood{Prefix: "4", Per: "all", Most: 50, Within: time.Hour})
	digits := []byte("46701")
	f.Take(0, number.Of(sms.Address{Addr: digits}))
	at := int64(0)
	if n := testing.AllocsPerRun(1000, func() {
		at++
		digits[4] = '0' + byte(at%10)
		f.Take(at, number.Of(sms.Address{Addr: digits}))
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
