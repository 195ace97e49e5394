package inbox

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/config"
	"pmg/connector"
	"pmg/gateway/roomtest"
	"pmg/sms"
	"pmg/store"
)

// A rig is inboxes over a store on a disk that stays when the store is opened anew.
type rig struct {
	*roomtest.Ground
	*Inbox
	t    *testing.T
	fs   *vfs.MemFS
	cfg  *config.Config
	lane *connector.Lane
	wall time.Time
	next uint64
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t, fs: vfs.NewMem(), wall: time.Unix(1_800_000_000, 0)}
	r.Ground = roomtest.New(t, `
pdulog: {enabled: false}
accounts: [{system_id: shop, password: secret, inbox: 240h}, {system_id: rival, password: secret, inbox: 240h}, {system_id: bare, password: secret}]
connectors: [{name: clients, direction: in, address: "127.0.0.1:0"}]
routes: []
`)
	r.cfg = r.Node.Config()
	r.Node.Clock.WallClock = func() time.Time { return r.wall }
	r.lane = r.Table.AccountLane(r.cfg, "shop")
	r.open()
	t.Cleanup(func() {
		if err := r.Keeper.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// open opens the store, as a start does.
func (r *rig) open() {
	r.t.Helper()
	s, err := store.Open("store", store.Options{FS: r.fs})
	if err != nil {
		r.t.Fatal(err)
	}
	r.Keeper.Open(s, func(store.Position, error) {})
	r.Inbox = New(r.Node, r.Keeper, r.Table)
	if err := r.Load(); err != nil {
		r.t.Fatal(err)
	}
}

// restart closes the store, and opens it.
func (r *rig) restart() {
	r.t.Helper()
	if err := r.Keeper.Close(); err != nil {
		r.t.Fatal(err)
	}
	r.Keeper.Batches = nil
	r.open()
}

// get gets a message in a lane, with a header in front of the text.
func (r *rig) get(lane *connector.Lane, from, header, text string) uint64 {
	r.t.Helper()
	m := r.Node.Messages.Get()
	defer m.Release()
	r.next++
	m.ID, m.Kind, m.Arrived = r.next, sms.MO, r.wall.UnixNano()-r.Node.Clock.Ahead()
	m.Origin = r.Node.Origins.Of("", "operator")
	if header != "" {
		m.Flags |= sms.HasHeader
	}
	m.Set(sms.Address{TON: 1, NPI: 1, Addr: []byte(from)}, sms.Address{Addr: []byte("1234")}, []byte(header+text))
	r.Keeper.Batches.Write(func(b *store.Batch) { r.Add(b, m, lane) })
	if err := r.Keeper.Batches.Sync(); err != nil {
		r.t.Fatal(err)
	}
	return m.ID
}

// part is the header of a part of a long message.
func part(reference, total, number byte) string {
	return string([]byte{5, 0, 3, reference, total, number})
}

// wants checks the texts of an account, the latest first.
func (r *rig) wants(account string, texts ...string) []Message {
	r.t.Helper()
	all, err := r.List(account)
	var got []string
	for _, m := range all {
		got = append(got, m.Text)
	}
	if err != nil || fmt.Sprintf("%q", got) != fmt.Sprintf("%q", texts) {
		r.t.Errorf("%s has %q, %v, not %q", account, got, err, texts)
	}
	return all
}

// An account with an inbox finds its texts, the latest first, also after a restart; others find none of them, and what comes a second
// time is there once.
func TestInbox(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.get(r.lane, "46700000001", "", "first")
	r.wall = r.wall.Add(time.Second)
	id := r.get(r.lane, "46700000002", "", "second")
	r.next--
	r.get(r.lane, "46700000002", "", "second")
	r.get(r.Table.AccountLane(r.cfg, "bare"), "46700000003", "", "kept nowhere")
	for range 2 {
		all := r.wants("shop", "second", "first")
		if m := all[0]; m.ID != id || m.From != "+46700000002" || m.To != "1234" || !m.Person || m.Answer != 0 || !m.At.Equal(r.wall) {
			t.Errorf("%+v", m)
		}
		r.wants("rival")
		r.wants("bare")
		r.restart()
	}
	if from, to, ok, err := r.Find("shop", id); from != "+46700000002" || to != "1234" || !ok || err != nil {
		t.Errorf("%q, %q, %t, %v", from, to, ok, err)
	}
	for _, account := range []string{"rival", "bare", "nobody"} {
		if _, _, ok, err := r.Find(account, id); ok || err != nil {
			t.Errorf("%s finds it: %v", account, err)
		}
		if err := r.Answered(account, id, 99); err != nil {
			t.Error(err)
		}
	}
	r.wants("shop", "second", "first")
	if err := errors.Join(r.Answered("shop", id, 0xE500000000000001), r.Answered("shop", 12345, 9), r.Keeper.Batches.Sync()); err != nil {
		t.Error(err)
	}
	if all := r.wants("shop", "second", "first"); all[0].Answer != 0xE500000000000001 || all[1].Answer != 0 {
		t.Errorf("%+v", all)
	}
}

// The parts of a long message are one text, in whatever order they come and as often; a part that is missing is said, and the same
// reference later is another message.
func TestParts(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	const ann, bob = "46700000001", "46700000002"
	first := r.get(r.lane, ann, part(7, 2, 2), " world")
	r.wall = r.wall.Add(time.Second)
	r.get(r.lane, bob, part(7, 3, 1), "one ")
	r.get(r.lane, ann, part(7, 2, 1), "hello")
	r.get(r.lane, ann, part(7, 2, 1), "hello")
	r.wall = r.wall.Add(time.Second)
	r.get(r.lane, bob, part(7, 3, 3), " three")
	all := r.wants("shop", "one […] three", "hello world")
	if all[0].Missing != 1 || all[1].Missing != 0 || all[1].ID != first {
		t.Errorf("%+v", all)
	}
	r.wall = r.wall.Add(time.Second)
	r.get(r.lane, ann, part(7, 2, 1), "other")
	r.wants("shop", "other[…]", "one […] three", "hello world")
	r.wall = r.wall.Add(48 * time.Hour)
	r.get(r.lane, ann, part(7, 2, 2), "late")
	r.wants("shop", "[…]late", "other[…]", "one […] three", "hello world")
	r.get(r.lane, bob, part(9, 255, 100), "middle")
	r.wants("shop", "[…]middle[…]", "[…]late", "other[…]", "one […] three", "hello world")
	r.get(r.lane, ann, part(8, 2, 9), "of a wrong number")
	r.wants("shop", "of a wrong number", "[…]middle[…]", "[…]late", "other[…]", "one […] three", "hello world")
}

// A text is gone from the page as soon as it is too old, by the shorter of the times when it came and now. It leaves the store when
// two checks have found it old, an hour apart: a clock that is wrong for a moment removes nothing. Other accounts keep theirs.
func TestAge(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	old := r.get(r.lane, "46700000001", "", "old")
	if err := r.Answered("shop", old, 7); err != nil {
		t.Error(err)
	}
	stored := func() (n int) {
		t.Helper()
		err := errors.Join(r.Keeper.Batches.Sync(), r.Keeper.Index.Notes(store.KindInbox, nil, 100, func(_, _ []byte) error { n++; return nil }))
		if err != nil {
			t.Error(err)
		}
		return n
	}
	engine := r.wall.UnixNano()
	check := func(wall time.Time) {
		t.Helper()
		engine += checkEvery
		r.wall = wall
		r.Node.Clock.See(engine)
		r.LookAfter(engine)
	}
	before := r.wall
	check(before)
	check(before.Add(100 * 24 * time.Hour)) // for a moment
	r.wants("shop")
	check(before.Add(9 * 24 * time.Hour))
	if stored() != 2 {
		t.Errorf("%d notes: a wrong clock has removed some", stored())
	}
	r.get(r.lane, "46700000001", "", "young")
	r.wants("shop", "young", "old")
	check(before.Add(10*24*time.Hour + time.Minute))
	r.wants("shop", "young")
	if stored() != 3 {
		t.Errorf("%d notes: one check has removed some", stored())
	}
	check(before.Add(10*24*time.Hour + time.Hour))
	if stored() != 1 {
		t.Errorf("%d notes, not the young one's alone", stored())
	}
	r.wants("shop", "young")
}

// An account that has too many texts loses the oldest ones.
func TestMost(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.get(r.lane, "46700000001", "", "first")
	r.wall = r.wall.Add(time.Second)
	large := strings.Repeat("a", mostOctets/4)
	for range 3 {
		r.get(r.lane, "46700000001", "", large)
	}
	r.wants("shop", large, large, large, "first")
	r.get(r.lane, "46700000001", "", large)
	r.wants("shop", large, large, large)
	r.restart()
	r.get(r.lane, "46700000001", "", "last")
	r.wants("shop", "last", large, large, large)
	b := box{ids: map[uint64]struct{}{}}
	var none store.Batch
	for id := range uint64(Most + 1) {
		b.add(entry{id: id})
	}
	if b.drop(&none, "shop"); len(b.entries) != Most || len(b.ids) != Most || b.entries[0].id != 1 {
		t.Errorf("%d, from %d", len(b.entries), b.entries[0].id)
	}
}

// A message whose commit has failed was refused, and is in no inbox.
func TestRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.get(r.lane, "46700000001", "", "refused")
	r.Keeper.Batches.Write(func(b *store.Batch) { b.Note(store.KindInbox, store.ReceivedKey("shop", id), nil, store.Forever) }) // as addUndone does
	r.restart()
	r.wants("shop")
	if _, _, ok, err := r.Find("shop", id); ok || err != nil {
		t.Errorf("%t, %v", ok, err)
	}
}

// Octets that are no text are shown as digits, and names of senders as they are.
func TestBinary(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	m := r.Node.Messages.Get()
	defer m.Release()
	m.Kind, m.Alphabet, m.Arrived = sms.MO, sms.Binary, r.wall.UnixNano()
	m.Set(sms.Address{TON: 5, Addr: []byte("ACME")}, sms.Address{Addr: []byte("46700000009")}, []byte{0, 0xFF})
	v := r.received(r.Table.Account("shop"), m, r.lane.Home().Config())
	if string(v.Text) != "00ff" || !v.Binary || textOf(v.From) != "ACME" || textOf(v.To) != "+46700000009" {
		t.Errorf("%+v", v)
	}
}
