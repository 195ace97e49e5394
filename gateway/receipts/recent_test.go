package receipts

import (
	"fmt"
	"strings"
	"testing"

	"pmg/config"
)

// The latest entries are found, the oldest make room, and a key has its latest value.
func TestRecent(t *testing.T) {
	t.Parallel()
	r := newRecent(4 * recentChunk)
	value := []byte(strings.Repeat("v", 1000))
	const n = 5000
	for i := range n {
		r.add(fmt.Appendf(nil, "key %d", i), append(value, fmt.Sprint(i)...))
		r.add([]byte("always"), fmt.Append(nil, i))
	}
	kept := 0
	for i := range n {
		v := r.find(fmt.Appendf(nil, "key %d", i))
		if v == nil && kept > 0 {
			t.Errorf("key %d is gone, and an older one is not", i)
		}
		if v != nil {
			kept++
			if want := fmt.Sprint(string(value), i); string(v) != want {
				t.Errorf("key %d has %q", i, v)
			}
		}
	}
	if kept < 3*recentChunk/1100 || kept > 4*recentChunk/1000 || len(r.chunks) != 4 {
		t.Errorf("%d of %d entries are kept, in %d chunks", kept, n, len(r.chunks))
	}
	if v := r.find([]byte("always")); string(v) != fmt.Sprint(n-1) {
		t.Errorf("the key that came again has %q", v)
	}
	most := make([]byte, recentChunk-4-len("large"))
	if r.add([]byte("large"), most); len(r.find([]byte("large"))) != len(most) || r.find([]byte("never")) != nil {
		t.Error("the largest entry is not found")
	}
	r = newRecent(4 * recentChunk)
	r.add([]byte("large"), append(most, 0))
	if r.find([]byte("large")) != nil || r.find([]byte("never")) != nil {
		t.Error("an entry was found that is not there")
	}
}

// None of the latest entries makes room too early, whatever their number. Of a full bucket the oldest one does.
func TestRecentLatest(t *testing.T) {
	t.Parallel()
	r := newRecent(64 * recentChunk)
	for i := range 30_000 {
		r.add(fmt.Appendf(nil, "%x", i), fmt.Append(nil, i))
		for _, back := range []int{0, 1, 100} {
			if v := r.find(fmt.Appendf(nil, "%x", i-back)); i >= back && string(v) != fmt.Sprint(i-back) {
				t.Fatalf("entry %d of %d is %q", i-back, i, v)
			}
		}
	}
}

// D13: what is remembered of all operators together does not grow with their number.
func TestRecentSize(t *testing.T) {
	t.Parallel()
	cfg := &config.Config{Limits: config.Limits{Memory: 1 << 30}}
	add := func(name, direction, operator string) {
		cfg.Connectors = append(cfg.Connectors, config.Connector{Name: name, Direction: direction, Supplier: config.Supplier{Operator: operator}})
	}
	add("clients", config.In, "")
	add("one", config.Out, "")
	one := recentSize(cfg)
	add("two", config.Out, "one")
	if n := recentSize(cfg); n != one {
		t.Errorf("two connectors to one operator: %d octets, with one %d", n, one)
	}
	add("three", config.Out, "")
	add("four", config.Out, "")
	if n := recentSize(cfg); n != one/3 {
		t.Errorf("three operators: %d octets each, one %d", n, one)
	}
}

// D13: what orphans take in memory counts.
func TestOrphansCount(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	for _, n := range []int64{10, 7, 0} {
		g.Orphans.n.Store(n)
		g.Orphans.count()
		if used := g.Matcher.node.Memory.Used(); used != n*orphanSize {
			t.Errorf("%d octets are counted for %d orphans", used, n)
		}
	}
}
