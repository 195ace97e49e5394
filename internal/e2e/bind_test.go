package e2e

import (
	"fmt"
	"testing"

	"golang.org/x/crypto/bcrypt"

	"pmg/internal/testkit/testutil"
)

// A client may bind in each of the three ways, and then do what its bind type allows.
func TestBindTypes(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	g := start(t, site{operator: operator, routes: "{from: operator, to: clients}\n{to: operator}"})
	s := operator.session()
	for _, kind := range []string{"transmitter", "receiver", "transceiver"} {
		c := g.bind(kind)
		if kind == "receiver" {
			c.submit(2, 2)
			c.want("submit_sm_resp", "seq=2", "status=0x4(ESME_RINVBNDSTS)")
		} else {
			c.put(2, 2)
			s.serve(2, 2)
		}
		if kind != "transmitter" {
			g.online("clients", 1)
			s.send(`deliver_sm seq=7 source_addr=46700000001 destination_addr=1234 short_message="hello"`)
			s.want("deliver_sm_resp", "seq=7", "status=0")
			got := c.want("deliver_sm", `short_message="hello"`)
			c.send("deliver_sm_resp seq=" + field(got, "seq") + " status=0 message_id=\"\"")
		}
		c.send("deliver_sm seq=8 destination_addr=1234")
		c.want("deliver_sm_resp", "seq=8", "status=0x4(ESME_RINVBNDSTS)")
		c.send("unbind seq=9")
		c.want("unbind_resp", "seq=9", "status=0")
		c.wantEOF()
		g.online("clients", 0)
	}
}

// A client that may not log in gets ESME_RBINDFAIL and nothing else, and is disconnected.
func TestBindRefused(t *testing.T) {
	parallel(t)
	const accounts = `
			{system_id: far, password: s3cret, networks: [192.0.2.0/24]}
			{system_id: sender, password: s3cret, bind: [transmitter]}
			{system_id: near, password: s3cret, networks: [127.0.0.0/8]}`
	for _, c := range []struct{ name, kind, systemID, password string }{
		{"password", "transceiver", "acme", "wrong"},
		{"account", "transceiver", "nobody", "s3cret"},
		{"network", "transceiver", "far", "s3cret"},
		{"bind type", "transceiver", "sender", "s3cret"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel() // each has a gateway of its own: the delay of refusals grows
			g := start(t, site{accounts: accounts})
			p := g.dial("clients")
			p.send(bindLine(c.kind, c.systemID, c.password), submitLine(2))
			p.want("bind_transceiver_resp", "seq=1", "status=0xd(ESME_RBINDFAIL)")
			p.wantEOF()
			g.dial("clients").bind("transmitter", "sender", "s3cret")
			g.dial("clients").bind("transceiver", "near", "s3cret")
		})
	}
}

// A password may be stored as a hash, which takes time to compare. PDUs that a client sends
// after its login wait for the outcome, and are then handled in order.
func TestBindPipelined(t *testing.T) {
	parallel(t)
	hash, err := bcrypt.GenerateFromPassword([]byte("s3cret"), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	operator := newSMSC(t)
	g := start(t, site{operator: operator, accounts: fmt.Sprintf("{system_id: hashed, password: %q}", hash)})
	s := operator.session()
	for _, systemID := range []string{"hashed", "acme", "hashed"} {
		p := g.dial("clients")
		p.send(bindLine("transmitter", systemID, "s3cret"), submitLine(2), bindLine("transmitter", systemID, "s3cret"),
			"enquire_link seq=3", submitLine(4), "unbind seq=5", submitLine(6))
		p.want("bind_transmitter_resp", "seq=1", "status=0")
		p.accepted(2, 2)
		p.want("bind_transmitter_resp", "seq=1", "status=0x5(ESME_RALYBND)")
		p.want("enquire_link_resp", "seq=3")
		p.accepted(4, 4)
		p.want("unbind_resp", "seq=5")
		p.wantEOF()
		s.serve(2, 2)
		s.serve(4, 4)
	}
	p := g.dial("clients")
	p.send(bindLine("transmitter", "hashed", "wrong"), submitLine(2), "enquire_link seq=3")
	p.want("bind_transmitter_resp", "seq=1", "status=0xd(ESME_RBINDFAIL)")
	p.wantEOF()
	g.dial("clients").bind("transmitter", "hashed", "s3cret")
}

// A client that does not log in, or stops in the middle of a PDU, is disconnected.
func TestBindTimeout(t *testing.T) {
	parallel(t)
	g := start(t, site{clients: "bind_timeout: 5s", limits: "pdu_timeout: 300ms"})
	bound := g.bind("transmitter")
	silent := g.dial("clients")
	silent.fence()
	silent.wantEOF()
	half := g.bind("transmitter")
	half.write(wire(t, submitLine(1))[:20])
	half.wantEOF()
	bound.fence()
}

// A peer that was sent an unbind and sends an unbind itself is answered before the
// connection is closed.
func TestUnbind(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	g := start(t, site{operator: operator})
	s := operator.session()
	s.send("unbind seq=77", "enquire_link seq=78")
	s.want("unbind_resp", "seq=77", "status=0")
	s.wantEOF()
	s = operator.session()
	g.online("operator", 1)
	c := g.bind("transmitter")
	g.engine.Detach(g.Gateway.Table.Connector("operator"))
	got := s.want("unbind")
	s.send("unbind_resp seq=" + field(got, "seq") + " status=0")
	s.wantEOF()
	g.engine.Detach(g.Gateway.Table.Connector("clients"))
	got = c.want("unbind")
	c.send("unbind_resp seq=" + field(got, "seq") + " status=0")
	c.wantEOF()
}

// A silent peer is sent a keep-alive, and is disconnected if it does not answer.
func TestEnquire(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	const timers = "enquire_interval: 100ms, response_timeout: 5s"
	g := start(t, site{operator: operator, clients: timers, out: timers})
	s, c := operator.session(), g.bind("receiver")
	for range 3 {
		for _, p := range []*peer{s, c} {
			got := p.want("enquire_link")
			p.send("enquire_link_resp seq=" + field(got, "seq") + " status=0")
		}
	}
	for _, p := range []*peer{s, c} {
		p.want("enquire_link")
		p.wantEOF()
	}
}

// Connections beyond the limit of those without a login are closed immediately. Logins
// beyond the number of instances are refused.
func TestConnectionLimits(t *testing.T) {
	parallel(t)
	g := start(t, site{clients: "instances: 3", limits: "prebind_per_address: 2"})
	first, second := g.dial("clients"), g.dial("clients")
	first.fence()
	second.fence()
	g.dial("clients").wantClosed()
	first.bind("transmitter", "acme", "s3cret")
	second.bind("transmitter", "acme", "s3cret")
	third := g.bind("transmitter")
	fourth := g.dial("clients")
	fourth.send(bindLine("transmitter", "acme", "s3cret"))
	fourth.want("bind_transmitter_resp", "status=0xd(ESME_RBINDFAIL)")
	fourth.wantEOF()
	third.send("unbind seq=2")
	third.want("unbind_resp")
	third.wantEOF()
	testutil.Eventually(t, "the session is over", func() bool { return g.Sessions.Count() == 2 })
	g.bind("transmitter")
}
