package e2e

import (
	"fmt"
	"strings"
	"testing"

	"pmg/internal/testkit/testutil"
)

// asked sends a client's operation, wants it at the SMSC with these fields, answers there, and
// wants the answer at the client.
func asked(c, smsc *peer, request string, there []string, answer string, here ...string) {
	c.t.Helper()
	command, _, _ := strings.Cut(request, " ")
	c.send(request)
	line := smsc.want(command, there...)
	if answer != "" {
		smsc.send(fmt.Sprintf("%s_resp seq=%s %s", command, field(line, "seq"), answer))
	}
	c.want(command+"_resp", append(here, "seq="+field(request, "seq"))...)
}

// An operation about a message that an SMSC has accepted is the SMSC's to carry out: it gets its
// own id and the addresses that it knows, and its answer goes to the client.
func TestForward(t *testing.T) {
	parallel(t)
	stores(t, func(t *testing.T, s site) {
		s.out = `window: 10, rewrite: [{out: source, match: "1234", set: PMG}]`
		g := start(t, s)
		c, smsc := g.bind("transmitter"), s.operator.session()
		g.online("operator", 1)
		other := g.dial("clients")
		other.bind("transmitter", "other", "s3cret")
		id := c.submitOne(1, "registered_delivery=1")
		seq := smsc.take(1, 1)[0]
		smsc.send("submit_sm_resp seq=" + seq + " status=0 message_id=smsc-7")
		smsc.fence()
		g.settled()
		there := []string{"message_id=smsc-7", "source_addr=PMG"}
		query := func(seq int) string { return fmt.Sprintf("query_sm seq=%d message_id=%s source_addr=1234", seq, id) }
		cancel := func(seq int) string { return fmt.Sprintf("cancel_sm seq=%d message_id=%s source_addr=1234", seq, id) }
		replace := func(seq int, more string) string {
			return fmt.Sprintf("replace_sm seq=%d message_id=%s source_addr=1234 %s", seq, id, more)
		}
		other.ask(query(2), queryFail)
		other.ask(cancel(3), cancelFail)
		other.ask(replace(4, `short_message="theirs"`), replaceFail)
		c.ask("cancel_sm seq=9 message_id="+id+" source_addr=1234 destination_addr=46700000009", cancelFail)
		asked(c, smsc, query(10), there, "status=0 message_id=smsc-7 message_state=6", "status=0", "message_id="+id, "message_state=6")
		asked(c, smsc, query(11), there, "status=0 message_id=smsc-7 final_date=261120120100000+ message_state=5 error_code=17",
			"status=0", "message_id="+id, "message_state=5", "final_date=261120120100000+", "error_code=17")
		asked(c, smsc, query(12), there, "status=0x67", "status=0", "message_state=1") // the gateway knows that it was accepted
		asked(c, smsc, replace(13, `validity_period=371130120000000+ registered_delivery=1 short_message="new"`),
			append(there, `short_message="new"`, "registered_delivery=1", "validity_period=371130120000000+"), "status=0", "status=0")
		asked(c, smsc, replace(14, `short_message="newer"`), append(there, `short_message="newer"`), "status=0x13", replaceFail)
		c.ask(replace(15, "schedule_delivery_time=x"), "status=0x61(ESME_RINVSCHED)")
		asked(c, smsc, cancel(16), append(there, "destination_addr=46700000001"), "status=0", "status=0")
		asked(c, smsc, cancel(17), there, "status=0xc", invalidID)
		asked(c, smsc, cancel(18), there, "status=0x3", cancelFail)
		g.submitStill(c, smsc)
	})
}

// submitStill sends a message, and checks that nothing is under way but that and that it is the
// second one.
func (g *gw) submitStill(c, smsc *peer) {
	g.t.Helper()
	c.submit(2, 2)
	c.accepted(2, 2)
	smsc.serve(2, 2)
	smsc.fence()
	testutil.Eventually(g.t, "nothing is under way", func() bool {
		stats := g.stats("operator")
		return g.Pending() == 0 && stats.InFlight.Load() == 0 && stats.Queued.Load() == 0 && stats.Sent.Load() == 2
	})
}

// A client is answered although the SMSC is not heard of any more, and the slot is free again.
func TestForwardUnanswered(t *testing.T) {
	parallel(t)
	s := site{operator: newSMSC(t), out: "window: 1, response_timeout: 5s", memory: true}
	g := start(t, s)
	c, smsc := g.bind("transmitter"), s.operator.session()
	g.online("operator", 1)
	id := c.submitOne(1, "registered_delivery=1")
	smsc.serve(1, 1)
	smsc.fence()
	g.settled()
	cancel := func(seq int) string { return fmt.Sprintf("cancel_sm seq=%d message_id=%s source_addr=1234", seq, id) }
	c.send(cancel(10))
	late := smsc.want("cancel_sm")
	c.want("cancel_sm_resp", "seq=10", cancelFail) // no answer has come
	c.ask(cancel(11), cancelFail)                  // and it is not asked for a while
	smsc.send("cancel_sm_resp seq=" + field(late, "seq") + " status=0")
	smsc.fence()
	c.send(cancel(12))
	smsc.want("cancel_sm")
	smsc.conn.Close()
	c.want("cancel_sm_resp", "seq=12", cancelFail) // its session is over
	smsc = s.operator.session()
	g.online("operator", 1)
	asked(c, smsc, cancel(13), nil, "status=0", "status=0")
	s.operator.down()
	smsc.conn.Close()
	g.online("operator", 0)
	c.ask(cancel(14), cancelFail)
	c.ask("query_sm seq=15 message_id="+id+" source_addr=1234", "status=0", "message_state=1")
	s.operator.up()
	smsc = s.operator.session()
	g.online("operator", 1)
	g.submitStill(c, smsc)
}

