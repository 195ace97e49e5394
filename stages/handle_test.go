package stages

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"golang.org/x/sys/unix"

	"pmg/internal/testkit/testutil"
	"pmg/stages/flow"
)

// isClosed reports whether the other end of a socket pair has been closed.
func isClosed(t *testing.T, peer int) bool {
	t.Helper()
	fds := []unix.PollFd{{Fd: int32(peer), Events: unix.POLLIN}}
	for {
		if n, err := unix.Poll(fds, 0); err != unix.EINTR {
			return n > 0 && fds[0].Revents&unix.POLLHUP != 0
		}
	}
}

// The descriptor is closed once, when the last reference is released, whichever holder
// releases it.
func TestHandle(t *testing.T) {
	r := newRig(t, site{})
	defer r.close()
	h, peer := r.session("clients")
	defer unix.Close(peer)
	const holders = 8
	h.retain(holders)
	if n := h.refs.Load(); n != holders+1 {
		t.Errorf("%d references, want %d", n, holders+1)
	}
	write1(t, peer, "unread")
	var closed atomic.Int64
	var wg sync.WaitGroup
	for range holders {
		wg.Go(func() {
			for range 1000 {
				h.retain(2)
				if _, last := h.release(1); last {
					closed.Add(1)
				}
				if h.retainOpen() {
					h.release(1)
				} else {
					t.Error("not open though held")
				}
				h.release(1)
			}
			if _, last := h.release(1); last {
				closed.Add(1)
			}
		})
	}
	wg.Wait()
	if closed.Load() != 0 || isClosed(t, peer) {
		t.Error("closed though the reader holds it")
	}
	if left, last := h.release(1); left != 0 || !last || !isClosed(t, peer) {
		t.Errorf("%d references left, closed %t, seen by the peer %t", left, last, isClosed(t, peer))
	}
	if h.retainOpen() {
		t.Error("a closed handle was retained")
	}
	for name, f := range map[string]func(){
		"retained": func() { h.retain(1) },
		"released": func() { h.release(2) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("a closed handle was %s", name)
				}
			}()
			f()
		}()
	}
}

// A session goes from open to ended, over and closed. When the last job has released its
// references, the listener is informed, or the dispatcher for a session that we connected.
func TestHandleStates(t *testing.T) {
	for _, name := range []string{"clients", "operator"} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, site{}, toReader)
			defer r.close()
			row := map[string]int{"clients": toListener, "operator": toDispatcher}[name]
			h, peer := r.session(name)
			defer unix.Close(peer)
			r.open(h)
			h.retain(1) // an answer that is on its way
			r.hangup(h, "first")
			r.hangup(h, "second")
			testutil.Eventually(t, "the reader has ended the session", func() bool { return len(r.kinds(toParser)) > 0 })
			if got := r.kinds(toParser); len(got) != 1 || got[0] != Over || h.Reason() != "first" {
				t.Errorf("%v, reason %q", got, h.Reason())
			}
			r.in(toBuilder, func(out *flow.Out[Job]) { // Over has passed all stages
				r.seen[toParser][0].Handle, r.seen[toParser][0].refs = nil, 0
				releaseHandle(out, h, 1)
			})
			testutil.Eventually(t, "it is over", func() bool { return h.refs.Load() == 1 })
			if isClosed(t, peer) || len(r.kinds(row)) != 0 {
				t.Error("closed though an answer is on its way")
			}
			r.in(toBuilder, func(out *flow.Out[Job]) { releaseHandle(out, h, 1) })
			if s := r.await(row, 1); s[0].Kind != Closed || !isClosed(t, peer) {
				t.Errorf("%+v, seen by the peer %t", s, isClosed(t, peer))
			}
		})
	}
}

// A job holds references according to its octets, so that a few long PDUs stop the reading
// as many short ones do (F6).
func TestWeight(t *testing.T) {
	for n, want := range map[int]int{0: 1, 16: 1, 4095: 1, 4096: 2, 16 << 10: 5, 64 << 10: 17} {
		if got := weightOf(n); got != want {
			t.Errorf("%d octets weigh %d, want %d", n, got, want)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, site{}, toParser)
		defer r.close()
		h := r.handle("clients", -1)
		long := make([]byte, 64<<10-1)
		copy(long, []byte{255, 255, 255})
		r.send(toParser, Bytes, func(j *Job) {
			j.Octets = &buffer{append(long, "\x02a\x02b"...)}
			h.retain(17)
			j.Handle, j.refs = h, 17
		})
		synctest.Wait()
		if n := h.refs.Load(); n != 1+16+1+1 {
			t.Errorf("%d references", n)
		}
		s := r.take(toPDULogger)
		if len(s) != 3 || s[0].refs != 16 || s[1].refs != 1 || s[2].refs != 1 {
			t.Errorf("%+v", s)
		}
		if n := h.refs.Load(); n != 1 {
			t.Errorf("%d references are kept", n-1)
		}
	})
}
