package receipts

import (
	"errors"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/rs/zerolog"

	"pmg/connector"
	"pmg/internal/testkit/testutil"
	"pmg/sms"
	"pmg/store"
)

// A failing is a store that cannot read notes of a kind.
type failing struct {
	store.Store
	kind store.Kind
}

var errFailing = errors.New("it fails")

func (s *failing) Lookup(kind store.Kind, key []byte) ([]byte, bool, error) {
	if kind == s.kind {
		return nil, false, errFailing
	}
	return s.Store.Lookup(kind, key)
}

func (s *failing) Notes(kind store.Kind, from []byte, most int, f func(key, value []byte) error) error {
	if kind == s.kind {
		return errFailing
	}
	return s.Store.Notes(kind, from, most, f)
}

// What cannot be read fails: it does not count as something that is not there.
func TestStoreFails(t *testing.T) {
	t.Parallel()
	for kind, f := range map[store.Kind]func(p *rig) error{
		store.IDsOf("operator"): func(p *rig) error {
			is, err := p.IsOfOurs(p.operator(), p.receipt("46700000001", sms.Report{ID: []byte("msg-1")}))
			if is || !errors.Is(err, errFailing) {
				t.Errorf("a text is a receipt: %v, %v", is, err)
			}
			_, err = p.LookUp(p.operator(), p.receipt("46700000001", sms.Report{ID: []byte("msg-1")}), &Match{})
			return err
		},
		store.KindForm:  func(p *rig) error { return p.SMSCs.Load() },
		store.KindWait:  func(p *rig) error { return p.waits.tell() },
		store.KindEnded: func(p *rig) error { _, _, _, err := p.FateOf(5000); return err },
		store.KindPart: func(p *rig) error {
			p.Matcher.keep.LastStored = 6000
			_, f := partOf(p, 0, 2, sms.StateDelivered, "")
			p.Matcher.keep.Batches.Write(func(b *store.Batch) { p.RecordMapping(b, p.operator(), &f.Mapping, []byte("msg-1"), p.now, false) })
			id := p.makeOrphan("msg-1", sms.StateDelivered)
			p.Orphans.end()
			if p.Matcher.keep.Aside(store.Orphan) != 1 || !p.Orphans.has(id) {
				t.Error("a receipt that cannot be looked at is gone")
			}
			return p.Orphans.Adopt(p.receipt("46700000001", sms.Report{ID: []byte("msg-1"), State: sms.StateDelivered}), 0)
		},
	} {
		p, s := newRig(t), &failing{Store: store.NewMemory()}
		if err := p.keep(s); err != nil {
			t.Fatal(err)
		}
		s.kind = kind
		if err := f(p); !errors.Is(err, errFailing) {
			t.Errorf("%s: %v", kind, err)
		}
		s.kind = ""
		if err := p.close(); err != nil {
			t.Error(err)
		}
	}
}

// A full is a store that takes no batch.
type full struct{ store.Store }

func (full) Commit(*store.Batch) error { return errFailing }

// While what was noted last cannot be stored, queries have no answer: it may be what they ask for.
func TestQueriesOfFullStore(t *testing.T) {
	t.Parallel()
	p := keepAgain(t, vfs.NewMem())
	for name, query := range map[string]func() error{
		"of a message": func() error { _, _, _, err := p.FateOf(5000); return err },
		"the list": func() error {
			_, err := List(p.Matcher.keep, 0, p.now, 10, func(*Known) error { return nil })
			return err
		},
		"without a receipt": func() error { _, err := Unreported(p.Matcher.keep, "operator", "", nil, 10); return err },
	} {
		if err := query(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := p.close(); err != nil {
		t.Error(err)
	}
	p = newRig(t)
	if err := p.keep(full{store.NewMemory()}); err != nil {
		t.Fatal(err)
	}
	p.Matcher.keep.Batches.Write(func(b *store.Batch) { b.Note(store.KindEnded, []byte("key"), nil, 1) })
	if _, _, ok, err := p.FateOf(5000); ok || !errors.Is(err, errFailing) {
		t.Errorf("%v, %v", ok, err)
	}
	_ = p.close()
}

// A long message whose other outcomes cannot be read has no receipt, and the log says why.
func TestOutcomesCannotBeRead(t *testing.T) {
	t.Parallel()
	p, s := newRig(t), &failing{Store: store.NewMemory(), kind: store.KindPart}
	var log testutil.Log
	p.Matcher.node.Log = zerolog.New(&log)
	p.Matcher.keep.Open(s, func(store.Position, error) {})
	p.Matcher.keep.LastStored = 6000
	p.Matcher.keep.Outgoing.Begin(func(_ *connector.Lane, f func(int64)) bool { f(p.now); return true })
	p.losesPart()
	if err := p.Matcher.keep.Batches.Sync(); err != nil {
		t.Fatal(err)
	}
	testutil.Eventually(t, "the log says so", func() bool { return strings.Contains(log.String(), "cannot read what was told of a long message") })
	if err := p.close(); err != nil {
		t.Error(err)
	}
}