// However many operations a client sends, few are under way towards the SMSC.
func TestForwardMany(t *testing.T) {
	parallel(t)
	s := site{operator: newSMSC(t), out: "window: 100", memory: true}
	g := start(t, s)
	c, smsc := g.bind("transmitter"), s.operator.session()
	g.online("operator", 1)
	id := c.submitOne(1, "registered_delivery=1")
	smsc.serve(1, 1)
	smsc.fence()
	g.settled()
	const all, most = 60, 16
	var lines []string
	for n := range all {
		lines = append(lines, fmt.Sprintf("query_sm seq=%d message_id=%s source_addr=1234", 100+n, id))
	}
	c.send(lines...)
	for range all - most {
		c.want("query_sm_resp", "status=0x58(ESME_RTHROTTLED)")
	}
	for range most {
		smsc.send("query_sm_resp seq=" + field(smsc.want("query_sm"), "seq") + " status=0 message_id=1 final_date=261120120100000+ message_state=2")
		c.want("query_sm_resp", "status=0", "message_state=2")
	}
	g.submitStill(c, smsc)
	c.send(lines[0])
	smsc.want("query_sm") // and the gateway is closed
}

// An answer to a request of another kind accepts nothing.
func TestForwardConfused(t *testing.T) {
	parallel(t)
	s := site{operator: newSMSC(t), out: "window: 10, retry: [10ms, repeat]", memory: true}
	g := start(t, s)
	c, smsc := g.bind("transmitter"), s.operator.session()
	g.online("operator", 1)
	id := c.submitOne(1, "registered_delivery=1")
	smsc.send("cancel_sm_resp seq=" + smsc.take(1, 1)[0] + " status=0")
	smsc.serve(1, 1) // it comes again
	smsc.fence()
	g.settled()
	c.send("cancel_sm seq=10 message_id=" + id + " source_addr=1234")
	smsc.answer(0, field(smsc.want("cancel_sm"), "seq"))
	c.want("cancel_sm_resp", "seq=10", cancelFail)
	c.send("cancel_sm seq=11 message_id=" + id + " source_addr=1234")
	smsc.send("query_sm_resp seq=" + field(smsc.want("cancel_sm"), "seq") + " status=0 message_id=1 message_state=5")
	c.want("cancel_sm_resp", "seq=11", cancelFail)
	c.send("cancel_sm seq=12 message_id=" + id + " source_addr=1234")
	smsc.send("generic_nack seq=" + field(smsc.want("cancel_sm"), "seq") + " status=0x58")
	c.want("cancel_sm_resp", "seq=12", "status=0x58(ESME_RTHROTTLED)") // a refusal needs no body
	g.submitStill(c, smsc)
}

// A receipt of a message that was replaced at the SMSC is one that the client asked for when it
// replaced the message.
func TestForwardReplaceNotify(t *testing.T) {
	parallel(t)
	stores(t, func(t *testing.T, s site) {
		g := start(t, s)
		c, smsc := g.bind("transceiver"), s.operator.session()
		g.online("operator", 1)
		c.submit(1, 1, "registered_delivery=2")
		id := c.ids(1, 1)[1]
		smsc.send("submit_sm_resp seq=" + smsc.take(1, 1)[0] + " status=0 message_id=57")
		smsc.fence()
		g.settled()
		replace := fmt.Sprintf(`replace_sm seq=2 message_id=%s source_addr=1234 registered_delivery=1 short_message="new"`, id)
		asked(c, smsc, replace, []string{"message_id=57", "registered_delivery=1"}, "status=0", "status=0")
		smsc.receipt(101, "57", "DELIVRD")
		c.wantReceipt(id, "DELIVRD")
		c.ask("query_sm seq=3 message_id="+id+" source_addr=1234", "status=0", "message_state=2")
	})
}

// Operations about messages that asked for no receipt reach the SMSC where its connector says so.
func TestForwardAll(t *testing.T) {
	parallel(t)
	stores(t, func(t *testing.T, s site) {
		second := newSMSC(t)
		s.more = fmt.Sprintf("{name: second, direction: out, address: %q, system_id: pmg, password: secret, operations: true}", second.addr())
		s.routes = "{destination: \"46700000001\", to: second}\n{to: operator}"
		g := start(t, s)
		c, without, with := g.bind("transceiver"), s.operator.session(), second.session()
		g.online("operator", 1)
		g.online("second", 1)
		c.send(`submit_sm seq=1 source_addr=1234 destination_addr=46700000002 short_message="1"`)
		unknown := c.ids(1, 1)[1]
		without.serve(1, 1)
		without.fence()
		c.submit(2, 2)
		id := c.ids(2, 2)[2]
		with.send("submit_sm_resp seq=" + with.take(2, 2)[0] + " status=0 message_id=57")
		with.fence()
		g.settled()
		about := func(command string, seq int, id string) string {
			return fmt.Sprintf("%s seq=%d message_id=%s source_addr=1234", command, seq, id)
		}
		there := []string{"message_id=57"}
		asked(c, with, about("query_sm", 10, id), there, "status=0 message_id=57 message_state=2", "status=0", "message_id="+id, "message_state=2")
		asked(c, with, about("cancel_sm", 11, id), there, "status=0x11", cancelFail)
		asked(c, with, about("replace_sm", 12, id)+` registered_delivery=1 short_message="new"`, there, "status=0", "status=0")
		with.receipt(101, "57", "DELIVRD")
		c.wantReceipt(id, "DELIVRD")
		c.ask(about("query_sm", 13, unknown), queryFail)
		c.ask(about("cancel_sm", 14, unknown), cancelFail)
		without.fence()
		if !without.silent("_sm") {
			t.Error("an SMSC was asked of which the gateway does not know what it has")
		}
	})
}
