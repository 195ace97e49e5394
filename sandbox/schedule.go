package sandbox

import (
	"sync"

	"github.com/tidwall/btree"

	"pmg/protocols/testsms"
	"pmg/sms"
)

// A delivery is a message that the SMSC will deliver: the receipt of a message, or a mobile's reply.
type delivery struct {
	due    int64 // time by the engine's clock
	id     uint64
	ending *testsms.Ending
	again  bool // the receipt comes a second time

	reply    string      // text of a mobile's reply; empty: the delivery is a receipt
	from, to sms.Address // addresses of a reply
}

// key identifies a delivery of a message.
type key struct {
	id    uint64
	reply bool
	again bool
}

func (d *delivery) key() key { return key{d.id, d.reply != "", d.again} }

// mostScheduled is the maximum number of deliveries: above it, the SMSC refuses messages as queue_full.
const mostScheduled = 100_000

// A schedule contains the deliveries to come, by time. It is safe for concurrent use.
type schedule struct {
	changed chan struct{}

	mu     sync.Mutex
	byTime *btree.BTreeG[*delivery]
	known  map[key]struct{} // keys of the deliveries in byTime, and of those that are being delivered
	// Deliveries made while those of earlier runs are still being read from the store, and might be added again: their keys
	// stay in known until then. nil: all are read.
	brought []key
}

func newSchedule() *schedule {
	earlier := func(a, b *delivery) bool {
		if a.due != b.due {
			return a.due < b.due
		}
		if a.id != b.id {
			return a.id < b.id
		}
		if a.again != b.again {
			return b.again
		}
		return a.reply == "" && b.reply != ""
	}
	return &schedule{
		changed: make(chan struct{}, 1), byTime: btree.NewBTreeGOptions(earlier, btree.Options{NoLocks: true}),
		known: map[key]struct{}{}, brought: []key{},
	}
}

// hasRoom reports whether the deliveries of another message may be added.
func (s *schedule) hasRoom() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.known) < mostScheduled
}

// add adds a delivery, unless it is known already.
func (s *schedule) add(d *delivery) {
	s.mu.Lock()
	_, known := s.known[d.key()]
	if !known {
		s.known[d.key()] = struct{}{}
		s.byTime.Set(d)
	}
	s.mu.Unlock()
	s.tell()
}

// again adds a delivery that take has returned, with another time.
func (s *schedule) again(d *delivery) {
	s.mu.Lock()
	s.byTime.Set(d)
	s.mu.Unlock()
	s.tell()
}

func (s *schedule) tell() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// take removes and returns the next delivery if it is due, or returns when the next one will be; 0: there is no delivery.
func (s *schedule) take(now int64) (d *delivery, next int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	first, ok := s.byTime.Min()
	switch {
	case !ok:
		return nil, 0
	case first.due > now:
		return nil, first.due
	}
	s.byTime.PopMin()
	return first, 0
}

// done removes a delivery that was made.
func (s *schedule) done(d *delivery) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.brought != nil {
		s.brought = append(s.brought, d.key())
		return
	}
	delete(s.known, d.key())
}

// resumed is called when the deliveries of earlier runs have been added.
func (s *schedule) resumed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range s.brought {
		delete(s.known, k)
	}
	s.brought = nil
}
