package keep_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pmg/connector"
	"pmg/gateway/keep"
	"pmg/gateway/roomtest"
	"pmg/store"
)

const gib = int64(1 << 30)

// sleep passes milliseconds of a synctest bubble, and waits for what follows.
func sleep(ms int) {
	time.Sleep(time.Duration(ms) * time.Millisecond)
	synctest.Wait()
}

// The store is looked after once a second, whoever asks: what a commit has left is committed, and the room is probed.
func TestUpkeep(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := rigOn(t, &disk{Store: store.NewMemory()})
		defer func() { _ = p.Keeper.Close() }()
		others, probes := 0, 0
		p.Keeper.WatchSpace(func() (keep.Space, error) { probes++; return keep.Space{Free: 50 * gib, Total: 100 * gib}, nil })
		look := func(at int64, want int) {
			t.Helper()
			p.Keeper.Upkeep(at, func(now int64) {
				if others++; now != at {
					t.Errorf("others look at %d, not %d", now, at)
				}
			})
			if synctest.Wait(); others != want || probes != want {
				t.Errorf("looked %d times, %d times for room, not %d", others, probes, want)
			}
		}
		const second = int64(time.Second)
		look(second, 1)
		look(second+second*9/10-1, 1)
		look(second+second*9/10, 2)
		if strings.Contains(p.log.String(), "accepted") {
			t.Errorf("there was room always, and the log says %s", p.log.String())
		}
		p.disk.fail(errDisk)
		p.Keeper.SetAside(p.message(), store.Lane{}, store.Parked, "for a test")
		if err := p.Keeper.Batches.Sync(); err == nil {
			t.Fatal("it is stored")
		}
		p.disk.fail(nil)
		p.disk.says(store.Stats{Messages: 5, Full: true})
		look(4*second, 3)
		sleep(100) // for which the journal rests
		if s := p.Keeper.StoreStatus(); s.Journal.Waiting != 0 || s.Journal.Failed != 1 || s.Journal.Commits == 0 || s.Messages != 5 || s.Space.Free != 50*gib || s.MinFree != gib {
			t.Errorf("%+v", s)
		}
		look(6*second, 4)
		if why := p.Keeper.Trouble(); !strings.Contains(why, "the reserve of the store (store.ballast) is in use") || p.Keeper.MayStore() {
			t.Errorf("the store is full: %q", why)
		}
		look(8*second, 5)
		p.disk.says(store.Stats{})
		look(10*second, 6)
		look(12*second, 7)
		for _, line := range []string{"no message is accepted until there is room", "messages are accepted again"} {
			if n := strings.Count(p.log.String(), line); n != 1 {
				t.Errorf("%q is logged %d times", line, n)
			}
		}
	})
}

// A commit that does not end is logged after two seconds; after ten, the gateway is not ready.
func TestStuckCommit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := rigOn(t, &disk{Store: store.NewMemory()})
		d := roomtest.NewDisk()
		p.Keeper.Open(d, func(store.Position, error) {})
		defer func() { _ = p.Keeper.Close() }()
		defer close(d.Permits)
		p.Keeper.Put(keep.Accepted{Message: p.message()}, nil)
		p.Keeper.Commit()
		synctest.Wait()
		for _, c := range []struct {
			sleep time.Duration
			lines int
			not   string
		}{{2 * time.Second, 0, ""}, {7999 * time.Millisecond, 1, ""}, {time.Millisecond, 1, "has not answered for 10s"}} {
			time.Sleep(c.sleep)
			p.Keeper.Upkeep(p.Node.Clock.Now(), func(int64) {})
			if n := strings.Count(p.log.String(), "the store does not answer"); n != c.lines {
				t.Errorf("%v later: %d lines, want %d", c.sleep, n, c.lines)
			}
			if why := p.Keeper.Trouble(); !strings.Contains(why, c.not) || (why == "") != (c.not == "") {
				t.Errorf("%v later: %q", c.sleep, why)
			}
		}
		d.Permits <- nil
		if synctest.Wait(); p.Keeper.Trouble() != "" || p.Keeper.StoreStatus().CommitFor != 0 {
			t.Errorf("it has ended: %q", p.Keeper.Trouble())
		}
	})
}

// A store that has failed keeps messages from leaving that the next start would send again, and makes the gateway not ready.
func TestStoreFailed(t *testing.T) {
	t.Parallel()
	p := newRig(t)
	if p.Keeper.Trouble() != "" || p.Keeper.Unsettled.Full(0) {
		t.Error("before it has failed")
	}
	p.Keeper.StoreFailed(errDisk)
	p.Keeper.StoreFailed(errors.New("another one"))
	if s := p.Keeper.StoreStatus(); s.Failed != "another one" || !p.Keeper.Unsettled.Full(0) {
		t.Errorf("%+v", s)
	}
	if why := p.Keeper.Trouble(); !strings.HasSuffix(why, "the gateway must be restarted: another one") {
		t.Errorf("%q", why)
	}
	if n := strings.Count(p.log.String(), "the store has failed"); n != 1 {
		t.Errorf("logged %d times", n)
	}
}

