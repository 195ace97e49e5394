package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/rs/zerolog"

	"pmg/cluster/report"
	"pmg/internal/testkit/natstest"
	"pmg/internal/testkit/testutil"
)

// One address of an SMSC is enough, and the owner connects to those alone with which it has no session.
func TestConnectAll(t *testing.T) {
	t.Parallel()
	all := []SMSC{{"one", []string{"a:1", "b:1"}}, {"two", []string{"c:1"}}, {"three", []string{"d:1", "e:1"}}}
	for _, c := range []struct {
		down    map[string]bool
		missing []string
	}{
		{nil, []string{"three"}},
		{map[string]bool{"one": true}, nil},
		{map[string]bool{"two": true, "three": true}, []string{"three"}},
	} {
		r := connectAll(t.Context(), all, c.down, func(_ context.Context, address string) error {
			if name := map[string]string{"a:1": "one", "b:1": "one", "c:1": "two", "d:1": "three", "e:1": "three"}[address]; c.down != nil && !c.down[name] {
				t.Errorf("%s is dialed, with which there is a session", name)
			}
			if address == "a:1" || address == "d:1" || address == "e:1" {
				return errors.New("no answer")
			}
			return nil
		})
		if !slices.Equal(r.Missing, c.missing) || r.Of != 3 || r.Reached != 3-len(c.missing) {
			t.Errorf("%v: %+v", c.down, r)
		}
	}
}

// The work goes to a node that reaches more than the owner alone, and to none that may not take over, or of which nothing new is known.
func TestChooseNode(t *testing.T) {
	t.Parallel()
	now := time.Now()
	node := func(name string, reached int) State {
		return State{Node: name, At: now, Reach: &report.Reach{At: now, Reached: reached, Of: 3}}
	}
	with := func(s State, change func(*State)) State {
		change(&s)
		return s
	}
	for what, c := range map[string]struct {
		owner int
		all   []State
		want  string
	}{
		"the one that reaches most":   {1, []State{node("b", 2), node("c", 3)}, "c"},
		"no more than the owner":      {2, []State{node("b", 2), node("c", 1)}, ""},
		"others, but not more":        {1, []State{with(node("b", 1), func(s *State) { s.Reach.Missing = []string{"x", "y"} })}, ""},
		"fewer":                       {2, []State{node("b", 0)}, ""},
		"it may not take over":        {1, []State{with(node("b", 3), func(s *State) { s.Reason = "drained" })}, ""},
		"it is silent":                {1, []State{with(node("b", 3), func(s *State) { s.At = now.Add(-time.Minute) })}, ""},
		"it has not tried yet":        {1, []State{with(node("b", 3), func(s *State) { s.Reach = nil })}, ""},
		"it has tried long ago":       {1, []State{with(node("b", 3), func(s *State) { s.Reach.At = now.Add(-time.Hour) })}, ""},
		"it knows of other SMSCs":     {1, []State{with(node("b", 3), func(s *State) { s.Reach.Of = 4 })}, ""},
		"the owner itself":            {1, []State{node("a", 3)}, ""},
		"what the owner is, is old":   {-1, []State{node("b", 3)}, ""},
		"the owner has not tried yet": {-2, []State{node("b", 3)}, ""},
	} {
		reach := &report.Reach{At: now, Reached: c.owner, Of: 3}
		switch c.owner {
		case -1:
			reach.At, reach.Reached = now.Add(-time.Hour), 1
		case -2:
			reach = nil
		}
		if got := chooseNode(c.all, "a", reach, now); got != c.want {
			t.Errorf("%s: %q, not %q", what, got, c.want)
		}
	}
}

// Not twice within ten minutes, also where clocks differ.
func TestIsRecent(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for age, want := range map[time.Duration]bool{time.Second: true, 9 * time.Minute: true, 11 * time.Minute: false, -time.Minute: true, -time.Hour: false} {
		octets, err := json.Marshal(reachMove{now.Add(-age), "b"})
		if got := isRecent(octets, now); err != nil || got != want {
			t.Errorf("%v ago: %v, %v", age, got, err)
		}
	}
	if isRecent(nil, now) {
		t.Error("nothing was handed over yet")
	}
}

// An owner that has no session with an SMSC hands over to a node that can connect to it, once.
func TestHandsOverToReachMore(t *testing.T) {
	testutil.Long(t)
	t.Parallel()
	server := natstest.New(t, "n1", "always", "").Start()
	open, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	shut := testutil.FreeAddress(t)
	var log testutil.Log
	node := func(name, address string) *Node {
		o := options(server, name, vfs.NewMem())
		o.HandOverAfter, o.SMSCs, o.Log = time.Nanosecond, []SMSC{{"operator", []string{address}}, {"other", []string{open.Addr().String()}}}, zerolog.New(&log)
		return started(t, o)
	}
	a := node("a", shut)
	s := works(t, a, 1)
	b := node("b", open.Addr().String())
	testutil.Eventually(t, "node b may take over", func() bool { return b.State().Reason == "" })
	if b.State().Reach != nil {
		t.Error("node b connects to SMSCs, although the owner has not asked for it")
	}
	a.SetDown(func(time.Duration) []string { return []string{"operator"} })
	select {
	case to := <-a.Asked():
		if to != "b" {
			t.Errorf("the work goes to %q", to)
		}
	case <-time.After(testutil.Patience):
		t.Fatal("the work stays")
	}
	testutil.Eventually(t, "it is not handed over again", func() bool { return strings.Contains(log.String(), "it stays") })
	select {
	case <-a.Asked():
		t.Error("the work is handed over twice")
	default:
	}
	if n := report.Notes(a.Report().Nodes); !slices.Contains(n, "node a reaches 1 of 2 SMSCs, not operator") {
		t.Errorf("%q", n)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	closed(t, a)
	closed(t, b)
}
