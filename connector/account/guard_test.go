package account

import (
	"fmt"
	"net/netip"
	"testing"
	"time"
)

// A visit plays logins to a guard with a clock of its own.
type visit struct {
	*testing.T
	g   *Guard
	now int64
}

func newVisit(t *testing.T, size int) *visit {
	return &visit{t, NewGuard(size), time.Unix(1_700_000_000, 0).UnixNano()}
}

func (v *visit) wait(addr, id string) time.Duration {
	return time.Duration(v.g.Check(v.now, v.now, netip.MustParseAddr(addr), []byte(id)))
}

// fail waits for the guard and then fails, that many times.
func (v *visit) fail(addr, id string, times int) {
	for range times {
		v.now += int64(v.wait(addr, id))
		v.g.Check(v.now, v.now-int64(maxSoft), netip.MustParseAddr(addr), []byte(id))
		v.g.Fail(v.now, netip.MustParseAddr(addr), []byte(id))
	}
}

func (v *visit) succeed(addr, id string) {
	v.g.Succeed(v.now, netip.MustParseAddr(addr), []byte(id))
}

func (v *visit) want(reason, addr, id string, want time.Duration) {
	v.Helper()
	if got := v.wait(addr, id); got != want {
		v.Errorf("%s: waits %s, want %s", reason, got, want)
	}
}

func TestGuard(t *testing.T) {
	t.Parallel()
	v := newVisit(t, 1000)
	v.want("first", "192.0.2.1", "a", 0)
	v.fail("192.0.2.1", "a", 1)
	v.want("after one failure", "192.0.2.1", "a", 1*time.Second)
	v.want("another account, same address", "192.0.2.1", "b", 1*time.Second)
	v.want("same account, another address", "192.0.2.2", "a", 0)
	v.fail("192.0.2.1", "b", 2)
	v.want("third", "192.0.2.1", "c", 4*time.Second)
	v.now += int64(3 * time.Second)
	v.want("some of it has passed", "192.0.2.1", "c", 1*time.Second)
	v.fail("192.0.2.1", "c", 20)
	v.want("never more than a minute", "192.0.2.1", "d", time.Minute)

	v.fail("2001:db8::1", "e", 2)
	v.want("the same /64", "2001:db8::ffff", "f", 2*time.Second)
	v.want("another /64", "2001:db8:0:1::1", "f", 0)

	v.fail("192.0.2.9", "g", 10)
	v.now += int64(remember) / 2
	v.want("the time has come", "192.0.2.9", "g", 0)
	v.want("not forgotten yet: the other one under way may fail", "192.0.2.9", "g", time.Minute)
	v.now += 3 * int64(remember)
	v.want("forgotten", "192.0.2.9", "g", 0)
	v.want("forgotten, and no other has failed", "192.0.2.9", "g", 0)
}

// F1: hanging up does not avoid the delay. While the first of many logins is under
// way, the others wait as if it had failed. The right password waits too.
func TestGuardHangUp(t *testing.T) {
	t.Parallel()
	v := newVisit(t, 1000)
	v.fail("192.0.2.1", "a", 1)
	looked := 0
	begin := v.now
	for v.now < begin+int64(10*time.Minute) { // a connection each millisecond
		if v.wait("192.0.2.1", "a") == 0 {
			looked++ // and hangs up, or fails
			if looked%2 == 0 {
				v.g.Fail(v.now, netip.MustParseAddr("192.0.2.1"), []byte("a"))
			}
		}
		v.now += int64(time.Millisecond)
	}
	if looked > 25 {
		t.Errorf("%d passwords were looked at in ten minutes", looked)
	}
	if v.wait("192.0.2.1", "a") == 0 {
		t.Error("the right password need not wait")
	}
}

