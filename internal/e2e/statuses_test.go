package e2e

import (
	"pmg/gateway/operate"
	"pmg/internal/testkit/testutil"
	"pmg/store"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

const nackOfUnknown = "generic_nack seq=0 status=3"

// P6: an SMSC that has lost our login says so to every message. The session ends, and the messages
// go on in the next one, in their order.
func TestP6SessionIsRefused(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	g := start(t, site{operator: operator, out: "window: 3"})
	s, c := operator.session(), g.bind("transmitter")
	g.online("operator", 1)
	c.submit(1, 10)
	c.accepted(1, 10)
	under := s.take(1, 3)
	s.answer(0x04, under[0])
	s.answer(0, under[1]) // an answer that was on its way
	s.answer(0x05, under[2])
	s.wantEOF()
	s = operator.session()
	s.serve(1, 1)
	s.serve(3, 10)
	testutil.Eventually(t, "all have ended", func() bool { return g.Pending() == 0 })
	if n := g.stats("operator").Failed.Load(); n != 0 {
		t.Errorf("%d messages are given up", n)
	}
	if g.log.count("session lost", "status 0x4 (ESME_RINVBNDSTS)") != 1 {
		t.Error("the log does not say why the session has ended")
	}
}

// P6: one message that is answered so again and again is sent alone, and is given up at last. The
// others are delivered.
func TestP6MessageEndsSessions(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	g := start(t, site{operator: operator, out: "window: 3, retry: {lost: [1ms]}"})
	c := g.bind("transmitter")
	c.submit(1, 5)
	c.accepted(1, 5)
	go func() {
		for {
			conn, err := operator.l.Accept()
			if err != nil {
				return // the SMSC is down
			}
			s := newPeer(t, conn)
			for line, err := s.next(); err == nil; line, err = s.next() {
				command, _, _ := strings.Cut(line, " ")
				answer := command + "_resp seq=" + field(line, "seq") + " status=0"
				if field(line, "short_message") == `"1"` {
					answer = command + "_resp seq=" + field(line, "seq") + " status=4"
				}
				_, _ = conn.Write(wire(t, answer))
			}
		}
	}()
	testutil.Eventually(t, "all have ended", func() bool { return g.Pending() == 0 })
	if n := g.stats("operator").Failed.Load(); n != 1 {
		t.Errorf("%d messages are given up", n)
	}
}

// P6: what an SMSC's own statuses mean, and others that it uses in its own way, is an option.
func TestP6Statuses(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	g := start(t, site{operator: operator, out: "window: 1, throttle_pause: 1ms, retry: {temporary: [1ms, repeat]}, " +
		"statuses: [{status: 0x14, is: throttled}, {status: [0x45, 0x400-0x40F], is: temporary}, {status: 0x58, is: permanent}, {status: 0xFE, is: session}]"})
	s, c := operator.session(), g.bind("transmitter")
	g.online("operator", 1)
	c.submit(1, 1)
	c.accepted(1, 1)
	for _, status := range []int{0x14, 0x45, 0x400, 0x40F} {
		s.answer(status, s.take(1, 1)...)
	}
	s.answer(0xFE, s.take(1, 1)...)
	s.wantEOF()
	s = operator.session()
	s.serve(1, 1)
	for n, status := range []int{0x410, 0x58} {
		c.submit(n+2, n+2)
		c.accepted(n+2, n+2)
		s.answer(status, s.take(n+2, n+2)...)
	}
	testutil.Eventually(t, "all have ended", func() bool { return g.Pending() == 0 })
	if n, throttled := g.stats("operator").Failed.Load(), g.stats("operator").Retried.Load(); n != 2 || throttled != 5 {
		t.Errorf("%d messages are given up, %d attempts were in vain", n, throttled)
	}
}

// I14: a generic_nack without a sequence number is about the only request under way. With several
// under way, which one is not known: the session ends, and they are sent again. With none it is
// nothing to us.
func TestI14NackWithoutNumber(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	g := start(t, site{operator: operator, out: "window: 2"})
	s, c := operator.session(), g.bind("transmitter")
	g.online("operator", 1)
	s.send(nackOfUnknown)
	s.fence()
	c.submit(1, 1)
	c.accepted(1, 1)
	s.take(1, 1)
	s.send(nackOfUnknown)
	testutil.Eventually(t, "the message is refused", func() bool { return g.Pending() == 0 })
	if n := g.stats("operator").Failed.Load(); n != 1 {
		t.Errorf("%d messages have failed", n)
	}
	c.submit(2, 4)
	c.accepted(2, 4)
	s.take(2, 3)
	s.send(nackOfUnknown)
	s.wantClosed()
	operator.session().serve(2, 4)
}

// P12, I7: a client that says an old version and means another gets receipts with optional
// parameters, by an option. What an SMSC of an old version is not sent is counted, and logged once.
func TestI7VersionAtLeast(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	g := start(t, site{operator: operator, store: vfs.NewMem(), clients: "version_at_least: 3.4", out: "version: 3.3"})
	s, c := operator.session(), g.dial("clients")
	c.send("bind_transceiver seq=1 system_id=acme password=s3cret interface_version=0")
	c.want("bind_transceiver_resp", "status=0", "sc_interface_version=52")
	g.online("operator", 1)
	id := c.submitted(s, 1, "77", "tlv_0x1400=0102")
	s.receipt(2, "77", "DELIVRD")
	if line := c.wantReceipt(id, "DELIVRD"); len(id) != 16 || field(line, "message_state") != "2" {
		t.Errorf("the receipt of %s is %s", id, line)
	}
	if n := g.stats("operator").FieldsLost.Counts()["optional_parameters"]; n != 1 {
		t.Errorf("%d losses are counted: %v", n, g.stats("operator").FieldsLost.Counts())
	}
	if g.log.count("has lost a field", "optional_parameters", "operator") != 1 {
		t.Error("the log does not say so")
	}
}

// T12: what a replace_sm that is sent on asks for is what the option receipts says, not what the
// client asks for.
func TestForwardReplaceReceipts(t *testing.T) {
	parallel(t)
	for option, want := range map[string]string{"force": "1", "never": ""} {
		operator := newSMSC(t)
		g := start(t, site{operator: operator, store: vfs.NewMem(), out: "operations: true, receipts: " + option})
		c, smsc := g.bind("transceiver"), operator.session()
		g.online("operator", 1)
		c.submit(1, 1)
		id := c.ids(1, 1)[1]
		smsc.answer(0, smsc.take(1, 1)...)
		smsc.fence()
		g.settled()
		ask := map[string]string{"force": "0", "never": "1"}[option]
		c.send(`replace_sm seq=2 message_id=` + id + ` source_addr=1234 registered_delivery=` + ask + ` short_message="new"`)
		line := smsc.want("replace_sm", `short_message="new"`)
		if got := field(line, "registered_delivery"); got != want {
			t.Errorf("receipts: %s: registered_delivery %q, want %q: %s", option, got, want, line)
		}
		smsc.send("replace_sm_resp seq=" + field(line, "seq") + " status=0")
		c.want("replace_sm_resp", "seq=2", "status=0")
	}
}

// A client cancels a message that is put aside because no route leads anywhere. It ends once.
func TestCancelParked(t *testing.T) {
	parallel(t)
	g := start(t, site{operator: newSMSC(t), store: vfs.NewMem(), top: "no_route: park\n", routes: `{to: operator, destination: "99"}`})
	c := g.bind("transmitter")
	c.submit(1, 2)
	ids := c.ids(1, 2)
	c.ask("cancel_sm seq=3 message_id="+ids[1]+" source_addr=1235", cancelFail)
	c.ask("cancel_sm seq=4 message_id="+ids[1]+" source_addr=1234", "status=0")
	c.ask("cancel_sm seq=5 message_id="+ids[1]+" source_addr=1234", cancelFail)
	g.wantStored(operate.StateParked)
	if n := g.Gateway.Keeper.Aside(store.Parked); n != 1 {
		t.Errorf("%d are parked", n)
	}
	c.ask("cancel_sm seq=6 source_addr=1234 destination_addr=46700000001", "status=0")
	g.wantStored()
	if n := g.Gateway.Keeper.Aside(store.Parked); n != 0 {
		t.Errorf("%d are parked", n)
	}
}

// O19: a peer that speaks another protocol is named in the gateway's log.
func TestO19OtherProtocols(t *testing.T) {
	parallel(t)
	g := start(t, site{})
	for first, name := range map[string]string{
		"GET / HTTP/1.1\r\nHost: pmg\r\n\r\n": "HTTP", "SSH-2.0-OpenSSH_9.2\r\n": "SSH",
		"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03aaaaaaa": "TLS", "\x0201/00045/O/60/07656765/6/5/1/": "UCP",
	} {
		p := g.dial("clients")
		p.write([]byte(first))
		testutil.Eventually(t, "the log names "+name, func() bool { return g.log.count(`"level":"warn"`, "clients", "looks like "+name) == 1 })
	}
}

// A status that ends the session may have a pause: the next session is bound, and gets nothing until the pause is over.
func TestSessionStatusPauses(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	g := start(t, site{operator: operator, memory: true, out: "statuses: [{status: 0x45, is: session, pause: 1h}]"})
	s, c := operator.session(), g.bind("transmitter")
	g.online("operator", 1)
	c.submit(1, 1)
	c.accepted(1, 1)
	s.answer(0x45, s.take(1, 1)...)
	s.wantEOF()
	s = operator.session()
	g.online("operator", 1)
	c.submit(2, 2)
	c.accepted(2, 2)
	s.fence()
	if !s.silent("submit_sm ") {
		t.Error("a message was sent in the pause")
	}
	if n := g.Pending(); n != 2 {
		t.Errorf("%d messages wait", n)
	}
}
