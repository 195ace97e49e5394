package e2e

import (
	"fmt"
	"net"
	"testing"

	"pmg/internal/testkit/testutil"
)

// smscConnects returns a site whose operator connects to the gateway.
func smscConnects(options string) site {
	return site{
		more:   `{name: operator, direction: out, listen: "127.0.0.1:0", system_id: pmg, password: secret, ` + options + "}",
		routes: "{from: operator, to: {account: acme}}\n{to: operator}",
	}
}

// outbind connects as the SMSC, asks for a bind and accepts it.
func (g *gw) outbind(kind string) *peer {
	g.t.Helper()
	p := g.dial("operator")
	p.send("outbind seq=1 system_id=smsc password=s3cret")
	p.want("bind_"+kind, "seq=1", "system_id=pmg")
	p.send("bind_" + kind + "_resp seq=1 status=0 system_id=SMSC")
	return p
}

// An SMSC that connects and sends outbind gets a session as any other: messages leave by it,
// and receipts and mobile-originated messages arrive.
func TestOutbind(t *testing.T) {
	parallel(t)
	s := smscConnects("peer_system_id: smsc, peer_password: s3cret, enquire_interval: 100ms")
	g := start(t, s)
	client := g.bind("transceiver")
	client.submit(1, 1, "registered_delivery=1") // waits until the SMSC comes
	client.accepted(1, 1)
	smsc := g.outbind("transceiver")
	g.online("operator", 1)
	until := func(p *peer, command string) (line string) {
		t.Helper()
		p.until(func(l string) bool {
			if field(l, "seq") != "" && containsAll(l, []string{"enquire_link "}) {
				p.send("enquire_link_resp seq=" + field(l, "seq") + " status=0")
				return false
			}
			line = l
			return containsAll(l, []string{command + " "})
		})
		return line
	}
	smsc.send("submit_sm_resp seq=" + field(until(smsc, "submit_sm"), "seq") + " status=0 message_id=77")
	smsc.send(`deliver_sm seq=2 source_addr=46700000001 destination_addr=1234 esm_class=4 short_message="id:77 sub:001 dlvrd:001 submit date:2601010000 done date:2601010001 stat:DELIVRD err:000 tet:"`)
	until(smsc, "deliver_sm_resp")
	line := client.want("deliver_sm", "esm_class=4")
	client.send("deliver_sm_resp seq=" + field(line, "seq") + " status=0")
	smsc.send(`deliver_sm seq=3 source_addr=46700000001 destination_addr=1234 short_message="hello"`)
	until(smsc, "deliver_sm_resp")
	line = client.want("deliver_sm", `short_message="hello"`)
	client.send("deliver_sm_resp seq=" + field(line, "seq") + " status=0")
	line = ""
	for line == "" { // keep-alives are sent
		l, err := smsc.next()
		if err != nil {
			t.Fatal(err)
		}
		if containsAll(l, []string{"enquire_link "}) {
			line = l
		}
	}
	smsc.send("enquire_link_resp seq="+field(line, "seq")+" status=0", "unbind seq=4")
	until(smsc, "unbind_resp")
	smsc.wantClosed() // a keep-alive may have crossed our last PDU
	testutil.Eventually(t, "its place is free", func() bool { return g.Sessions.Count() == 1 })
	smsc = g.outbind("transceiver") // again, in the same place
	g.online("operator", 1)
	testutil.Eventually(t, "nothing is under way", func() bool { return g.Pending() == 0 })
	s.more, s.routes = "", ""
	addr := g.addr("operator")
	g.mustReload(s)
	smsc.send("unbind_resp seq=" + field(until(smsc, "unbind"), "seq") + " status=0")
	smsc.wantClosed() // a keep-alive may have crossed our last PDU
	testutil.Eventually(t, "a removed connector does not listen", func() bool {
		conn, err := net.Dial("tcp", addr)
		if err == nil {
			conn.Close()
		}
		return err != nil
	})
}

