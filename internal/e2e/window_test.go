package e2e

import (
	"fmt"
	"slices"
	"testing"

	"pmg/internal/testkit/testutil"
)

// As many messages are under way as the window allows, and no more.
func TestWindow(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	g := start(t, site{operator: operator, out: "window: 5"})
	s, c := operator.session(), g.bind("transmitter")
	c.put(1, 20)
	under := s.take(1, 5)
	for n := 6; n <= 20; n++ {
		s.fence() // no further message has arrived
		s.answer(0, under[0])
		under = append(under[1:], s.take(n, n)...)
	}
	s.fence()
	s.answer(0, under...)
	testutil.Eventually(t, "everything is sent", func() bool { return g.stats("operator").Sent.Load() == 20 })
}

// Answers may come in any order, twice, and without a request.
func TestAnswersInDisorder(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	g := start(t, site{operator: operator, out: "window: 5"})
	s, c := operator.session(), g.bind("transmitter")
	for first := 1; first < 100; first += 5 {
		c.put(first, first+4)
		under := s.take(first, first+4)
		slices.Reverse(under)
		s.answer(0, "4711", under[0], under[1], under[0], under[2], "2147483647", under[3], under[4], under[4])
		s.fence()
	}
	c.put(101, 110)
	under := s.take(101, 105) // no more than before
	s.fence()
	s.answer(0, under...)
	under = s.take(106, 110)
	s.answer(0, under...)
	stats := g.stats("operator")
	testutil.Eventually(t, "everything is sent", func() bool { return stats.Sent.Load() == 110 })
	equal(t, "answers without a request", stats.Unmatched.Load(), 4*20)
}

// Messages that were under way when a connection is lost are sent again first, in order.
func TestConnectionLost(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	g := start(t, site{operator: operator, out: "window: 5"})
	s, c := operator.session(), g.bind("transmitter")
	c.put(1, 30)
	under := s.take(1, 5)
	s.answer(0, under[0], under[2])
	s.take(6, 7)
	s.conn.Close()
	s = operator.session()
	var sequences []string
	for _, n := range []int{2, 4, 5, 6, 7} {
		sequences = append(sequences, s.take(n, n)...)
	}
	s.answer(0, sequences...)
	s.serve(8, 30)
	testutil.Eventually(t, "everything is sent", func() bool { return g.stats("operator").Sent.Load() == 30 })
}

// A message whose answer never comes is sent again; the session goes on.
func TestNeverAnswered(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	g := start(t, site{operator: operator, out: "window: 2, response_timeout: 300ms, enquire_interval: 0s, " + again})
	s, c := operator.session(), g.bind("transmitter")
	c.put(1, 3)
	s.take(1, 1) // and no answer
	answered := map[string]bool{}
	for len(answered) < 3 { // on a slow machine other answers are late, too
		line := s.want("submit_sm")
		s.answer(0, field(line, "seq"))
		answered[field(line, "short_message")] = true
	}
	testutil.Eventually(t, "the answers were counted", func() bool { return g.stats("operator").Sent.Load() > 0 })
	if n := g.stats("operator").Retried.Load(); n == 0 {
		t.Error("nothing was put back")
	}
	equal(t, "sessions", g.stats("operator").Opened.Load(), 1)
}

// Unknown optional parameters are forwarded, in both directions, unless the peer's version
// has none.
func TestUnknownParameters(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	g := start(t, site{operator: operator, routes: "{from: operator, to: clients}\n{to: operator}"})
	params := []string{"tlv_0x1400=0102", "tlv_0x1401=", "tlv_0x3fff=ff", "user_message_reference=7"}
	for _, version := range []string{"", " sc_interface_version=52", " sc_interface_version=80", " sc_interface_version=51"} {
		s := operator.accept()
		bind := s.want("bind_transceiver")
		s.send(fmt.Sprintf("bind_transceiver_resp seq=%s status=0 system_id=SMSC%s", field(bind, "seq"), version))
		g.online("operator", 1)
		c := g.bind("transceiver")
		g.online("clients", 1)
		c.send(submitLine(2) + " tlv_0x1400=0102 user_message_reference=7 tlv_0x1401= tlv_0x3fff=ff")
		c.accepted(2, 2)
		if version == " sc_interface_version=51" {
			if got := s.want("submit_sm"); field(got, "tlv_0x1400") != "" {
				t.Errorf("to a peer of version 3.3: %s", got)
			}
		} else {
			got := s.want("submit_sm", params...)
			s.answer(0, field(got, "seq"))
			s.send(`deliver_sm seq=7 source_addr=46700000001 destination_addr=1234 short_message="hello" tlv_0x1400=0102 user_message_reference=7 tlv_0x1401= tlv_0x3fff=ff`)
			s.want("deliver_sm_resp", "seq=7", "status=0")
			got = c.want("deliver_sm", params...)
			c.send("deliver_sm_resp seq=" + field(got, "seq") + " status=0")
		}
		c.conn.Close()
		s.conn.Close()
		g.online("clients", 0)
		g.online("operator", 0)
	}
}
