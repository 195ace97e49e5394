package gateway

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/rs/zerolog"

	"pmg/gateway/keep"
	"pmg/sms"
)

const (
	gib = int64(1 << 30)
)

// While there is too little room no message is accepted, and the
// gateway is not ready. Messages are accepted again when there is room.
func TestRefusesWithoutSpace(t *testing.T) {
	t.Parallel()
	p := newPort(t, "")
	var log bytes.Buffer
	p.g.Log = zerolog.New(&log)
	_, commit := p.withDisk()
	var room keep.Space
	var failure error
	p.g.WatchSpace(func() (keep.Space, error) { return room, failure })
	l := p.client()
	check := func(free int64, want string) {
		t.Helper()
		room = keep.Space{Free: free, Total: 100 * gib}
		p.g.CheckSpace()
		if why := p.g.Trouble(); (why == "") != (want == "") || !strings.Contains(why, want) {
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
		asked, answer := 0, make(chan keep.Space)
		p.g.WatchSpace(func() (keep.Space, error) {
			asked++
			return <-answer, nil
		})
		for s := range int64(5) {
			p.g.SeeClock(p.now + s*second)
		}
		synctest.Wait()
		if asked != 1 || p.g.Trouble() != "" {
			t.Errorf("asked %d times, %q", asked, p.g.Trouble())
		}
		answer <- keep.Space{Free: 1, Total: gib}
		synctest.Wait()
		if p.g.Trouble() == "" {
			t.Error("the answer was not heard")
		}
		p.g.SeeClock(p.now + 10*second)
		answer <- keep.Space{Free: gib, Total: gib}
		synctest.Wait()
		if asked != 2 || p.g.Trouble() != "" {
			t.Errorf("asked %d times, %q", asked, p.g.Trouble())
		}
	})
}

// Between two looks only a part of the room is used, however much comes.
func TestSpaceFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPort(t, "")
		p.withDisk()
		answer := make(chan keep.Space, 1)
		answer <- keep.Space{Free: gib + 400, Total: 100 * gib}
		p.g.WatchSpace(func() (keep.Space, error) { return <-answer, nil })
		p.g.CheckSpace()
		p.g.Spend(100)
		if !p.g.MayStore() {
			t.Error("refused with room")
		}
		p.g.Spend(1)
		if p.g.MayStore() {
			t.Error("accepted although more came than there may be room for")
		}
		answer <- keep.Space{Free: 2 * gib, Total: 100 * gib}
		synctest.Wait()
		if !p.g.MayStore() {
			t.Error("refused although there is room")
		}
	})
}

// A store that has failed makes the gateway not ready.
func TestStoreTrouble(t *testing.T) {
	t.Parallel()
	p := newPort(t, "")
	p.withDisk()
	if why := p.g.Trouble(); why != "" {
		t.Errorf("%q", why)
	}
	p.g.StoreFailed(errors.New("input/output error"))
	if s, _ := p.g.StoreStatus(); s.Failed != "input/output error" {
		t.Errorf("failed: %q", s.Failed)
	}
	if why := p.g.Trouble(); !strings.HasSuffix(why, "the gateway must be restarted: input/output error") {
		t.Errorf("%q", why)
	}
}
