package stages

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"pmg/gateway/session"
	"pmg/protocols/prototest/toy"
	"pmg/stages/flow"
)

// say passes octets for a session to the writer.
func (r *rig) say(h *handle, wire string, last bool) {
	r.send(toWriter, Send, func(j *Job) {
		j.Octets = &buffer{[]byte(wire)}
		if j.Last = last; last {
			j.extras = &extras{Reason: "last"}
		}
		j.retain(h)
	})
	synctest.Wait()
}

// writable informs the writer that the session's socket takes more.
func (r *rig) writable(h *handle) {
	r.send(toWriter, Writable, func(j *Job) { j.retain(h) })
	synctest.Wait()
}

func read1(fd int) string {
	b := make([]byte, 1<<20)
	n, _ := unix.Read(fd, b)
	return string(b[:max(n, 0)])
}

// wantReader checks which jobs the writer has sent to the reader.
func (r *rig) wantReader(why string, want ...Kind) {
	r.t.Helper()
	synctest.Wait()
	var got []Kind
	for _, s := range r.take(toReader) {
		got = append(got, s.Kind)
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		r.t.Errorf("%s: the reader is asked for %v, want %v", why, got, want)
	}
}

// writing runs f with a writer and a session whose socket takes little.
func writing(t *testing.T, f func(r *rig, h *handle, peer int)) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, site{}, toWriter)
		h, peer := r.session("clients")
		if err := unix.SetsockoptInt(h.fd, unix.SOL_SOCKET, unix.SO_SNDBUF, 4096); err != nil {
			t.Fatal(err)
		}
		f(r, h, peer)
		synctest.Wait()
		r.close()
		if n := len(r.real[toWriter].(*writer).blocked); n != 0 {
			t.Errorf("%d blocked sessions are kept", n)
		}
		if h.refs.Load() != 1 || h.writer.unsent != nil {
			t.Errorf("%d references and %d octets are kept", h.refs.Load()-1, len(h.writer.unsent))
		}
		h.release(1)
		_ = unix.Close(peer)
	})
}

// Octets that the socket does not take wait, and arrive complete and in order.
func TestWriterPartly(t *testing.T) {
	writing(t, func(r *rig, h *handle, peer int) {
		var want, got strings.Builder
		for n := range 60 {
			piece := strings.Repeat(fmt.Sprintf("%03d.", n), 250)
			want.WriteString(piece)
			r.say(h, piece, false)
		}
		r.wantReader("blocked", Blocked)
		for got.Len() < want.Len() {
			s := read1(peer)
			if s == "" {
				t.Fatalf("nothing more comes after %d octets, %d unsent", got.Len(), len(h.writer.unsent))
			}
			got.WriteString(s)
			blocked := h.writer.unsent != nil
			r.send(toWriter, Writable, func(j *Job) { j.retain(h) })
			switch synctest.Wait(); {
			case h.writer.unsent != nil:
				r.wantReader("still blocked", Blocked)
			case blocked:
				r.wantReader("not blocked any more")
			}
		}
		if got.String() != want.String() {
			t.Error("the octets that arrive are not those that were written")
		}
		time.Sleep(10 * session.Stuck)
		r.wantReader("all is written")
	})
}

// A session with more unsent octets than the limit is not read, but it is not ended: its
// peer may be healthy and slow. Only a peer that takes nothing is cut off (F14, H21).
func TestWriterUnsentLimit(t *testing.T) {
	writing(t, func(r *rig, h *handle, peer int) {
		for range 100 {
			r.say(h, strings.Repeat("x", 1000), false)
		}
		r.wantReader("too much", Blocked)
		if !h.gate.full.Load() {
			t.Error("the session is still read")
		}
		if n := r.gateway.Node.Memory.Used(); n != int64(len(h.writer.unsent)) || n <= 64<<10 {
			t.Errorf("%d octets are counted of %d", n, len(h.writer.unsent))
		}
		for range 20 { // the peer takes a little each time, for much longer than it may take nothing
			time.Sleep(session.StuckFull - time.Second)
			b := make([]byte, 4096)
			_, _ = unix.Read(peer, b)
			r.writable(h)
			if len(h.writer.unsent) > 0 {
				r.wantReader("some progress", Blocked)
			}
		}
		if h.Closing() {
			t.Errorf("cut off: %s", h.Reason())
		}
		for h.writer.unsent != nil {
			read1(peer)
			r.writable(h)
		}
		if h.gate.full.Load() || r.gateway.Node.Memory.Used() != 0 {
			t.Errorf("full %t, %d octets are counted", h.gate.full.Load(), r.gateway.Node.Memory.Used())
		}
		r.take(toReader)
	})
}

// A peer that takes nothing while more octets than the limit wait is cut off sooner, and
// nothing more is written to it. Its session, which was not read meanwhile, is read to the
// end.
func TestWriterStuckFull(t *testing.T) {
	writing(t, func(r *rig, h *handle, peer int) {
		for range 100 {
			r.say(h, strings.Repeat("x", 1000), false)
		}
		h.gate.paused.Store(true)
		time.Sleep(session.StuckFull - 2*time.Second)
		r.wantReader("not yet", Blocked)
		time.Sleep(4 * time.Second)
		r.wantReader("stuck", Hangup, Resume)
		if want := "the peer does not read: it took nothing of "; !strings.HasPrefix(h.Reason(), want) {
			t.Errorf("reason %q, want %q", h.Reason(), want)
		}
		if n := r.gateway.Node.Memory.Used(); n != 0 || h.gate.full.Load() || h.gate.paused.Load() {
			t.Errorf("%d octets are counted, full %t, paused %t", n, h.gate.full.Load(), h.gate.paused.Load())
		}
		for read1(peer) != "" {
		}
		r.say(h, "more", false)
		if s := read1(peer); s != "" {
			t.Errorf("%q is written after the end", s)
		}
	})
}

