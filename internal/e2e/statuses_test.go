package e2e

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"pmg/internal/testutil"
)

const nackOfUnknown = "generic_nack seq=0 status=3"

// P6: an SMSC that has lost our login says so to every message. The session ends, and the messages
// go on in the next one, in their order.
func TestP6SessionIsRefused(t *testing.T) {
	each(t, func(t *testing.T, a architecture) {
		operator := newSMSC(t)
		g := start(t, a, site{operator: operator, out: "window: 3"})
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
	})
}

// P6: one message that is answered so again and again is sent alone, and is given up at last. The
// others are delivered.
func TestP6MessageEndsSessions(t *testing.T) {
	each(t, func(t *testing.T, a architecture) {
		operator := newSMSC(t)
		g := start(t, a, site{operator: operator, out: "window: 3, retry: {lost: [1ms]}"})
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
	})
}

// P6: what an SMSC's own statuses mean, and others that it uses in its own way, is an option.
func TestP6Statuses(t *testing.T) {
	each(t, func(t *testing.T, a architecture) {
		operator := newSMSC(t)
		g := start(t, a, site{operator: operator, out: "window: 1, throttle_pause: 1ms, retry: {temporary: [1ms, repeat]}, " +
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
	})
}

// I14: a generic_nack without a sequence number is about the only request under way. With several
// under way, which one is not known: the session ends, and they are sent again. With none it is
// nothing to us.
func TestI14NackWithoutNumber(t *testing.T) {
	each(t, func(t *testing.T, a architecture) {
		operator := newSMSC(t)
		g := start(t, a, site{operator: operator, out: "window: 2"})
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
	})
}

// P12, I7: a client that says an old version and means another gets receipts with optional
// parameters, by an option. What an SMSC of an old version is not sent is counted, and logged once.
func TestI7VersionAtLeast(t *testing.T) {
	each(t, func(t *testing.T, a architecture) {
		operator := newSMSC(t)
		g := start(t, a, site{operator: operator, clients: "version_at_least: 3.4", out: "version: 3.3"})
		s, c := operator.session(), g.dial("clients")
		c.send("bind_transceiver seq=1 system_id=acme password=s3cret interface_version=0")
		c.want("bind_transceiver_resp", "status=0", "sc_interface_version=52")
		g.online("operator", 1)
		id := c.submitted(s, 1, "77", "tlv_0x1400=0102")
		s.receipt(2, "77", "DELIVRD")
		if line := c.wantReceipt(id, "DELIVRD"); len(id) != 16 || field(line, "message_state") != "2" {
			t.Errorf("the receipt of %s is %s", id, line)
		}
		if n := g.stats("operator").Lost.Counts()["optional_parameters"]; n != 1 {
			t.Errorf("%d losses are counted: %v", n, g.stats("operator").Lost.Counts())
		}
		if g.log.count("has lost a field", "optional_parameters", "operator") != 1 {
			t.Error("the log does not say so")
		}
	})
}

// I8: a receipt with octets behind its text reaches its client, although the id that it is about
// came without its NUL. Both are counted.
func TestI8TakenPartly(t *testing.T) {
	each(t, func(t *testing.T, a architecture) {
		operator := newSMSC(t)
		g := start(t, a, site{operator: operator})
		s, c := operator.session(), g.bind("transceiver")
		g.online("operator", 1)
		id := c.submitOne(1, asks)
		var seq uint32
		_, _ = fmt.Sscan(field(s.want("submit_sm"), "seq"), &seq)
		s.write(append(binary.BigEndian.AppendUint32([]byte{0, 0, 0, 24, 0x80, 0, 0, 4, 0, 0, 0, 0}, seq), "ABCD1234"...))
		b := append(wire(t, smscReceipt(2, "ABCD1234", "DELIVRD")), 0, 0)
		binary.BigEndian.PutUint32(b, uint32(len(b)))
		s.write(b)
		s.want("deliver_sm_resp", "seq=2", "status=0")
		c.wantReceipt(id, "DELIVRD")
		if n := g.stats("operator").Partly.Load(); n != 2 {
			t.Errorf("%d PDUs are counted", n)
		}
		if g.log.count("cannot be read", "operator") != 1 {
			t.Error("the log does not say so, once")
		}
	})
}
