package account

import (
	"fmt"
	"testing"
	"time"

	"pmg/config"
)

// T4: of logins that come together, while the first password is looked at, no other is: neither
// those to many accounts from an address with failures, nor those to one account from an address where it
// has logged in before.
func TestGuardTogether(t *testing.T) {
	t.Parallel()
	for _, known := range []bool{false, true} {
		v := newVisit(t, 1000)
		if known {
			v.succeed("192.0.2.1", "a")
		}
		v.fail("192.0.2.1", "a", 1)
		v.now += int64(time.Second)
		looked := 0
		for i := range 8 {
			id := "a"
			if !known {
				id = fmt.Sprint("account", i)
			}
			if v.wait("192.0.2.1", id) == 0 {
				looked++
			}
		}
		if looked != 1 {
			t.Errorf("known: %t: %d passwords were looked at together", known, looked)
		}
	}
}

// T20: a good login ends the waiting of its account there, in both generations of what is
// remembered.
func TestGuardForgets(t *testing.T) {
	t.Parallel()
	for _, again := range []bool{false, true} {
		v := newVisit(t, 1000)
		v.succeed("192.0.2.1", "a")
		v.fail("192.0.2.1", "a", 3)
		if again {
			v.now += int64(remember) + 1 // what failed before is in the old generation
			v.g.Failed(v.now, home, []byte("a"))
		}
		v.succeed("192.0.2.1", "a")
		v.want("after a good login", "192.0.2.1", "a", 0)
		v.fail("192.0.2.1", "a", 1)
		v.want("the first failure after it", "192.0.2.1", "a", firstDelay)
	}
	r := newRecent[int, int](2, time.Hour)
	for k := range 3 { // 0 and 1 are in the old generation, 2 in the young one
		r.put(1, k, k)
	}
	for k := range 3 {
		r.delete(k)
		if _, ok := r.get(1, k); ok {
			t.Errorf("%d was not deleted", k)
		}
	}
}

// T8: a rate that a reload removes is not in force any more.
func TestRateRemoved(t *testing.T) {
	t.Parallel()
	r := NewRegistry()
	now := time.Unix(1_700_000_000, 0).UnixNano()
	a, _ := check(newTable(r, config.Account{SystemID: "a", Password: "x", Rate: 1, Burst: 1}), login("a", "x"))
	for range 20 {
		a.Admit(now)
	}
	if _, ok := a.Admit(now); ok {
		t.Error("there is no rate")
	}
	newTable(r, config.Account{SystemID: "a", Password: "x"})
	for range 100 {
		if wait, ok := a.Admit(now); !ok || wait != 0 {
			t.Fatalf("a message waits %d ns, or is refused", wait)
		}
	}
}
