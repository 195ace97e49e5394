package session_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"pmg/gateway/keep"
	"pmg/internal/testkit/testutil"
	"pmg/sms"
)

const gib = int64(1 << 30)

// While there is too little room no message is accepted, and the
// gateway is not ready. Messages are accepted again when there is room.
func TestRefusesWithoutSpace(t *testing.T) {
	t.Parallel()
	p := newPort(t, "")
	var log testutil.Log
	p.g.Node.Log = zerolog.New(&log)
	_, commit := p.withDisk()
	var room keep.Space
	var failure error
	p.g.Keeper.WatchSpace(func() (keep.Space, error) { return room, failure })
	l := p.client()
	check := func(free int64, want string) {
		t.Helper()
		room = keep.Space{Free: free, Total: 100 * gib}
		p.g.Keeper.CheckSpace()
		if why := p.g.Keeper.Trouble(); (why == "") != (want == "") || !strings.Contains(why, want) {
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
