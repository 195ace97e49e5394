package receipts

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/rs/zerolog"

	"pmg/internal/testkit/testutil"
	"pmg/sms"
	"pmg/store"
)

// waiting records that a long message waits for its parts from now on.
func (p *rig) waiting(whole uint64) {
	p.t.Helper()
	_, f := partOf(p, 0, 2, sms.StateDelivered, "")
	f.Mapping.ID = whole
	p.waits.add(&f.Mapping)
	if err := p.Matcher.keep.Batches.Sync(); err != nil {
		p.t.Fatal(err)
	}
}

// gaveUp looks for messages that have waited for long enough, and returns those of which the clients got a receipt since
// the last look.
func (p *rig) gaveUp() (all []uint64) {
	p.t.Helper()
	before := len(p.made())
	if err := p.waits.tell(); err != nil {
		p.t.Fatal(err)
	}
	for _, own := range p.made()[before:] {
		r, _ := own.Message.Report()
		all = append(all, r.Known)
	}
	if err := p.Matcher.keep.Batches.Sync(); err != nil {
		p.t.Fatal(err)
	}
	return all
}

// Messages wait each for receipts.parts_wait, in their order, however many the store reads at a time.
func TestWaitsInOrder(t *testing.T) {
	t.Parallel()
	p := newRig(t)
	if err := p.keep(store.NewMemory()); err != nil {
		t.Fatal(err)
	}
	wait := int64(p.Matcher.node.Config().Receipts.PartsWait)
	const hour = int64(3600e9)
	p.Matcher.node.Clock.SetAhead(0)
	var first []uint64
	for i := range uint64(2*waitsAtATime + 5) {
		first = append(first, 5000+10*i)
		p.waiting(5000 + 10*i)
	}
	p.Matcher.node.Clock.SetAhead(hour)
	p.waiting(3000)
	for _, c := range []struct {
		ahead int64
		want  []uint64
	}{{wait - hour, nil}, {wait + hour/2, first}, {wait + hour/2, nil}, {wait + 2*hour, []uint64{3000}}, {wait + 3*hour, nil}} {
		p.Matcher.node.Clock.SetAhead(c.ahead)
		if got := p.gaveUp(); !slices.Equal(got, c.want) {
			t.Errorf("after %d h: receipts of %d messages, want %d", c.ahead/hour, len(got), len(c.want))
		}
	}
	p.Matcher.node.Clock.SetAhead(0) // the clock goes back: what begins to wait now is not passed over
	p.waiting(2000)
	p.Matcher.node.Clock.SetAhead(2*wait + 4*hour)
	if got := p.gaveUp(); !slices.Equal(got, []uint64{2000}) {
		t.Errorf("after the clock went back: receipts of %d", got)
	}
	if err := p.close(); err != nil {
		t.Error(err)
	}
}

// A message whose client is gone has no receipt when it has waited for long enough, and holds up no other.
func TestWaitsOfGoneClient(t *testing.T) {
	t.Parallel()
	p := newRig(t)
	if err := p.keep(store.NewMemory()); err != nil {
		t.Fatal(err)
	}
	_, f := partOf(p, 0, 2, sms.StateDelivered, "")
	f.Mapping.ID, f.Mapping.Account = 4000, []byte("gone")
	p.waits.add(&f.Mapping)
	p.waiting(5000)
	p.Matcher.node.Clock.SetAhead(2 * int64(p.Matcher.node.Config().Receipts.PartsWait))
	if got := p.gaveUp(); !slices.Equal(got, []uint64{5000}) {
		t.Errorf("receipts of %d", got)
	}
	if err := p.close(); err != nil {
		t.Error(err)
	}
}

// A message whose client knows the end waits for nothing, whatever comes of its other parts.
func TestEndWaitsForNothing(t *testing.T) {
	t.Parallel()
	p := newRig(t)
	s := &counted{Store: store.NewMemory()}
	if err := p.keep(s); err != nil {
		t.Fatal(err)
	}
	steps(t, p, step{1, sms.StateRejected, "", passOn, sms.StateRejected}, step{0, sms.StateDelivered, "", Recorded, 0})
	p.Matcher.node.Clock.SetAhead(2 * int64(p.Matcher.node.Config().Receipts.PartsWait))
	if got := p.gaveUp(); len(got) != 0 || s.read != 0 {
		t.Errorf("receipts of %d, %d wait", got, s.read)
	}
	if err := p.close(); err != nil {
		t.Error(err)
	}
}

// A counted is a store that counts the notes of messages that wait which are read.
type counted struct {
	store.Store
	read int
}

func (s *counted) Notes(kind store.Kind, from []byte, most int, f func(key, value []byte) error) error {
	return s.Store.Notes(kind, from, most, func(key, value []byte) error {
		if kind == store.KindWait && len(key) == 16 {
			s.read++
		}
		return f(key, value)
	})
}

// The messages that have waited for long enough are not read again, in this run or the next.
func TestWaitsAreReadOnce(t *testing.T) {
	t.Parallel()
	fs := vfs.NewMem()
	for _, want := range []int{1, 0} {
		p := newRig(t)
		disk, err := store.Open("data", store.Options{FS: fs})
		if err != nil {
			t.Fatal(err)
		}
		s := &counted{Store: disk}
		if err := p.keep(s); err != nil {
			t.Fatal(err)
		}
		if want > 0 {
			p.waiting(5000)
		}
		p.Matcher.node.Clock.SetAhead(2 * int64(p.Matcher.node.Config().Receipts.PartsWait))
		p.gaveUp()
		p.gaveUp()
		if s.read != want {
			t.Errorf("%d were read, want %d", s.read, want)
		}
		if err := p.close(); err != nil {
			t.Error(err)
		}
	}
}

// A message whose outcomes cannot be read waits on, and the log says why: its client gets the receipt when they can.
func TestWaitsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	p, s := newRig(t), &failing{Store: store.NewMemory()}
	var log testutil.Log
	p.Matcher.node.Log = zerolog.New(&log)
	if err := p.keep(s); err != nil {
		t.Fatal(err)
	}
	p.waiting(5000)
	p.Matcher.node.Clock.SetAhead(2 * int64(p.Matcher.node.Config().Receipts.PartsWait))
	s.kind = store.KindPart
	p.LookAfter(p.now)
	p.EndWaits()
	if n := len(p.made()); n != 0 || !strings.Contains(log.String(), errFailing.Error()) {
		t.Errorf("%d receipts are made; the log has %s", n, log.String())
	}
	s.kind = ""
	p.LookAfter(p.now + waitsEvery - 1) // too early for the next look
	if p.EndWaits(); len(p.made()) != 0 {
		t.Error("it is looked again before a minute is over")
	}
	p.LookAfter(p.now + waitsEvery)
	if p.EndWaits(); len(p.made()) != 1 {
		t.Errorf("%d receipts are made", len(p.made()))
	}
	key := binary.BigEndian.AppendUint64(nil, uint64(p.Matcher.node.Clock.Wall(p.now)))
	p.waits.write(p.now, binary.BigEndian.AppendUint64(key, 6000), []byte{1})
	if err := p.Matcher.keep.Batches.Sync(); err != nil {
		t.Fatal(err)
	}
	p.Matcher.node.Clock.SetAhead(4 * int64(p.Matcher.node.Config().Receipts.PartsWait))
	if err := p.waits.tell(); err == nil || !strings.Contains(err.Error(), "cannot read a mapping") {
		t.Errorf("a note that is cut: %v", err)
	}
	if err := p.close(); err != nil {
		t.Error(err)
	}
}
