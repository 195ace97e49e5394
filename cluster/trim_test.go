package cluster

import (
	"encoding/json"
	"testing"
	"time"

	"pmg/cluster/cells"
)

// cellsOf returns what nodes have said of themselves, in the cells' form as well.
func cellsOf(version uint64, all ...State) ([]cells.Value, []State) {
	var values []cells.Value
	for _, s := range all {
		octets, _ := json.Marshal(s)
		values = append(values, cells.Value{Name: s.Node, Octets: octets, Version: version})
	}
	return values, states(values)
}

// The journal is trimmed behind what all nodes that are there need no more, if these are two at least, some time later.
func TestTrim(t *testing.T) {
	now := time.Now()
	trim := trimmer{keep: time.Minute}
	at := func(after time.Duration, version uint64, want uint64, all ...State) {
		t.Helper()
		values, read := cellsOf(version, all...)
		if got := trim.upTo(values, read, "a", false, now.Add(after)); got != want {
			t.Errorf("after %v: up to %d, want %d", after, got, want)
		}
	}
	a, b, c := State{Node: "a", Moved: 100}, State{Node: "b", Moved: 90}, State{Node: "c", Moved: 80}
	at(0, 1, 0, a, b, c)
	at(30*time.Second, 2, 0, a, b, c)
	at(time.Minute, 3, 79, a, b, c) // the record at 80 is read once more
	at(time.Minute, 3, 0, a, b, c)
	b.Moved, c.Moved = 95, 95
	at(2*time.Minute, 4, 0, a, b, c) // 95 was not said a minute ago
	at(3*time.Minute, 5, 94, a, b, c)
	values, read := cellsOf(5, a, b, c) // b and c have said nothing new for longer than a node counts
	if got := trim.upTo(values, read, "a", false, now.Add(10*time.Minute)); got != 0 {
		t.Errorf("one node alone trims up to %d", got)
	}
	a.Moved, b.Moved = 200, 200
	at(11*time.Minute, 6, 0, a, b)
	at(13*time.Minute, 7, 199, a, b) // c is away, and its time is over
}

// Two nodes must be there, and have something on the disk.
func TestTrimTooFew(t *testing.T) {
	trim := trimmer{}
	for i, all := range [][]State{{}, {{Node: "a", Moved: 50}}, {{Node: "a", Moved: 50}, {Node: "b"}}} {
		values, read := cellsOf(uint64(i), all...)
		if got := trim.upTo(values, read, "a", false, time.Now()); got != 0 {
			t.Errorf("%d nodes: up to %d", len(all), got)
		}
	}
}

// A node that is alone trims if an operator has forgotten all others: immediately, and later what it needs no more for some time.
func TestTrimAlone(t *testing.T) {
	now := time.Now()
	trim := trimmer{keep: time.Minute}
	at := func(after time.Duration, forgotten bool, want uint64, all ...State) {
		t.Helper()
		values, read := cellsOf(uint64(after), all...)
		values, read = append(values[:0:0], values...), append(read[:0:0], read...)
		for i := range values { // only node a has something new to say
			if values[i].Name != "a" {
				values[i].Version = 1
			}
		}
		if got := trim.upTo(values, read, "a", forgotten, now.Add(after)); got != want {
			t.Errorf("after %v: up to %d, want %d", after, got, want)
		}
	}
	a, b, c := State{Node: "a", Moved: 100}, State{Node: "b", Moved: 50}, State{Node: "c", Moved: 40}
	at(0, false, 0, a) // a new cluster, whose other nodes have not started yet
	at(time.Second, true, 0, a, b, c)
	at(time.Minute, true, 0, a, b, c) // they have said nothing for long, and were not forgotten
	at(time.Minute, true, 0, a, c)
	a.Moved = 200
	at(2*time.Minute, true, 199, a)
	a.Moved = 300
	at(2*time.Minute+time.Second, true, 0, a)
	at(4*time.Minute, true, 299, a)
	b.Moved = 250
	at(5*time.Minute, true, 0, a, b) // it is back, and silent
}

