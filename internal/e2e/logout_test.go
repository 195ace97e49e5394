package e2e

import (
	"testing"

	"pmg/connector"
	"pmg/internal/testkit/testutil"
)

// kick logs out the sessions of a connector, as pmg kick does.
func (g *gw) kick(name string) {
	g.engine.Logout(func(l *connector.Link) bool { return l.Connector.Name == name })
}

// leaves waits until a connector's session gets no more messages, and checks that its peer has
// not got our unbind.
func (g *gw) leaves(lane *connector.Lane, s *peer) {
	g.t.Helper()
	testutil.Eventually(g.t, "the session gets no more messages", func() bool { return lane.Window.Online() == 0 })
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

// O2: a client whose session is ended is not sent twice what it has not yet answered. Its own
// requests are still answered meanwhile.
func TestO2LogoutOfClient(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	g := start(t, site{operator: operator, routes: "{from: operator, to: {account: acme}}\n{to: operator}"})
	s, c := operator.session(), g.bind("transceiver")
	g.online("operator", 1)
	s.send(`deliver_sm seq=1 source_addr=46700000001 destination_addr=1234 short_message="mo"`)
	s.want("deliver_sm_resp", "seq=1", "status=0")
	seq := field(c.want("deliver_sm", `short_message="mo"`), "seq")
	var lane *connector.Lane
	g.Gateway.Table.Connector("clients").Lanes(func(l *connector.Lane) { lane = l })
	g.kick("clients")
	g.leaves(lane, c)
	c.submit(1, 1)
	c.accepted(1, 1)
	s.serve(1, 1)
	c.send("deliver_sm_resp seq=" + seq + " status=0")
	c.loggedOut()
	d := g.bind("transceiver")
	d.fence()
	if !d.silent("deliver_sm") {
		t.Error("the message is delivered twice")
	}
}

// O2: an idle session is logged out when the answer to its last message has come.
func TestO2IdleLogoutWaitsForAnswer(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	g := start(t, site{operator: operator, out: "idle_max: 100ms, static: false"})
	lane := g.Gateway.Table.LaneOf(g.Gateway.Table.Connector("operator"))
	c := g.bind("transmitter")
	c.submit(1, 1)
	c.accepted(1, 1)
	s := operator.session()
	under := s.take(1, 1)
	g.leaves(lane, s)
	s.answer(0, under...)
	s.loggedOut()
	c.submit(2, 2)
	c.accepted(2, 2)
	operator.session().serve(2, 2)
}

// O2: a peer that does not answer is waited for as long as response_timeout says.
func TestO2LogoutWithoutAnswer(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	g := start(t, site{operator: operator, out: "response_timeout: 2s, retry: {lost: [10ms]}"})
	s, c := operator.session(), g.bind("transmitter")
	g.online("operator", 1)
	c.submit(1, 1)
	c.accepted(1, 1)
	s.take(1, 1)
	g.kick("operator")
	s.loggedOut()
	operator.session().serve(1, 1)
}