// A third party cannot lock out a client, neither from elsewhere nor from the
// client's own address with other names.
func TestGuardKnownAddress(t *testing.T) {
	t.Parallel()
	v := newVisit(t, 100_000)
	v.succeed("192.0.2.1", "a")
	for i := range 300 {
		v.fail(fmt.Sprintf("198.51.%d.%d", i/100, i%100), "a", 1)
	}
	v.fail("192.0.2.1", "b", 5)
	v.want("where it logged in before", "192.0.2.1", "a", 0)
	v.want("elsewhere, after many failures", "203.0.113.1", "a", maxSoft)
	v.now += int64(maxSoft) // and failures go on meanwhile
	v.g.Fail(v.now, netip.MustParseAddr("198.51.100.1"), []byte("a"))
	if wait := v.g.Check(v.now, v.now-int64(maxSoft), netip.MustParseAddr("203.0.113.1"), []byte("a")); wait != 0 {
		t.Errorf("elsewhere, after that time, it still waits %s", time.Duration(wait))
	}
	v.now += int64(time.Minute)
	v.fail("192.0.2.1", "a", 3)
	v.want("its own failures there", "192.0.2.1", "a", 4*time.Second)
	v.now += int64(5 * time.Second)
	v.succeed("192.0.2.1", "a")
	v.want("they are forgotten when it logs in", "192.0.2.1", "a", 0)
	v.now += int64(2 * rememberKnown / 3)
	v.fail("192.0.2.1", "b", 3)
	v.want("days later", "192.0.2.1", "a", 0)
}

// A good login from an address where others failed does not make the next one
// wait longer, and does not make guessing cheaper.
func TestGuardSucceed(t *testing.T) {
	t.Parallel()
	v := newVisit(t, 1000)
	v.fail("192.0.2.1", "a", 5)
	v.want("another account", "192.0.2.1", "b", 16*time.Second)
	v.now += int64(16 * time.Second)
	for _, id := range []string{"b", "c", "d"} {
		v.want("its time has come", "192.0.2.1", id, 0)
		v.succeed("192.0.2.1", id)
	}
	v.fail("192.0.2.1", "a", 1)
	v.want("the failures stand", "192.0.2.1", "a", 32*time.Second)
}

// A login with the right password that is refused for another reason is not a guess.
func TestGuardRefuse(t *testing.T) {
	t.Parallel()
	v := newVisit(t, 1000)
	for range 10 {
		v.g.Refuse(v.now, home, []byte("a"))
		v.want("again", home.String(), "a", firstDelay)
		v.want("another account", home.String(), "b", 0)
		v.now += int64(firstDelay)
		v.want("after a second", home.String(), "a", 0)
	}
}

// The number of logins of an address that wait at the same time is limited.
func TestGuardWaiting(t *testing.T) {
	t.Parallel()
	g := NewGuard(100)
	a, same, other := netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("2001:db8::2"), netip.MustParseAddr("192.0.2.1")
	for range maxWaiting {
		if !g.BeginWait(a) {
			t.Fatal("may not wait")
		}
	}
	if g.BeginWait(same) || !g.BeginWait(other) {
		t.Error("they are not counted by address")
	}
	g.EndWait(a)
	if !g.BeginWait(same) {
		t.Error("may not wait though one has gone")
	}
	g.EndWait(other)
	for range maxWaiting {
		g.EndWait(same)
	}
	if len(g.waiting) != 0 {
		t.Errorf("%d addresses are still held", len(g.waiting))
	}
}

// A flood of addresses costs bounded memory, and does not wash away the failures
// of one that goes on failing.
func TestGuardIsBounded(t *testing.T) {
	t.Parallel()
	g := NewGuard(100)
	victim := []byte("victim")
	for i := range 10_000 {
		addr := netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)})
		g.Fail(1, addr, fmt.Append(nil, i))
		g.Fail(1, home, victim)
		g.Succeed(1, addr, fmt.Append(nil, "good", i))
		for name, n := range map[string]int{"failures": len(g.failures.young) + len(g.failures.old), "known": len(g.known.young) + len(g.known.old)} {
			if n > 100 {
				t.Fatalf("%d %s", n, name)
			}
		}
	}
	if wait := g.Check(1, 1, home, victim); wait != int64(time.Minute) {
		t.Errorf("in a flood the failing address waits %s", time.Duration(wait))
	}
}
