package receipts

import (
	"errors"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"pmg/connector"
	"pmg/internal/testutil"
	"pmg/sms"
	"pmg/store"
)

// A failing is a store that cannot be read under some name.
type failing struct {
	store.Store
	name string
}

var errFailing = errors.New("it fails")

func (s *failing) Lookup(name string, key []byte) ([]byte, bool, error) {
	if name == s.name {
		return nil, false, errFailing
	}
	return s.Store.Lookup(name, key)
}

func (s *failing) Mapped(name string, from []byte, most int, f func(key, value []byte) error) error {
	if name == s.name {
		return errFailing
	}
	return s.Store.Mapped(name, from, most, f)
}

// What cannot be read fails: it does not count as something that is not there.
func TestStoreFails(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]func(p *rig) error{
		"operator": func(p *rig) error {
			_, err := p.LookUp(p.operator(), p.receipt("46700000001", sms.Report{ID: []byte("msg-1")}), &Match{})
			return err
		},
		formsName: func(p *rig) error { return p.LoadForms() },
		waitsName: func(p *rig) error { return p.waits.tell() },
		endedName: func(p *rig) error { _, _, _, err := p.FateOf(5000); return err },
		partsName: func(p *rig) error {
			p.Matcher.keep.LastStored = 6000
			_, f := partOf(p, 0, 2, sms.StateDelivered, "")
			p.Matcher.keep.Journal.Write(func(b *store.Batch) { p.NoteMapping(b, p.operator(), &f.Mapping, []byte("msg-1"), p.now) })
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
		s.name = name
		if err := f(p); !errors.Is(err, errFailing) {
			t.Errorf("%s: %v", name, err)
		}
		s.name = ""
		if err := p.close(); err != nil {
			t.Error(err)
		}
	}
}

// A long message whose other outcomes cannot be read has no receipt, and the log says why.
func TestOutcomesCannotBeRead(t *testing.T) {
	t.Parallel()
	p, s := newRig(t), &failing{Store: store.NewMemory(), name: partsName}
	var log testutil.Log
	p.Matcher.node.Log = zerolog.New(&log)
	p.Matcher.keep.Open(s, func(store.Position, error) {})
	p.Matcher.keep.LastStored = 6000
	p.Matcher.keep.Outgoing.Begin(func(_ *connector.Lane, f func(int64)) bool { f(p.now); return true })
	p.losesPart()
	if err := p.Matcher.keep.Journal.Sync(); err != nil {
		t.Fatal(err)
	}
	testutil.Eventually(t, "the log says so", func() bool { return strings.Contains(log.String(), "cannot read what was told of a long message") })
	if err := p.close(); err != nil {
		t.Error(err)
	}
}
