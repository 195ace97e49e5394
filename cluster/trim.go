package cluster

import (
	"time"

	"pmg/cluster/cells"
	"pmg/cluster/report"
)

// A trimmer decides how much of the journal the owner drops. If at least two nodes are present, the
// owner drops the records that none of these nodes needed some time ago. The delay is for nodes
// that are away, and for copies that are being made. An owner that is alone drops nothing, because
// the others may come back, unless an operator has forgotten all of them: then it drops what it does not
// need immediately, because the stream may be full, and later records after the delay.
type trimmer struct {
	keep    time.Duration
	alone   bool // at the last call no other node was known
	seen    map[string]sighting
	samples []sample // sorted by time, the oldest first
	done    uint64
}

// A sighting records when a node's state was last seen to change.
type sighting struct {
	version uint64
	at      time.Time
}

// A sample records which part of the journal no node needed at a time.
type sample struct {
	at   time.Time
	upTo uint64
}

// manySamples is the number of samples into which the time to keep is divided.
const manySamples = 60

// upTo returns the place up to which the journal may be trimmed now. It returns 0 if nothing may be
// trimmed. forgotten is true if an operator has ever forgotten a node: otherwise nodes that are not
// known may start for the first time.
func (t *trimmer) upTo(values []cells.Value, all []State, own string, forgotten bool, now time.Time) uint64 {
	least, n := uint64(0), 0
	for _, s := range all {
		if s.Node != own && !t.isAlive(values, s.Node, now) {
			continue
		}
		if n++; n == 1 || s.Moved < least {
			least = s.Moved
		}
	}
	alone := n == 1 && len(all) == 1 && all[0].Node == own && forgotten
	if n < 2 && !alone || least < 2 {
		return 0
	}
	least-- // a node that starts reads its last record again
	if alone && !t.alone {
		t.samples = []sample{{now.Add(-t.keep), least}}
	}
	t.alone = alone
	if last := len(t.samples); last == 0 || now.Sub(t.samples[last-1].at) >= t.keep/manySamples {
		t.samples = append(t.samples, sample{now, least})
	}
	upTo := uint64(0)
	for len(t.samples) > 0 && now.Sub(t.samples[0].at) >= t.keep {
		upTo = t.samples[0].upTo
		t.samples = t.samples[1:]
	}
	if upTo = min(upTo, least); upTo <= t.done {
		return 0
	}
	t.done = upTo
	return upTo
}

// isAlive reports whether a node's state has changed recently.
func (t *trimmer) isAlive(values []cells.Value, node string, now time.Time) bool {
	for _, v := range values {
		if v.Name != node {
			continue
		}
		if t.seen == nil {
			t.seen = map[string]sighting{}
		}
		if before, ok := t.seen[node]; !ok || before.version != v.Version {
			t.seen[node] = sighting{v.Version, now}
		}
		return now.Sub(t.seen[node].at) < report.SilentFor
	}
	return false
}