// A node takes over if it is configured like the owner, or like most.
func TestDiffers(t *testing.T) {
	for i, c := range []struct {
		config, owner string
		others        map[string]string
		differs       bool
	}{
		{"x", "", nil, false},
		{"x", "b", map[string]string{"b": "x", "c": "y"}, false},
		{"x", "b", map[string]string{"b": "y", "c": "x"}, false}, // most have the new one
		{"x", "b", map[string]string{"b": "y", "c": "y"}, true},
		{"x", "b", map[string]string{"b": "y"}, true},
		{"x", "", map[string]string{"b": "y"}, true},
		{"x", "c", map[string]string{"b": "x"}, false}, // the owner was forgotten
	} {
		all := []State{{Node: "a", Config: "it has said this before a reload"}}
		for node, hash := range c.others {
			all = append(all, State{Node: node, Config: hash})
		}
		if why := differs(all, "a", c.config, c.owner); (why != "") != c.differs {
			t.Errorf("%d: %q", i, why)
		}
	}
}

// A node says what differs: the files, or the keys of the store.
func TestUnlike(t *testing.T) {
	for _, c := range []struct{ config, other, why string }{
		{"x", "y", "its configuration differs from that of the owner, node b: make the files alike, and reload them"},
		{"x-1", "y-2", "its configuration differs from that of the owner, node b: make the files alike, and reload them"},
		{"x-1", "x-2", "its store.key_file (or old_key_file) differs from that of the owner, node b: give all nodes the same keys, and restart this one"},
		{"x", "x-2", "its store.key_file (or old_key_file) differs from that of the owner, node b: give all nodes the same keys, and restart this one"},
	} {
		if why := differs([]State{{Node: "b", Config: c.other}}, "a", c.config, "b"); why != c.why {
			t.Errorf("%s and %s: %s", c.config, c.other, why)
		}
	}
}

// Copies at the same record are compared, and those alone.
func TestCompare(t *testing.T) {
	sum := func(node string, at uint64, hash string) State {
		return State{Node: node, Sum: Sum{Check: 7, At: at, Hash: hash}}
	}
	if same, wrong := Compare([]State{sum("a", 5, "x"), sum("b", 5, "x"), sum("c", 6, "y")}, 7); same != 2 || len(wrong) > 0 {
		t.Errorf("%d, %v", same, wrong)
	}
	if _, wrong := Compare([]State{sum("a", 5, "x"), sum("b", 5, "y")}, 7); len(wrong) != 1 {
		t.Errorf("%v", wrong)
	}
	if same, wrong := Compare([]State{sum("a", 5, "x"), sum("b", 5, "y")}, 8); same != 0 || len(wrong) != 0 {
		t.Errorf("answers to an earlier check: %d, %v", same, wrong)
	}
}

// The last node that can own the work is one without which no running node can.
func TestCanDoWithout(t *testing.T) {
	now := time.Now()
	a, b, c := State{Node: "a", At: now}, State{Node: "b", At: now, Reason: "drained"}, State{Node: "c", At: now.Add(-time.Minute)}
	for want, all := range map[bool][][]State{
		true:  {{a, {Node: "b", At: now}}, {b, c, a, {Node: "d", At: now}}},
		false: {{a}, {a, b, c}, {c, a}},
	} {
		for _, s := range all {
			if got := canDoWithout(s, "a", now); got != want {
				t.Errorf("%v: %v", s, got)
			}
		}
	}
}

// Of two processes with one name the younger one gives way, unless the elder has ended before it began.
func TestHasElder(t *testing.T) {
	at := func(n int64) time.Time { return time.Unix(0, n) }
	all := []State{{Node: "a", Began: at(5), At: at(9)}, {Node: "b", Began: at(1), At: at(99)}}
	for began, want := range map[int64]bool{4: false, 5: false, 6: true, 8: true, 9: false, 10: false} {
		if got := hasElder(all, "a", at(began)); got != want {
			t.Errorf("began at %d: %v", began, got)
		}
	}
}
