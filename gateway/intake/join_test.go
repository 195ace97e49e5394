package intake

import (
	"fmt"
	"slices"
	"testing"

	"pmg/connector"
	"pmg/gateway/keep"
	"pmg/gateway/roomtest"
	"pmg/sms"
	"pmg/store"
)

// A joinRig is a desk whose lane to the operator wants whole messages. Nobody dispatches for it, so that what
// would go to the lane stays in outgoing.
type joinRig struct {
	*Desk
	t     *testing.T
	share *connector.Share
	id    uint64
}

func newJoinRig(t *testing.T) *joinRig {
	d := newDesk(t, roomtest.Operator("long_messages: join"))
	return &joinRig{Desk: d, t: t, share: shareOf(d, "client")}
}

// part gives the desk a part that holds a place, and reports whether it is kept.
func (r *joinRig) part(now int64, ref, total, number byte, text string, change ...func(*sms.Message)) bool {
	r.t.Helper()
	m := r.node.Messages.Get()
	r.id++
	m.ID, m.Origin, m.Flags = r.id, r.share.Origin, sms.HasHeader
	m.Set(sms.Address{Addr: []byte("1234")}, sms.Address{Addr: []byte("46700000001")}, append([]byte{5, 0, 3, ref, total, number}, text...))
	for _, f := range change {
		f(m)
	}
	roomtest.Occupy(r.share, 1)
	r.node.Memory.Add(m.Size())
	return r.Join(now, keep.Accepted{Message: m, Share: r.share})
}

// out returns what goes to the lane, and the counts must be those of that and of what waits.
func (r *joinRig) out(waiting int64) (texts []string) {
	r.t.Helper()
	given, _ := r.keep.Outgoing.Waiting()
	size := int64(0)
	for _, s := range given {
		if !s.Placed || s.Share != r.share {
			r.t.Errorf("%+v", s)
		}
		size += s.Message.Size()
		texts = append(texts, fmt.Sprintf("%d %q", s.Message.ID, s.Message.Text()))
	}
	if n := r.share.Queued(); n != int64(len(given))+waiting {
		r.t.Errorf("%d places are taken, want %d and %d", n, len(given), waiting)
	}
	if used := r.node.Memory.Used(); waiting == 0 && used != size {
		r.t.Errorf("%d octets are counted, want %d", used, size)
	}
	for _, s := range given {
		roomtest.Occupy(r.share, -1)
		r.node.Memory.Add(-s.Message.Size())
	}
	r.keep.Outgoing.LeaveStored()
	return texts
}

func (r *joinRig) wantOut(waiting int64, want ...string) {
	r.t.Helper()
	if got := r.out(waiting); fmt.Sprint(got) != fmt.Sprint(want) {
		r.t.Errorf("got %q, want %q", got, want)
	}
}

// Parts wait for each other until their time is over, and hold their places as long.
func TestJoin(t *testing.T) {
	t.Parallel()
	asks := func(m *sms.Message) { m.Notify = sms.NotifySuccess }
	r := newJoinRig(t)
	keep := func(kept bool) {
		t.Helper()
		if !kept {
			t.Error("not kept")
		}
	}
	// In disorder, with a double; the whole has the id of the part that asks.
	keep(r.part(now, 1, 3, 3, "c"))
	keep(r.part(now, 1, 3, 1, "a", asks))
	keep(r.part(now, 1, 3, 1, "a"))
	r.wantOut(2)
	keep(r.part(now, 1, 3, 2, "b"))
	r.wantOut(0, `2 "abc"`)
	// Two ask.
	keep(r.part(now, 1, 2, 1, "a", asks))
	keep(r.part(now, 1, 2, 2, "b", asks))
	if o, _ := r.keep.Outgoing.Waiting(); len(o) == 1 {
		s, _ := o[0].Message.Submitted()
		if want := []sms.Joined{{ID: 5, Notify: sms.NotifySuccess}, {ID: 6, Notify: sms.NotifySuccess}}; !slices.Equal(s.Joined, want) {
			t.Errorf("joined of %v, want %v", s.Joined, want)
		}
	}
	r.wantOut(0, `5 "ab"`)
	// A part is missing, then it comes too late.
	keep(r.part(now, 2, 2, 1, "a"))
	r.EndJoining(now + 29*second)
	r.wantOut(1)
	r.EndJoining(now + 30*second)
	r.wantOut(0, `7 "\x05\x00\x03\x02\x02\x01a"`)
	keep(r.part(now+30*second, 2, 2, 2, "b"))
	r.EndJoining(now + 60*second)
	r.wantOut(0, `8 "\x05\x00\x03\x02\x02\x02b"`)
	// Another text with the same reference, and other totals.
	keep(r.part(now+60*second, 3, 2, 1, "a"))
	keep(r.part(now+60*second, 3, 2, 1, "x"))
	r.wantOut(1, `9 "\x05\x00\x03\x03\x02\x01a"`)
	keep(r.part(now+60*second, 3, 3, 2, "b"))
	keep(r.part(now+60*second, 3, 2, 2, "y"))
	r.wantOut(1, `10 "xy"`)
	// The one that waits leaves when the gateway stops.
	r.node.Drain()
	if r.part(now+61*second, 3, 3, 1, "z") {
		t.Error("a part is kept while the gateway stops")
	}
	roomtest.Occupy(r.share, -1)
	r.node.Memory.Add(-(&sms.Message{}).Size())
	r.EndJoining(now + 61*second)
	r.wantOut(0, `11 "\x05\x00\x03\x03\x03\x02b"`)
}

