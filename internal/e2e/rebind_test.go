package e2e

import (
	"bytes"
	"pmg/internal/testkit/testutil"
	"testing"
)

// U13: after a reload with a new password, window or number of instances, the sessions of
// that connector are bound anew, and no others. They send the waiting messages.
func TestReloadRebinds(t *testing.T) {
	parallel(t)
	operator, second := newSMSC(t), newSMSC(t)
	with := func(options string) site {
		return site{operator: operator, more: row("second", second, options), routes: "{to: second}"}
	}
	g := start(t, with("password: old, window: 1, instances: 2"))
	other := operator.session()
	reload := func(options string, before ...*peer) {
		t.Helper()
		g.mustReload(with(options))
		for _, s := range before {
			s.loggedOut()
		}
	}
	session := func(password string) *peer {
		t.Helper()
		s := second.accept()
		b, err := s.read() // a line would hide the password
		if err != nil || !bytes.Contains(b, []byte("pmg\x00"+password+"\x00")) {
			t.Fatalf("want a bind with password %s, got %q %v", password, b, err)
		}
		s.send("bind_transceiver_resp seq=1 status=0")
		return s
	}
	s1, s2 := session("old"), session("old")
	g.online("second", 2)

	// More instances: the new sessions send waiting messages, as many as their windows allow.
	reload("password: new, window: 3, instances: 3", s1, s2)
	all := []*peer{session("new"), session("new"), session("new")}
	g.online("second", 3)
	c := g.bind("transmitter")
	c.put(1, 9)
	for _, s := range all {
		var under []string
		for range 3 {
			under = append(under, field(s.want("submit_sm"), "seq"))
		}
		s.answer(0, under...)
	}

	// Fewer instances: two of them are not connected again.
	reload("password: new, window: 1, instances: 1", all...)
	s := session("new")
	g.online("second", 1)
	c.put(10, 19)
	s.serve(10, 19)

	// Nothing changes for other connectors, or by a reload without a change.
	reload("password: new, window: 1, instances: 1")
	c.put(20, 20)
	s.serve(20, 20)
	other.fence()
	equal(t, "sessions with the other operator", g.stats("operator").Opened.Load(), 1)
	equal(t, "sessions with the second operator, not 2, 3 and 1", g.stats("second").Opened.Load(), 6)
}

// A connector without a connected instance takes the new options too: surplus instances are
// removed. Nothing listens on port 1.
func TestReloadRebindsUnconnected(t *testing.T) {
	parallel(t)
	with := func(instances string) site {
		return site{
			more:   "{name: down, direction: out, address: \"127.0.0.1:1\", system_id: pmg, reconnect_delay: 20ms, instances: " + instances + "}",
			routes: "{to: down}",
		}
	}
	g := start(t, with("3"))
	testutil.Eventually(t, "all have failed", func() bool { return g.stats("down").Failing.Load() >= 3 })
	if err := g.reload(with("1")); err != nil {
		t.Fatal(err)
	}
	testutil.Eventually(t, "two are given back", func() bool { return !g.Gateway.Table.Connector("down").HasSurplus() })
}
