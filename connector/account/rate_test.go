package account

import (
	"testing"
	"time"

	"pmg/config"
)

// F5: an account that submits as fast as it can gets its rate, however it spreads its
// messages over sessions and reconnects.
func TestRateOverReconnects(t *testing.T) {
	t.Parallel()
	const (
		second  = int64(time.Second)
		rate    = 100
		seconds = 10
	)
	r := NewRegistry()
	table := newTable(r, config.Account{SystemID: "a", Password: "x", Rate: rate})
	start := time.Unix(1_700_000_000, 0).UnixNano()
	accepted, throttled, longest := 0, 0, int64(0)
	for now := start; now < start+seconds*second; now += second / 10_000 {
		// Each session submits two messages and closes, whatever the answers are.
		a, _ := check(table, login("a", "x"))
		for range 2 {
			wait, ok := a.Admit(now)
			longest = max(longest, wait)
			switch {
			case !ok:
				throttled++
			case now+wait < start+seconds*second:
				accepted++
			}
		}
		a.End(login("a", "x").Addr)
	}
	if burst := rate / 20; accepted < rate*seconds || accepted > rate*seconds+burst {
		t.Errorf("%d messages accepted in %d s, want %d a second", accepted, seconds, rate)
	}
	if throttled == 0 || longest > second*11/10 {
		t.Errorf("%d were throttled, the longest wait is %s", throttled, time.Duration(longest))
	}
	// An honest client that connects then waits no longer than the bound.
	a, _ := check(table, login("a", "x"))
	if _, ok := a.Admit(start + seconds*second + second/rate); !ok {
		t.Error("the next message, a place later, is throttled")
	}
}

// A reload also changes the rate of sessions that logged in before, and places that
// were taken stay taken.
func TestRateSurvivesReload(t *testing.T) {
	t.Parallel()
	const second = int64(time.Second)
	now := time.Unix(1_700_000_000, 0).UnixNano()
	r := NewRegistry()
	account := config.Account{SystemID: "a", Password: "x", Rate: 1}
	old, _ := check(newTable(r, account), login("a", "x"))
	if w, _ := old.Admit(now); w != 0 {
		t.Errorf("first message waits %d", w)
	}
	account.Rate = 2
	a, _ := check(newTable(r, account), login("a", "x"))
	if w, _ := a.Admit(now); w != second {
		t.Errorf("second message waits %d, want a second: its place was taken before", w)
	}
	if w, _ := old.Admit(now); w != second*3/2 {
		t.Errorf("third message, of the old session, waits %d, want 1.5 s by the new rate", w)
	}
}

// burst messages may go together after a rest.
func TestBurst(t *testing.T) {
	t.Parallel()
	a, _ := check(newTable(NewRegistry(), config.Account{SystemID: "a", Password: "x", Rate: 10, Burst: 4}), login("a", "x"))
	for i, want := range []int64{0, 0, 0, 0, 100, 200} {
		if w, ok := a.Admit(int64(time.Hour)); !ok || w != want*int64(time.Millisecond) {
			t.Errorf("message %d waits %s (%t)", i, time.Duration(w), ok)
		}
	}
}
