package gateway

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/rs/zerolog"

	"pmg/sms"
)

const (
	mib = int64(1 << 20)
	gib = int64(1 << 30)
)

// What is to stay free depends on the file system, unless it is configured, and some more is
// asked for before messages are accepted again.
func TestSpaceShortage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		s          Space
		configured int64
		again      bool
		why        string
	}{
		{s: Space{Free: gib, Total: 100 * gib}},
		{s: Space{Free: gib - 1, Total: 100 * gib}, why: "only 1023 MiB are free on the file system of store.dir, and store.min_free keeps 1024 MiB"},
		{s: Space{Free: gib, Total: 100 * gib}, again: true, why: "only 1024 MiB"},
		{s: Space{Free: gib + gib/8, Total: 100 * gib}, again: true},
		{s: Space{Free: 500 * mib, Total: 10 * gib}, why: "keeps 512 MiB"},
		{s: Space{Free: 512 * mib, Total: 10 * gib}},
		{s: Space{Free: 31 * mib, Total: 64 * mib}, why: "keeps 32 MiB"},
		{s: Space{Free: 32 * mib, Total: 64 * mib}},
		{s: Space{Free: 60 * mib, Total: 64 * mib}, configured: 60 * mib},
		{s: Space{Free: 62 * mib, Total: 64 * mib}, configured: 60 * mib, again: true},
		{s: Space{Free: 61 * mib, Total: 64 * mib}, configured: 60 * mib, again: true, why: "only 61 MiB"},
		{s: Space{Free: 1, Total: 64 * mib}, configured: 1},
		{s: Space{Free: gib, Total: 2 * gib, Inodes: 999, AllInodes: 100_000}, why: "only 999 files can still be made on the file system of store.dir, and 1000 are kept"},
		{s: Space{Free: gib, Total: 2 * gib, Inodes: 1000, AllInodes: 100_000}},
		{s: Space{Free: gib, Total: 2 * gib, Inodes: 1000, AllInodes: 100_000}, again: true, why: "only 1000 files"},
		{s: Space{Free: gib, Total: 2 * gib}},
	} {
		if why := c.s.shortage(c.configured, c.again); (why == "") != (c.why == "") || !strings.Contains(why, c.why) {
			t.Errorf("%+v, configured %d, again %v: %q, want %q", c.s, c.configured, c.again, why, c.why)
		}
	}
}

// While there is too little room no message is accepted, and the
// gateway is not ready. Messages are accepted again when there is room.
func TestRefusesWithoutSpace(t *testing.T) {
	t.Parallel()
	p := newPort(t, "")
	var log bytes.Buffer
	p.g.Log = zerolog.New(&log)
	_, commit := p.withDisk()
	var room Space
	var failure error
	p.g.WatchSpace(func() (Space, error) { return room, failure })
	l := p.client()
	check := func(free int64, want string) {
		t.Helper()
		room = Space{Free: free, Total: 100 * gib}
		p.g.checkSpace()
		if why := p.g.storeTrouble(); (why == "") != (want == "") || !strings.Contains(why, want) {
			t.Errorf("%d octets are free: %q, want %q", free, why, want)
		}
	}
	check(2*gib, "")
	first := p.submit(l)
	commit(nil)
	p.want("with room", first, "sent", sms.OK)

	check(gib-1, "only 1023 MiB are free")
	p.want("without room", p.submit(l), "sent", sms.QueueFull)
	failure = errors.New("no such device")
	check(2*gib, "only 1023 MiB are free") // it is not known better
	failure = nil
	check(gib, "only 1024 MiB are free")
	p.want("with hardly any room", p.submit(l), "sent", sms.QueueFull)
	refused := p.clients.Stats.Refused.Load()
	check(2*gib, "")
	again := p.submit(l)
	commit(nil)
	p.want("with room again", again, "sent", sms.OK)
	if n := p.clients.Stats.Refused.Load(); n != refused {
		t.Error("refused with room")
	}
	check(gib-1, "only 1023 MiB are free")
	if n := strings.Count(log.String(), "no message is accepted until there is room"); n != 2 { // T18
		t.Errorf("the log tells %d times that there is no room, which there was not twice", n)
	}
	if n := strings.Count(log.String(), "messages are accepted again"); n != 1 {
		t.Errorf("the log tells %d times that there is room again", n)
	}
}

// A file system that does not answer keeps nothing else from being done, and is asked again
// only when it has answered.
func TestSpaceHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPort(t, "")
		p.withDisk()
		asked, answer := 0, make(chan Space)
		p.g.space.probe = func() (Space, error) {
			asked++
			return <-answer, nil
		}
		for s := range int64(5) {
			p.g.SeeClock(p.now + s*second)
		}
		synctest.Wait()
		if asked != 1 || p.g.storeTrouble() != "" {
			t.Errorf("asked %d times, %q", asked, p.g.storeTrouble())
		}
		answer <- Space{Free: 1, Total: gib}
		synctest.Wait()
		if p.g.storeTrouble() == "" {
			t.Error("the answer was not heard")
		}
		p.g.SeeClock(p.now + 10*second)
		answer <- Space{Free: gib, Total: gib}
		synctest.Wait()
		if asked != 2 || p.g.storeTrouble() != "" {
			t.Errorf("asked %d times, %q", asked, p.g.storeTrouble())
		}
	})
}

// Between two looks only a part of the room is used, however much comes.
func TestSpaceFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPort(t, "")
		p.withDisk()
		answer := make(chan Space, 1)
		answer <- Space{Free: gib + 400, Total: 100 * gib}
		p.g.WatchSpace(func() (Space, error) { return <-answer, nil })
		p.g.spend(100)
		if !p.g.mayStore() {
			t.Error("refused with room")
		}
		p.g.spend(1)
		if p.g.mayStore() {
			t.Error("accepted although more came than there may be room for")
		}
		answer <- Space{Free: 2 * gib, Total: 100 * gib}
		synctest.Wait()
		if !p.g.mayStore() {
			t.Error("refused although there is room")
		}
	})
}

// A store that has failed makes the gateway not ready.
func TestStoreTrouble(t *testing.T) {
	t.Parallel()
	p := newPort(t, "")
	p.withDisk()
	if why := p.g.storeTrouble(); why != "" {
		t.Errorf("%q", why)
	}
	p.g.StoreFailed(errors.New("input/output error"))
	if s, _ := p.g.StoreStatus(); s.Failed != "input/output error" {
		t.Errorf("failed: %q", s.Failed)
	}
	if why := p.g.storeTrouble(); !strings.HasSuffix(why, "the gateway must be restarted: input/output error") {
		t.Errorf("%q", why)
	}
}
