package report

import (
	"strings"
	"testing"
	"time"
)

// A node that has said nothing for a while is silent, whatever it said last, and takes nothing over; nor does one that says why.
func TestRows(t *testing.T) {
	t.Parallel()
	now := time.Now()
	all := []State{
		{Node: "a", State: "owner", Applied: 10, At: now},
		{Node: "b", State: "standby", Applied: 7, At: now.Add(time.Second)}, // its clock is ahead
		{Node: "c", State: "standby", Applied: 10, At: now.Add(-SilentFor)},
		{Node: "d", State: "standby", Applied: 9, Reason: "it is drained", At: now},
	}
	rows, ready := Rows(all, "a", now)
	for i, want := range []struct {
		state, reason string
		behind        uint64
	}{{"owner", "-", 0}, {"standby", "-", 3}, {"silent", "it does not run, or does not reach the servers", 0}, {"standby", "it is drained", 1}} {
		if r := rows[i]; r.State.State != want.state || r.Reason != want.reason || r.Behind != want.behind || r.Seen < 0 {
			t.Errorf("%+v, want %+v", r, want)
		}
	}
	if ready != 1 {
		t.Errorf("%d could take over, want node b", ready)
	}
	if _, ready = Rows(all, "b", now); ready != 1 || all[2].State != "standby" {
		t.Errorf("%d could take over, want node a", ready)
	}
}

// The notes are what the servers refuse, a limit without effect, and how full the stream is by the newest state that knows it.
func TestNotes(t *testing.T) {
	t.Parallel()
	now := time.Now()
	full := func(share float64) Fullness { return Fullness{Share: share, Of: "the limit of the stream PMG"} }
	for _, c := range []struct {
		all  []State
		want []string
	}{
		{[]State{{Node: "a", At: now, Full: full(0.49)}, {Node: "b", At: now.Add(-time.Hour), Full: full(0.9)}}, nil},
		{[]State{{Node: "a", At: now.Add(-time.Hour), Full: full(0.3)}, {Node: "b", At: now, Full: full(0.634)}}, []string{"63 % of the limit of the stream PMG is used"}},
		{[]State{{Node: "a", At: now, Trouble: "no space"}, {Node: "b", At: now, Full: Fullness{Limit: "max_size"}}}, []string{"node a: no space", "node b: max_size"}},
	} {
		got := Notes(c.all)
		for i, want := range c.want {
			if i >= len(got) || !strings.HasPrefix(got[i], want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		}
		if len(got) != len(c.want) {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
