package e2e

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pmg/internal/testutil"
)

// As many messages are under way as the window allows, and no more.
func window(t *testing.T, a architecture) {
	operator := newSMSC(t)
	g := startOn(t, a, site{operator: operator, out: "window: 5"})
	s, c := operator.session(), g.bind("transmitter")
	c.submit(1, 20)
	c.accepted(1, 20)
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
func answersInDisorder(t *testing.T, a architecture) {
	operator := newSMSC(t)
	g := startOn(t, a, site{operator: operator, out: "window: 5"})
	s, c := operator.session(), g.bind("transmitter")
	for first := 1; first < 100; first += 5 {
		c.submit(first, first+4)
		c.accepted(first, first+4)
		under := s.take(first, first+4)
		slices.Reverse(under)
		s.answer(0, "4711", under[0], under[1], under[0], under[2], "2147483647", under[3], under[4], under[4])
		s.fence()
	}
	c.submit(101, 110)
	c.accepted(101, 110)
	under := s.take(101, 105) // no more than before
	s.fence()
	s.answer(0, under...)
	under = s.take(106, 110)
	s.answer(0, under...)
	stats := g.stats("operator")
	testutil.Eventually(t, "everything is sent", func() bool { return stats.Sent.Load() == 110 })
	if n := stats.Unmatched.Load(); n != 4*20 {
		t.Errorf("%d answers without a request", n)
	}
}

// Messages that were under way when a connection is lost are sent again first, in order.
func connectionLost(t *testing.T, a architecture) {
	operator := newSMSC(t)
	g := startOn(t, a, site{operator: operator, out: "window: 5"})
	s, c := operator.session(), g.bind("transmitter")
	c.submit(1, 30)
	c.accepted(1, 30)
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
func neverAnswered(t *testing.T, a architecture) {
	operator := newSMSC(t)
	g := startOn(t, a, site{operator: operator, out: "window: 2, response_timeout: 300ms, enquire_interval: 0s, " + again})
	s, c := operator.session(), g.bind("transmitter")
	c.submit(1, 3)
	c.accepted(1, 3)
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
	if n := g.stats("operator").Opened.Load(); n != 1 {
		t.Errorf("%d sessions", n)
	}
}

// With on_unknown: fail it is given up.
func neverAnsweredFails(t *testing.T, a architecture) {
	operator := newSMSC(t)
	g := startOn(t, a, site{operator: operator, out: "response_timeout: 300ms, enquire_interval: 0s, on_unknown: fail"})
	s, c := operator.session(), g.bind("transmitter")
	c.submit(1, 1)
	c.accepted(1, 1)
	s.take(1, 1)
	testutil.Eventually(t, "it is given up", func() bool { return g.stats("operator").Failed.Load() == 1 && g.Pending() == 0 })
	s.fence()
}

// After an SMSC has throttled, the gateway pauses for a while, and then sends the same
// message again before all others.
func throttled(t *testing.T, a architecture) {
	operator := newSMSC(t)
	g := startOn(t, a, site{operator: operator, out: "window: 3, throttle_pause: 100ms"})
	s, c := operator.session(), g.bind("transmitter")
	c.submit(1, 20)
	c.accepted(1, 20)
	first := 1
	for _, status := range []int{0x58, 0x58} {
		under := s.take(first, first+2)
		began := time.Now()
		s.answer(status, under[0])
		s.answer(0, under[1:]...)
		s.serve(first, first)
		if pause := time.Since(began); pause < 100*time.Millisecond {
			t.Errorf("paused for %s", pause)
		}
		first += 3
	}
	for first <= 20 {
		s.serve(first, first)
		first++
	}
	stats := g.stats("operator")
	testutil.Eventually(t, "everything is sent", func() bool { return stats.Sent.Load() == 20 })
	if n := stats.Retried.Load(); n != 2 {
		t.Errorf("%d messages were put back", n)
	}
}

// A message that an SMSC refuses permanently is given up and counted. One that it refuses
// temporarily is tried again, as often as the configuration says.
func refused(t *testing.T, a architecture) {
	operator := newSMSC(t)
	g := startOn(t, a, site{operator: operator, out: "window: 1, retry: [10ms, 20ms]"})
	s, c := operator.session(), g.bind("transmitter")
	stats := g.stats("operator")
	for i, status := range []int{0x45, 0x0B, 0x66, 0x4FF} {
		c.submit(i, i)
		c.accepted(i, i)
		s.answer(status, s.take(i, i)...)
		testutil.Eventually(t, "it is given up", func() bool { return stats.Failed.Load() == int64(i+1) && g.Pending() == 0 })
	}
	c.submit(10, 10)
	c.accepted(10, 10)
	for range 3 {
		s.answer(8, s.take(10, 10)...)
	}
	testutil.Eventually(t, "it is given up", func() bool { return stats.Failed.Load() == 5 && g.Pending() == 0 })
	c.submit(11, 11)
	c.accepted(11, 11)
	s.answer(8, s.take(11, 11)...)
	s.serve(11, 11)
	testutil.Eventually(t, "it is sent", func() bool { return stats.Sent.Load() == 1 })
	if n := stats.Retried.Load(); n != 3 {
		t.Errorf("%d messages were put back", n)
	}
}

// Unknown optional parameters are forwarded, in both directions, unless the peer's version
// has none.
func unknownParameters(t *testing.T, a architecture) {
	operator := newSMSC(t)
	g := startOn(t, a, site{operator: operator, routes: "{from: operator, to: clients}\n{to: operator}"})
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
