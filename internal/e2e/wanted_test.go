package e2e

import (
	"strings"
	"testing"

	"pmg/internal/testkit/testutil"
)

// places are the ways in which an account has one session and no more. The gateway would find
// out after an hour that a peer is gone.
var places = []struct{ name, account, clients string }{
	{"max_sessions", "max_sessions: 1", ""},
	{"instances", "max_sessions: 0", ", instances: 1"},
}

// one returns a site whose account "one" may have one session, and whose clients have so long to answer.
func one(account, clients, answer string) site {
	return site{
		accounts: "{system_id: one, password: s3cret, " + account + "}",
		clients:  "enquire_interval: 1h, response_timeout: " + answer + clients,
	}
}

// tryOne logs in to the account "one", which is refused.
func (g *gw) tryOne() {
	g.t.Helper()
	p := g.dial("clients")
	p.send(bindLine("transceiver", "one", "s3cret"))
	p.want("bind_transceiver_resp", "status=0xd(ESME_RBINDFAIL)")
	p.wantEOF()
}

// P19a: a client whose line broke is refused once, and can then log in: the session that its
// line had is asked whether it lives, and ends.
func TestP19aPlaceOfALostLine(t *testing.T) {
	parallel(t)
	for _, c := range places {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			g := start(t, one(c.account, c.clients, "200ms"))
			lost := g.dial("clients")
			lost.bind("transceiver", "one", "s3cret")
			g.tryOne()
			lost.want("enquire_link")
			lost.wantClosed()
			testutil.Eventually(t, "its place is free", func() bool { return g.clients() == 0 })
			again := g.dial("clients")
			again.bind("transceiver", "one", "s3cret")
			again.fence()
		})
	}
}

// P19a: a session whose peer answers stays, whoever else logs in, and is asked once in a while
// only. Sessions of other accounts are not asked.
func TestP19aPlaceOfTheLiving(t *testing.T) {
	parallel(t)
	for _, c := range places {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			g := start(t, one(c.account, strings.Replace(c.clients, "1", "2", 1), "1h"))
			other := g.bind("transceiver")
			first := g.dial("clients")
			first.bind("transceiver", "one", "s3cret")
			g.tryOne()
			line := first.want("enquire_link")
			first.send("enquire_link_resp seq=" + field(line, "seq") + " status=0")
			first.fence()
			g.tryOne()
			first.fence()
			if !first.silent("enquire_link ") || !other.silent() {
				t.Error("a session was asked that had been heard since a login was refused, or is another account's")
			}
		})
	}
}

// P19a: the same for UCP.
func TestP19aUCP(t *testing.T) {
	parallel(t)
	g := start(t, one("max_sessions: 1", ", protocol: ucp", "200ms"))
	login := func() (p *ucpPeer, result string) {
		p = &ucpPeer{t: t, conn: g.dial("clients").conn}
		p.send("op60 seq=0 OAdC=one OTON=6 ONPI=5 STYP=1 PWD=733363726574 VERS=0100")
		result, _ = p.next()
		return p, result
	}
	lost, _ := login()
	if _, result := login(); result != "op60_result seq=0 status=0x7(authentication_failure)" {
		t.Fatalf("want a refusal, got %s", result)
	}
	lost.want("op31 seq=0 AdC=* PID=*")
	if line, err := lost.next(); err == nil || isTimeout(err) {
		t.Fatalf("want the end, got %s %v", line, err)
	}
	testutil.Eventually(t, "its place is free", func() bool { return g.clients() == 0 })
	again, _ := login()
	again.send("op31 seq=1 AdC=1 PID=0539")
	again.want("op31_result seq=1 status=0 SM=0000")
}

// P19a: an SMSC that connects itself, and whose line broke, gets its place as a client does.
func TestP19aSMSCConnects(t *testing.T) {
	parallel(t)
	g := start(t, smscConnects("peer_system_id: smsc, peer_password: s3cret, instances: 1, enquire_interval: 1h, response_timeout: 200ms"))
	lost := g.outbind("transceiver")
	g.online("operator", 1)
	refused := g.dial("operator")
	refused.send("outbind seq=1 system_id=smsc password=s3cret")
	refused.wantClosed()
	lost.want("enquire_link")
	lost.wantClosed()
	g.online("operator", 0)
	testutil.Eventually(t, "its place is free", func() bool { return g.Sessions.Count() == 0 })
	g.outbind("transceiver")
	g.online("operator", 1)
}