// A peer that takes nothing for too long is cut off; one that takes a little is not.
func TestWriterStuck(t *testing.T) {
	writing(t, func(r *rig, h *handle, peer int) {
		for range 60 {
			r.say(h, strings.Repeat("x", 1000), false)
		}
		time.Sleep(session.Stuck - time.Second)
		read1(peer)
		r.send(toWriter, Writable, func(j *Job) { j.retain(h) })
		time.Sleep(session.Stuck - time.Second)
		r.wantReader("it takes a little", Blocked, Blocked)
		time.Sleep(3 * time.Second)
		r.wantReader("it takes nothing", Hangup)
		if want := "the peer does not read: it took nothing of "; !strings.HasPrefix(h.Reason(), want) {
			t.Errorf("reason %q, want %q", h.Reason(), want)
		}
	})
}

// A session that another stage ended, and one whose last PDU is unsent, do not wait for the
// time limit, because the reader does not watch the socket any more.
func TestWriterOver(t *testing.T) {
	for _, last := range []bool{false, true} {
		writing(t, func(r *rig, h *handle, peer int) {
			r.say(h, strings.Repeat("x", 60000), last)
			h.BeginClosing("somebody else")
			time.Sleep(2 * time.Second)
			r.wantReader("over", Blocked)
			if h.writer.unsent != nil || r.gateway.Node.Memory.Used() != 0 {
				t.Errorf("last %t: %d octets are kept, %d counted", last, len(h.writer.unsent), r.gateway.Node.Memory.Used())
			}
		})
	}
}

// The last PDU ends the session when it is written completely, and nothing follows it.
func TestWriterLast(t *testing.T) {
	writing(t, func(r *rig, h *handle, peer int) {
		want := strings.Repeat("x", 50000)
		r.say(h, want, true)
		r.say(h, "more", false)
		r.wantReader("not written yet", Blocked)
		var got strings.Builder
		for {
			s := read1(peer)
			if s == "" {
				break
			}
			got.WriteString(s)
			r.send(toWriter, Writable, func(j *Job) { j.retain(h) })
			if synctest.Wait(); h.writer.unsent != nil {
				r.wantReader("still blocked", Blocked)
			}
		}
		r.wantReader("written", Hangup)
		if got.String() != want || h.Reason() != "last" {
			t.Errorf("%d octets arrived, reason %q", got.Len(), h.Reason())
		}
	})
}

// The session ends when the peer has closed the connection.
func TestWriterGone(t *testing.T) {
	writing(t, func(r *rig, h *handle, peer int) {
		if err := unix.Shutdown(peer, unix.SHUT_RDWR); err != nil {
			t.Fatal(err)
		}
		r.say(h, "x", false)
		r.say(h, "y", false)
		r.wantReader("gone", Hangup)
		if want := "cannot write: broken pipe"; h.Reason() != want {
			t.Errorf("reason %q, want %q", h.Reason(), want)
		}
	})
}

// All PDUs of a batch for one session become one write, in order. Each reference is kept,
// and no PDU follows the last one.
func TestPDUBuilderGathers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, site{}, toPDUBuilder)
		defer r.close()
		var sessions []*handle
		for range 3 {
			sessions = append(sessions, r.handle("clients", -1))
		}
		r.in(toBuilder, func(out *flow.Out[Job]) {
			for n := range 12 {
				h := sessions[n%3]
				j := out.Get()
				j.Kind, j.Last = Send, n == 4
				j.pdu(h.Connector).(*toy.PDU).Octets = fmt.Appendf(nil, "%d,", n)
				j.retain(h)
				out.To(toPDUBuilder, j)
			}
		})
		synctest.Wait()
		got := r.take(toWriter)
		want := []sight{{Wire: "0,3,6,9,", refs: 4}, {Wire: "1,4,", Last: true, refs: 4}, {Wire: "2,5,8,11,", refs: 4}}
		if len(got) != len(want) {
			t.Fatalf("%d writes, want %d", len(got), len(want))
		}
		for i, s := range got {
			if w := want[i]; s.Wire != w.Wire || s.Last != w.Last || s.refs != w.refs {
				t.Errorf("%+v, want %+v", s, w)
			}
			if h := sessions[i]; h.refs.Load() != 1 || h.gathering != nil {
				t.Errorf("session %d: %d references, gathers %v", i, h.refs.Load(), h.gathering)
			}
		}
	})
}

// Without the lease of the cluster no octet is written any more, neither new ones nor those that wait: sessions end instead.
func TestWriterDeposed(t *testing.T) {
	writing(t, func(r *rig, h *handle, peer int) {
		holds := true
		r.real[toWriter].(*writer).Holds = func() bool { return holds }
		r.say(h, strings.Repeat("x", 1<<20), false)
		if n := len(read1(peer)); n == 0 || len(h.writer.unsent) == 0 {
			t.Fatalf("%d octets have arrived, and %d wait", n, len(h.writer.unsent))
		}
		for read1(peer) != "" {
		}
		r.take(toReader)
		holds = false
		r.writable(h)
		r.say(h, "more", false)
		if got := read1(peer); got != "" {
			t.Errorf("%d octets arrive from a node that does not own the work", len(got))
		}
		if !h.writer.cutOff {
			t.Error("the session goes on")
		}
	})
}