// No more messages leave when so many have ended that the store has not forgotten; and that ends once.
func TestTooManyUnsettled(t *testing.T) {
	t.Parallel()
	const most = 1 << 15
	p := newRig(t)
	u := &p.Keeper.Unsettled
	if u.N.Store(most - 1); u.Full(0) || u.GoOn() {
		t.Error("halted too early")
	}
	u.N.Store(most)
	if !u.Full(0) || u.GoOn() {
		t.Error("not halted")
	}
	if s := p.Keeper.StoreStatus(); s.Unsettled != most {
		t.Errorf("the status has %d", s.Unsettled)
	}
	u.N.Store(most - 1)
	if !p.Keeper.GoOn() || p.Keeper.GoOn() {
		t.Error("it does not go on, once")
	}
}

// A file system that does not answer keeps nothing else from being done, and is asked again only when it has answered.
func TestSpaceHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := rigOn(t, &disk{Store: store.NewMemory()})
		defer func() { _ = p.Keeper.Close() }()
		asked, answer := 0, make(chan keep.Space)
		p.Keeper.WatchSpace(func() (keep.Space, error) {
			asked++
			return <-answer, nil
		})
		now := p.Node.Clock.Now()
		look := func(second int64) { p.Keeper.Upkeep(now+second*int64(time.Second), func(int64) {}) }
		for second := range int64(5) {
			look(second)
		}
		synctest.Wait()
		if asked != 1 || p.Keeper.Trouble() != "" {
			t.Errorf("asked %d times, %q", asked, p.Keeper.Trouble())
		}
		answer <- keep.Space{Free: 1, Total: gib}
		synctest.Wait()
		if p.Keeper.Trouble() == "" {
			t.Error("the answer was not heard")
		}
		look(10)
		answer <- keep.Space{Free: gib, Total: gib}
		synctest.Wait()
		if asked != 2 || p.Keeper.Trouble() != "" {
			t.Errorf("asked %d times, %q", asked, p.Keeper.Trouble())
		}
	})
}

// Between two looks only a part of the room is used, however much comes.
func TestSpaceFlood(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := rigOn(t, &disk{Store: store.NewMemory()})
		defer func() { _ = p.Keeper.Close() }()
		p.Keeper.Spend(1 << 30) // nothing is watched
		p.Keeper.CheckSpace()
		if !p.Keeper.MayStore() {
			t.Error("refused although nothing is watched")
		}
		answer := make(chan keep.Space, 1)
		answer <- keep.Space{Free: gib + 400, Total: 100 * gib}
		p.Keeper.WatchSpace(func() (keep.Space, error) { return <-answer, nil })
		p.Keeper.CheckSpace()
		p.Keeper.Spend(100)
		if !p.Keeper.MayStore() {
			t.Error("refused with room")
		}
		p.Keeper.Spend(1)
		if p.Keeper.MayStore() {
			t.Error("accepted although more came than there may be room for")
		}
		answer <- keep.Space{Free: 2 * gib, Total: 100 * gib}
		synctest.Wait()
		if !p.Keeper.MayStore() {
			t.Error("refused although there is room")
		}
		for range 3 { // messages spend what their records take
			answer <- keep.Space{Free: gib + 4, Total: 100 * gib}
			p.Keeper.CheckSpace()
			p.Keeper.Put(keep.Accepted{Message: p.message(), Share: p.share()}, nil)
			if p.Keeper.MayStore() {
				t.Error("a message spends nothing")
			}
			answer <- keep.Space{Free: 2 * gib, Total: 100 * gib}
			synctest.Wait()
		}
	})
}

// What the gateway has made is given to its lane in its order, with a place there; what the lane does not take is in the store,
// and has no place.
func TestOutgoing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := rigOn(t, &disk{Store: store.NewMemory()})
		defer func() { _ = p.Keeper.Close() }()
		s, o := p.share(), &p.Keeper.Outgoing
		other := p.Table.Share(p.Table.AccountLane(p.Node.Config(), "client"), p.Node.Origins.Of("", "operator"))
		var order []string
		open := true
		s.Enter(p.message(), 0) // the place of the second one
		give := func(all ...keep.Own) {
			for _, one := range all {
				o.Give(one)
			}
		}
		give(
			keep.Own{Share: s, Message: p.message()}, keep.Own{Share: s, Message: p.message(), Placed: true},
			keep.Own{Work: func() { order = append(order, "work") }}, keep.Own{Share: other, Message: p.message()},
			keep.Own{Share: s, Message: p.message()},
		)
		if all, giving := o.Waiting(); len(all) != 5 || giving {
			t.Errorf("%d wait, giving %v", len(all), giving)
		}
		o.Begin(func(l *connector.Lane, f func(int64)) bool {
			order = append(order, map[bool]string{true: "operator", false: "client"}[l == s.Lane])
			if open {
				f(1)
			}
			return open
		})
		synctest.Wait()
		if got := strings.Join(order, " "); got != "operator work client operator" || s.Queued() != 3 || other.Queued() != 1 {
			t.Errorf("%s; %d and %d are queued", got, s.Queued(), other.Queued())
		}
		if all, giving := o.Waiting(); len(all) != 0 || giving {
			t.Errorf("%d wait, giving %v", len(all), giving)
		}
		open = false
		give(keep.Own{Share: s, Message: p.message()})
		if synctest.Wait(); s.Queued() != 3 || len(order) != 5 {
			t.Errorf("a lane that takes nothing has %d, after %v", s.Queued(), order)
		}
		o.End()
		give(keep.Own{Share: s, Message: p.message()})
		if synctest.Wait(); len(order) != 5 {
			t.Error("it is given after the end")
		}
	})
}
