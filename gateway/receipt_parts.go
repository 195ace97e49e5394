package gateway

import (
	"fmt"
	"slices"
	"sync"

	"pmg/sms"
	"pmg/store"
)

// joints make one receipt of those of the parts of a long message. Each part's outcome is
// in the store as well, under a name that is no operator's. It is safe for concurrent use.
type joints struct {
	mu      sync.Mutex
	by      map[uint64]*joint // by what the ids of the parts have in common
	order   []uint64          // of by, the oldest first
	evicted uint64            // the highest that made room
}

// A joint is what is known of the parts of a message.
type joint struct {
	seen   [4]uint64 // a bit for each part that has its final state
	n      int       // how many have
	last   uint8     // the one that got it last
	report sms.Report
}

const (
	// partsName is the name under which the store keeps outcomes of parts.
	partsName = ".parts"
	maxJoints = 50_000
)

// add adds the outcome of a part. It returns passOn and the receipt of the whole message when
// each part has one. The last one may come again: then its receipt had not been stored. read
// says that outcomes may be in the store alone.
func (j *joints) add(whole uint64, part, parts uint8, r *sms.Report, read bool) (sms.Report, verdict) {
	j.mu.Lock()
	defer j.mu.Unlock()
	of := j.by[whole]
	if of == nil {
		if read || whole <= j.evicted {
			return sms.Report{}, unread
		}
		of = j.make(whole)
	}
	isNew := of.add(part, r)
	switch {
	case of.n < int(parts):
		return sms.Report{}, noted
	case !isNew && part != of.last:
		return sms.Report{}, dropped
	}
	of.report.Parts = parts
	return of.report, passOn
}

// make makes the joint of a message.
func (j *joints) make(whole uint64) *joint {
	if j.by == nil {
		j.by = map[uint64]*joint{}
	}
	for len(j.order) >= maxJoints {
		j.evicted = max(j.evicted, j.order[0])
		delete(j.by, j.order[0])
		j.order = j.order[1:]
	}
	of := &joint{}
	j.by[whole] = of
	j.order = append(j.order, whole)
	return of
}

// add adds the outcome of a part. It reports false if that was known.
func (of *joint) add(part uint8, r *sms.Report) bool {
	bit := uint64(1) << (part % 64)
	if of.seen[part/64]&bit != 0 {
		return false
	}
	of.seen[part/64] |= bit
	of.n++
	of.last = part
	t := &of.report
	if t.Submitted == 0 || r.Submitted != 0 && r.Submitted < t.Submitted {
		t.Submitted = r.Submitted
	}
	t.Done = max(t.Done, r.Done)
	failed := badness(r.State) > badness(sms.StateAccepted)
	if !failed {
		t.Delivered++
	}
	if failed && (of.n == 1 || badness(t.State) <= badness(sms.StateAccepted)) { // the first one
		t.Err, t.Network, t.NetworkError = slices.Clone(r.Err), r.Network, r.NetworkError
	}
	if of.n == 1 || badness(r.State) > badness(t.State) {
		t.State = r.State
	}
	if t.Text == nil || part == 0 {
		t.Text = slices.Clone(r.Text)
	}
	return true
}

// badness orders the final states: of the parts' states the worst is that of the message.
func badness(s sms.State) int {
	return slices.Index([]sms.State{sms.StateDelivered, sms.StateAccepted, sms.NoState, sms.StateUnknown, sms.StateSkipped,
		sms.StateExpired, sms.StateDeleted, sms.StateUndeliverable, sms.StateRejected}, s)
}

// readsParts reports whether outcomes of parts may be in the store alone: those of
// messages of earlier runs may.
func (g *Gateway) readsParts(whole uint64) bool { return g.store != nil && whole <= g.lastStored }

// notePart notes the outcome of a part in the open batch. m has what the parts' ids have in
// common as its id.
func (g *Gateway) notePart(b *store.Batch, m *sms.Message) {
	b.Map(dayOf(g.clock()+g.wall.ahead.Load()), partsName, wholeKey(m.ID, m.Part), m.Text())
}

// loadParts reads the outcomes of the parts of a message from the store, unless they are in
// memory.
func (g *Gateway) loadParts(f *match) error {
	whole := f.WholeID()
	j := &g.receipts.joints
	j.mu.Lock()
	known := j.by[whole] != nil
	j.mu.Unlock()
	if known {
		return nil
	}
	var read joint
	for part := range f.Parts {
		value, ok, err := g.store.Lookup(partsName, wholeKey(whole, part))
		if err != nil {
			return fmt.Errorf("cannot read the outcomes of a long message's parts: %w", err)
		}
		var m sms.Message
		m.Set(sms.Address{}, sms.Address{}, value)
		m.Flags = sms.HasReport
		if r, valid := m.Report(); ok && valid {
			read.add(part, &r)
		}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.by[whole] == nil {
		*j.make(whole) = read
	}
	return nil
}