// What has no other parts, or is not to be joined, is not kept.
func TestJoinLeaves(t *testing.T) {
	t.Parallel()
	r := newJoinRig(t)
	for name, change := range map[string]func(*sms.Message){
		"receipt":   func(m *sms.Message) { m.Kind = sms.Receipt },
		"own part":  func(m *sms.Message) { m.Parts = 2 },
		"copy":      func(m *sms.Message) { m.Offset = 1 },
		"scheduled": func(m *sms.Message) { m.Flags |= sms.Scheduled },
		"no header": func(m *sms.Message) { m.Flags = 0 },
	} {
		if r.part(now, 1, 2, 1, "a", change) {
			t.Errorf("%s: kept", name)
		}
	}
	if r.part(now, 1, 1, 1, "a") {
		t.Error("the only part is kept")
	}
}

// A whole message expires when the first of its parts does.
func TestJoinedExpires(t *testing.T) {
	t.Parallel()
	r := newJoinRig(t)
	for i, at := range []int64{0, 500, 400} {
		r.part(now, 1, 3, byte(i+1), "x", func(m *sms.Message) { m.Expires = at })
	}
	if o, _ := r.keep.Outgoing.Waiting(); len(o) != 1 || o[0].Message.Expires != 400 {
		t.Errorf("%+v", o)
	}
}

// A part that comes after the time of an earlier one with its reference does not join that, although
// nothing has looked at the time between: it may be of another text.
func TestJoinTooLate(t *testing.T) {
	t.Parallel()
	r := newJoinRig(t)
	r.part(now, 1, 2, 1, "a")
	if !r.part(now+31*second, 1, 2, 2, "b") {
		t.Error("the late part is not kept")
	}
	r.wantOut(1, `1 "\x05\x00\x03\x01\x02\x01a"`)
}

// Parts that do not fit together leave as they came.
func TestJoinUnlike(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*sms.Message){
		"protocol identifier": func(m *sms.Message) { m.PID = 0x41 },
		"class":               func(m *sms.Message) { m.Class = sms.Class0 },
		"alphabet":            func(m *sms.Message) { m.Alphabet = sms.Binary },
	} {
		r := newJoinRig(t)
		r.part(now, 1, 2, 1, "a")
		r.part(now, 1, 2, 2, "b", change)
		if got := r.out(0); fmt.Sprint(got) != `[1 "\x05\x00\x03\x01\x02\x01a" 2 "\x05\x00\x03\x01\x02\x02b"]` {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// A message that was joined leaves when the commit that stores it has ended, because a power cut
// would bring its parts back.
func TestJoinedWaitsForItsCommit(t *testing.T) {
	t.Parallel()
	r := newJoinRig(t)
	d := roomtest.NewDisk()
	r.keep.Open(d, func(store.Position, error) {})
	r.part(now, 1, 2, 1, "a")
	r.part(now, 1, 2, 2, "b")
	<-d.Begun
	asked := make(chan bool, 1)
	r.keep.Outgoing.Begin(func(*connector.Lane, func(now int64)) bool { asked <- true; return true })
	if n := len(asked); n != 0 {
		t.Error("it leaves before it is stored")
	}
	d.Permits <- nil
	<-asked
	r.keep.Outgoing.End()
	close(d.Permits)
	if err := r.keep.Close(); err != nil {
		t.Error(err)
	}
}
