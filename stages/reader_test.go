package stages

import (
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"pmg/internal/testkit/testutil"
	"pmg/protocols"
	"pmg/protocols/prototest/toy"
	"pmg/stages/flow"
)

// open hands a session to the reader.
func (r *rig) open(h *handle) {
	r.send(toReader, Opened, func(j *Job) { j.Handle = h })
}

// hangup ends a session from a stage.
func (r *rig) hangup(h *handle, reason string) {
	r.in(toBuilder, func(out *flow.Out[Job]) { hangup(out, h, reason) })
}

func write1(t *testing.T, fd int, s string) {
	t.Helper()
	if n, err := unix.Write(fd, []byte(s)); n != len(s) || err != nil {
		t.Fatal(n, err)
	}
}

// The octets that are read are passed on in order, and then Over.
func TestReader(t *testing.T) {
	for _, end := range []string{"close", "hangup"} {
		t.Run(end, func(t *testing.T) {
			r := newRig(t, site{}, toReader)
			defer r.close()
			h, peer := r.session("clients")
			h.Session.(*toy.Session).As = protocols.Transceiver
			r.open(h)
			want := strings.Repeat("0123456789", 5000)
			var got strings.Builder
			for rest := want; got.Len() < len(want); {
				if n, err := unix.Write(peer, []byte(rest)); err == nil {
					rest = rest[n:]
				}
				for _, s := range r.await(toParser, 1) {
					if s.Kind != Bytes || s.refs != weightOf(len(s.Bytes)) {
						t.Fatalf("%+v", s)
					}
					got.WriteString(s.Bytes)
				}
			}
			if got.String() != want {
				t.Error("the octets passed on are not those that the peer sent")
			}
			write1(t, peer, "last words")
			if end == "hangup" {
				r.await(toParser, 1)
				r.hangup(h, "why")
				r.hangup(h, "again")
			} else {
				_ = unix.Close(peer)
				if s := r.await(toParser, 1); s[0].Bytes != "last words" {
					t.Errorf("%+v", s)
				}
			}
			if h.refs.Load() > 0 {
				if s := r.await(toParser, 1); len(s) != 1 || s[0].Kind != Over || s[0].refs != 1 {
					t.Errorf("%+v", s)
				}
			}
			if end == "hangup" {
				_ = unix.Close(peer)
			}
		})
	}
}

// A session that is not logged in is read in small pieces (H5).
func TestReaderStranger(t *testing.T) {
	r := newRig(t, site{}, toReader)
	defer r.close()
	h, peer := r.session("clients")
	r.open(h)
	write1(t, peer, strings.Repeat("0123456789", 300))
	for got := 0; got < 3000; {
		for _, s := range r.await(toParser, 1) {
			if len(s.Bytes) > strangerRead {
				t.Errorf("%d octets are read together", len(s.Bytes))
			}
			got += len(s.Bytes)
		}
	}
	r.hangup(h, "why")
	r.await(toParser, 1)
	_ = unix.Close(peer)
}

// A session may be hung up before the reader knows it: by a logout of all sessions while
// clients connect.
func TestReaderHangupBeforeOpened(t *testing.T) {
	r := newRig(t, site{}, toReader)
	defer r.close()
	h, peer := r.session("clients")
	defer unix.Close(peer)
	r.in(toBuilder, func(out *flow.Out[Job]) {
		hangup(out, h, "gone before it came")
		j := out.Get()
		j.Kind, j.Handle = Opened, h
		out.To(toReader, j)
	})
	if s := r.await(toParser, 1); s[0].Kind != Over || h.refs.Load() != 0 {
		t.Errorf("%+v, %d references", s, h.refs.Load())
	}
}

// A session with too many unanswered octets is not read until it has less.
func TestReaderPause(t *testing.T) {
	r := newRig(t, site{}, toReader)
	defer r.close()
	h, peer := r.session("clients")
	defer unix.Close(peer)
	limit := h.Connector.ReadLimit()
	h.retain(limit) // requests that wait for their answers
	r.open(h)
	write1(t, peer, "x")
	testutil.Eventually(t, "it is paused", h.gate.paused.Load)
	if s := r.take(toParser); len(s) != 0 {
		t.Errorf("read though paused: %+v", s)
	}
	r.in(toBuilder, func(out *flow.Out[Job]) {
		for range limit {
			releaseHandle(out, h, 1)
		}
	})
	if s := r.await(toParser, 1); s[0].Bytes != "x" || h.gate.paused.Load() {
		t.Errorf("%+v, paused: %t", s, h.gate.paused.Load())
	}
	r.hangup(h, "done")
	r.await(toParser, 1)
}

// The end of a connection is noticed even though it is not read, because epoll always
// reports it, again and again.
func TestReaderGoneWhilePaused(t *testing.T) {
	r := newRig(t, site{}, toReader)
	defer r.close()
	h, peer := r.session("clients")
	limit := h.Connector.ReadLimit()
	h.retain(limit)
	r.open(h)
	write1(t, peer, "x")
	testutil.Eventually(t, "it is paused", h.gate.paused.Load)
	_ = unix.Close(peer)
	if s := r.await(toParser, 2); s[0].Bytes != "x" || s[1].Kind != Over {
		t.Errorf("%+v", s)
	}
	h.release(limit)
}

// The reader keeps no state of a session that is over, even if the writer asks late.
func TestReaderForgets(t *testing.T) {
	r := newRig(t, site{}, toReader)
	h, peer := r.session("clients")
	defer unix.Close(peer)
	h.retain(1)
	r.open(h)
	r.hangup(h, "over")
	r.await(toParser, 1)
	r.send(toReader, Blocked, func(j *Job) { j.retain(h) })
	r.send(toReader, Resume, func(j *Job) { j.retain(h) })
	testutil.Eventually(t, "both have been worked on", func() bool { return h.refs.Load() == 1 })
	h.release(1)
	r.close()
	rd := r.real[toReader].(*reader)
	if len(rd.blocked) != 0 {
		t.Errorf("%d blocked sessions are kept", len(rd.blocked))
	}
	for fd, h := range rd.handles {
		if h != nil {
			t.Errorf("the session of descriptor %d is kept", fd)
		}
	}
}

// The writer is informed once that a socket takes more octets, and again only when it asks.
func TestReaderWritable(t *testing.T) {
	r := newRig(t, site{}, toReader)
	defer r.close()
	h, peer := r.session("clients")
	defer unix.Close(peer)
	r.open(h)
	for range 3 {
		r.send(toReader, Blocked, func(j *Job) { j.retain(h) })
		if s := r.await(toWriter, 1); len(s) != 1 || s[0].Kind != Writable {
			t.Errorf("%+v", s)
		}
	}
	write1(t, peer, "x")
	r.await(toParser, 1)
	if s := r.take(toWriter); len(s) != 0 {
		t.Errorf("the writer is told again, but did not ask: %+v", s)
	}
	r.hangup(h, "done")
	r.await(toParser, 1)
}
