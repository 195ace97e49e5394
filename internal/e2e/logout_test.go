package e2e

import (
	"testing"

	"pmg/connector"
	"pmg/internal/testutil"
)

// kick logs out the sessions of a connector, as pmg kick does.
func (g *gw) kick(name string) {
	g.engine.Logout(func(l *connector.Link) bool { return l.Connector.Name == name })
}

// leaves waits until a connector's session gets no more messages, and checks that its peer has
// not got our unbind.
func (g *gw) leaves(lane *connector.Lane, s *peer) {
	g.t.Helper()
	testutil.Eventually(g.t, "the session gets no more messages", func() bool { return lane.Online() == 0 })
	s.fence()
	if !s.silent("unbind ") {
		g.t.Error("we log out though messages are under way")
	}
}

// loggedOut answers our unbind.
func (p *peer) loggedOut() {
	p.t.Helper()
	p.send("unbind_resp seq=" + field(p.want("unbind"), "seq") + " status=0")
	p.wantEOF()
}

// O2: a session that an operator ends, or whose options a reload changes, is logged out when the
// answers to what is under way have come, in whatever order. Nothing is sent twice.
func TestO2LogoutWaitsForAnswers(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	with := func(options string) site { return site{operator: operator, out: "window: 3, " + options} }
	g := start(t, with(""))
	lane := g.Gateway.Table.LaneOf(g.Gateway.Table.Connector("operator"))
	s, c := operator.session(), g.bind("transmitter")
	n := 1
	for what, logout := range map[string]func() error{
		"kick":          func() error { g.kick("operator"); return nil },
		"interval":      func() error { return g.reload(with("enquire_interval: 7s")) },
		"long_messages": func() error { return g.reload(with("long_messages: split8")) },
	} {
		g.online("operator", 1)
		c.submit(n, n+3)
		c.accepted(n, n+3)
		under := s.take(n, n+2)
		if err := logout(); err != nil {
			t.Fatal(what, err)
		}
		g.leaves(lane, s)
		s.answer(0, under[2], under[0])
		g.leaves(lane, s)
		s.answer(0, under[1])
		s.loggedOut()
		s = operator.session()
		s.serve(n+3, n+3) // and none of the others
		n += 4
	}
	testutil.Eventually(t, "all have ended", func() bool { return g.Pending() == 0 })
	if n := g.stats("operator").Retried.Load(); n != 0 {
		t.Errorf("%d messages were sent again", n)
	}
}