// Peers that are not the SMSC get nothing, and keep nobody out.
func TestOutbindRefused(t *testing.T) {
	parallel(t)
	s := smscConnects("peer_system_id: smsc, peer_password: s3cret, bind: receiver, networks: [127.0.0.1]")
	s.limits, s.routes = "prebind: 50, prebind_per_address: 5", "{from: operator, to: {account: acme}}"
	g := start(t, s)
	if line, err := g.dialFrom("127.0.0.2", "operator").next(); err == nil {
		t.Errorf("another network was sent %s", line)
	}
	var silent []*peer
	for range 4 {
		silent = append(silent, g.dial("operator"))
	}
	testutil.Eventually(t, "they are accepted", func() bool { return g.Sessions.Count() == 4 })
	first := g.outbind("receiver")
	g.online("operator", 0) // a receiver is given no messages
	testutil.Eventually(t, "it is bound", func() bool { return g.log.count(`"bound"`, "receiver") == 1 })
	second := g.dial("operator") // more than instances
	second.send("outbind seq=1 system_id=smsc password=s3cret")
	second.wantClosed()
	testutil.Eventually(t, "it has gone", func() bool { return g.Sessions.Count() == 5 })
	silent = append(silent, g.dial("operator"))
	testutil.Eventually(t, "as many are there as may wait", func() bool { return g.Sessions.Count() == 6 })
	for range 20 {
		g.dial("operator").wantClosed()
	}
	first.fence()
	for _, p := range silent {
		p.conn.Close()
	}
	testutil.Eventually(t, "they have gone", func() bool { return g.Sessions.Count() == 1 })
	wrong := g.dial("operator")
	wrong.send("outbind seq=1 system_id=smsc password=wrong")
	wrong.wantClosed()
	first.fence()
}

// An SMSC that refuses our bind is named in the log, and may come again.
func TestOutbindBindRefused(t *testing.T) {
	parallel(t)
	g := start(t, smscConnects(""))
	p := g.dial("operator")
	p.send("outbind seq=1 system_id=smsc password=anything")
	p.want("bind_transceiver", "seq=1")
	p.send("bind_transceiver_resp seq=1 status=0xd")
	p.wantClosed()
	testutil.Eventually(t, "that is logged", func() bool { return g.log.count("no session: cannot log in", `"level":"warn"`) == 1 })
	g.outbind("transceiver")
	g.online("operator", 1)
}

// An SMSC of UCP connects and gives messages and notifications.
func TestUCPAccepted(t *testing.T) {
	parallel(t)
	for _, logsIn := range []bool{false, true} {
		options := "protocol: ucp, traffic: receiver"
		if logsIn {
			options += ", peer_password: s3cret"
		}
		sends := newSMSC(t)
		s := smscConnects(options + ", operator: telco")
		s.clients = "protocol: ucp"
		s.more += fmt.Sprintf("\n{name: sender, direction: out, address: %q, protocol: ucp, system_id: pmg, password: secret, static: true, operator: telco, traffic: transmitter}", sends.addr())
		s.routes = "{from: operator, to: {account: acme}}\n{to: sender}"
		g := start(t, s)
		smsc := sends.ucpSession()
		client := g.ucpClient()
		client.send("op51 seq=1 AdC=0046700000001 OAdC=1234 NRq=1 NT=3 MT=3")
		line := smsc.want("op51 seq=* AdC=0046700000001 OAdC=1234 NRq=1 NT=3 MT=3")
		smsc.send("op51_result seq=" + field(line, "seq") + " status=0 SM=0046700000001:010126000000")
		client.want("op51_result seq=1 status=0 SM=*")
		testutil.Eventually(t, "the message is sent", func() bool { return g.stats("sender").Sent.Load() == 1 }) // without a store nothing keeps a receipt that comes first
		giver := &ucpPeer{t: t, conn: g.dial("operator").conn}
		if logsIn {
			giver.send("op60 seq=0 OAdC=smsc OTON=6 ONPI=5 STYP=1 PWD=733363726574 VERS=0100")
			giver.want("op60_result seq=0 status=0")
		}
		giver.send("op53 seq=1 AdC=1234 OAdC=0046700000001 SCTS=010126000000 Dst=0 Rsn=000 DSCTS=020126000000 MT=3")
		giver.want("op53_result seq=1 status=0")
		giver.send(`op52 seq=2 AdC=1234 OAdC=0046700000001 SCTS=010126000000 MT=3 AMsg="hello"`)
		giver.want("op52_result seq=2 status=0")
		for range 2 {
			line, err := client.next()
			if err != nil || !containsAll(line, []string{"AdC=1234", "OAdC="}) {
				t.Fatalf("got %s, %v", line, err)
			}
			client.send(line[:4] + "_result seq=" + field(line, "seq") + " status=0")
		}
		late := &ucpPeer{t: t, conn: g.dial("operator").conn} // more than instances
		if logsIn {
			late.send("op60 seq=0 OAdC=smsc OTON=6 ONPI=5 STYP=1 PWD=733363726574 VERS=0100")
			late.want("op60_result seq=0 status=0x7(authentication_failure)")
		} else {
			late.send("op31 seq=1 AdC=1234 PID=0539")
		}
		if line, err := late.next(); err == nil {
			t.Errorf("got %s from a session too many", line)
		}
		testutil.Eventually(t, "nothing is under way", func() bool { return g.Pending() == 0 })
		giver.conn.Close()
		g.stop()
	}
}
