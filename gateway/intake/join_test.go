package intake

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pmg/connector"
	"pmg/gateway/keep"
	"pmg/gateway/roomtest"
	"pmg/protocols"
	"pmg/protocols/smpp"
	"pmg/sms"
	"pmg/sms/userdata"
	"pmg/store"
)

// A joinRig is a Checker whose lane to the operator wants whole messages. Nobody dispatches for it, so that what
// would go to the lane stays in outgoing.
type joinRig struct {
	*Checker
	t     *testing.T
	share *connector.Share
	id    uint64
	seen  int // messages that out has returned
}

func newJoinRig(t *testing.T) *joinRig {
	d := newDesk(t, roomtest.Operator("long_messages: join"))
	return &joinRig{Checker: d, t: t, share: shareOf(d, "client")}
}

// part gives a Checker a part that holds a place, and reports whether it is kept.
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
	return r.Joiner.Join(now, keep.Accepted{Message: m, Share: r.share})
}

// out returns what goes to the lane, and the counts must be those of that and of what waits.
func (r *joinRig) out(waiting int64) (texts []string) {
	r.t.Helper()
	given, _ := r.keep.Outgoing.Waiting()
	given = given[r.seen:]
	r.seen += len(given)
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
	r.Joiner.End(now + 29*second)
	r.wantOut(1)
	r.Joiner.End(now + 30*second)
	r.wantOut(0, `7 "\x05\x00\x03\x02\x02\x01a"`)
	keep(r.part(now+30*second, 2, 2, 2, "b"))
	r.Joiner.End(now + 60*second)
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
	r.Joiner.End(now + 61*second)
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
	if n := <-d.Begun; n != 2 {
		t.Errorf("%d changes are stored: want the whole in the place of a part, and the other part deleted", n)
	}
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

// A double that asks for a receipt leaves as it came, because its client waits for that.
func TestDoubleThatAsks(t *testing.T) {
	t.Parallel()
	r := newJoinRig(t)
	r.part(now, 1, 2, 1, "a")
	if r.part(now, 1, 2, 1, "a", func(m *sms.Message) { m.Notify = sms.NotifySuccess }) {
		t.Error("it is kept")
	}
}

// The whole asks for all that its parts ask for, and its receipts have the addresses that the client wrote.
func TestJoinedAsksForAll(t *testing.T) {
	t.Parallel()
	for _, rewritten := range []bool{false, true} {
		r := newJoinRig(t)
		for i, n := range []sms.Notify{sms.NotifySuccess, 0, sms.NotifyFailure} {
			r.part(now, 1, 3, byte(i+1), "x", func(m *sms.Message) {
				if m.Notify = n; rewritten {
					m.SetSubmitted(&sms.Submitted{Source: sms.Address{Addr: []byte("PMG")}, Dest: sms.Address{Addr: []byte("0046")}})
				}
			})
		}
		o, _ := r.keep.Outgoing.Waiting()
		if len(o) != 1 {
			t.Fatalf("%d messages", len(o))
		}
		m := o[0].Message
		s, _ := m.Submitted()
		from, to := "1234", "46700000001"
		if rewritten {
			from, to = "PMG", "0046"
		}
		if m.Notify != sms.NotifySuccess|sms.NotifyFailure || string(s.Source.Addr) != from || string(s.Dest.Addr) != to {
			t.Errorf("it asks for %b, of a message from %s to %s", m.Notify, s.Source.Addr, s.Dest.Addr)
		}
		if want := []sms.Joined{{ID: 1, Notify: sms.NotifySuccess}, {ID: 3, Notify: sms.NotifyFailure}}; !slices.Equal(s.Joined, want) {
			t.Errorf("joined of %v, want %v", s.Joined, want)
		}
	}
}

// Parts of two clients are two texts, although all that they say is alike.
func TestJoinKeepsClientsApart(t *testing.T) {
	t.Parallel()
	r := newJoinRig(t)
	r.part(now, 1, 2, 1, "a")
	r.share = shareOf(r.Checker, "other")
	r.part(now, 1, 2, 2, "b")
	if o, _ := r.keep.Outgoing.Waiting(); len(o) != 0 {
		t.Errorf("joined are %q", o[0].Message.Text())
	}
}

// Parts by a field of their protocol become a whole message that says no part.
func TestJoinBySAR(t *testing.T) {
	t.Parallel()
	driver := func(string) protocols.Driver { return smpp.New(smpp.Options{}) }
	d := deskOn(roomtest.With(t, roomtest.Operator("long_messages: join"), driver))
	r := &joinRig{Checker: d, t: t, share: shareOf(d, "client")}
	for number := range uint8(2) {
		r.part(now, 1, 2, number+1, "", func(m *sms.Message) {
			m.Flags = 0
			m.SetText([]byte{'a' + number})
			d.table.PartsOf(protocols.SMPP).SetPart(m, userdata.Part{Reference: 7, Number: number + 1, Total: 2})
		})
	}
	if o, _ := r.keep.Outgoing.Waiting(); len(o) == 1 {
		if p, _, is := d.table.PartOf(o[0].Message); is {
			t.Errorf("the whole says that it is part %+v", p)
		}
	}
	r.wantOut(0, `1 "ab"`)
}

// Each part has one event, which says that it was joined; the whole has its own when it ends.
func TestJoinedEvents(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d, settler := deskAndSettler(roomtest.New(t, roomtest.Operator("long_messages: join")+fmt.Sprintf("events: {dir: %q}\n", dir)))
	if err := settler.OpenEvents(); err != nil {
		t.Fatal(err)
	}
	r := &joinRig{Checker: d, t: t, share: shareOf(d, "client")}
	r.part(now, 1, 2, 2, "b")
	r.part(now, 1, 2, 2, "b")
	r.part(now, 1, 2, 1, "a", func(m *sms.Message) { m.Notify = sms.NotifySuccess })
	if err := d.keep.Batches.Sync(); err != nil {
		t.Fatal(err)
	}
	if err := settler.CloseEvents(); err != nil {
		t.Fatal(err)
	}
	var lines []string
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, strings.Split(strings.TrimSpace(string(b)), "\n")...)
	}
	joined := 0
	for _, line := range lines {
		if strings.Contains(line, "joined") {
			joined++
		}
		if strings.Contains(line, sms.FormatID(3)) {
			t.Errorf("the whole, which has not ended, has an event: %s", line)
		}
	}
	if len(lines) != 2 || joined != 2 {
		t.Errorf("the events are %q", lines)
	}
}
