package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/internal/testkit/testutil"
)

// ask sends a request and wants its answer, with these fields.
func (p *peer) ask(request string, fields ...string) {
	p.t.Helper()
	command, _, _ := strings.Cut(request, " ")
	p.send(request)
	p.want(command+"_resp", append(fields, "seq="+field(request, "seq"))...)
}

const (
	queryFail   = "status=0x67(ESME_RQUERYFAIL)"
	cancelFail  = "status=0x11(ESME_RCANCELFAIL)"
	replaceFail = "status=0x13(ESME_RREPLACEFAIL)"
	invalidID   = "status=0xc(ESME_RINVMSGID)"
)

// A message that waits is sent with the text and at the time that replace_sm gives it, and
// keeps its id and its place.
func TestReplace(t *testing.T) {
	parallel(t)
	stores(t, func(t *testing.T, s site) {
		s.out = "window: 1"
		g := start(t, s)
		c, smsc := g.bind("transmitter"), s.operator.session()
		g.online("operator", 1)
		c.submit(1, 4)
		ids := c.ids(1, 4)
		under := smsc.take(1, 1)
		replace := func(seq int, id, fields, text string) string {
			return fmt.Sprintf("replace_sm seq=%d message_id=%s source_addr=1234 %s short_message=%q", seq, id, fields, text)
		}
		c.ask(replace(11, ids[1], "", "too late"), replaceFail)
		c.ask(replace(12, ids[2], "schedule_delivery_time=x", "bad"), "status=0x61(ESME_RINVSCHED)")
		c.ask(replace(13, ids[2], "", "first"), "status=0")
		c.ask(replace(14, ids[2], "validity_period=000000010000000R registered_delivery=1", "second"), "status=0")
		c.ask(replace(15, ids[3], "schedule_delivery_time=000000010000000R", "later"), "status=0")
		c.ask("query_sm seq=16 message_id="+ids[3]+" source_addr=1234", "status=0", "message_state=1")
		equal(t, "messages are scheduled", g.Scheduled(), 1)
		smsc.answer(0, under...)
		line := smsc.want("submit_sm", `short_message="second"`, "registered_delivery=1")
		if field(line, "validity_period") == "" {
			t.Errorf("%s: no validity", line)
		}
		smsc.answer(0, field(line, "seq"))
		smsc.serve(4, 4)
		smsc.fence()
		c.ask(replace(17, ids[3], "schedule_delivery_time=000000000000000R", "now"), "status=0")
		line = smsc.want("submit_sm", `short_message="now"`)
		smsc.answer(0, field(line, "seq"))
		testutil.Eventually(t, "all have ended", func() bool { return g.Pending() == 0 && g.Scheduled() == 0 })
	})
}

// What was cancelled does not come back with a power cut, and what was replaced is sent as it is
// since.
func TestOperationsOutlast(t *testing.T) {
	parallel(t)
	s := site{operator: newSMSC(t), out: "window: 1", store: vfs.NewCrashableMem()}
	g := start(t, s)
	c, smsc := g.bind("transmitter"), s.operator.session()
	g.online("operator", 1)
	c.submit(1, 4)
	ids := c.ids(1, 4)
	smsc.take(1, 1)
	c.ask("cancel_sm seq=10 message_id="+ids[2]+" source_addr=1234", "status=0")
	c.ask(`replace_sm seq=11 message_id=`+ids[3]+` source_addr=1234 short_message="new"`, "status=0")
	g = g.powerCut(&s, c, smsc)
	smsc = s.operator.session()
	smsc.serve(1, 1)
	line := smsc.want("submit_sm", `short_message="new"`)
	c = g.bind("transmitter")
	c.ask("cancel_sm seq=12 message_id="+ids[4]+" source_addr=1234", "status=0")
	smsc.answer(0, field(line, "seq"))
	smsc.fence()
	g.settled()
}

// Without an id a client cancels all of its messages to a destination, or those of a
// service_type.
func TestCancelDestination(t *testing.T) {
	parallel(t)
	stores(t, func(t *testing.T, s site) {
		s.out = "window: 1"
		g := start(t, s)
		c, smsc := g.bind("transmitter"), s.operator.session()
		other := g.dial("clients")
		other.bind("transmitter", "other", "s3cret")
		g.online("operator", 1)
		c.submit(1, 3)
		c.accepted(1, 3)
		other.submit(4, 4)
		other.accepted(4, 4)
		c.send(`submit_sm seq=5 service_type=CMT source_addr=1234 destination_addr=46700000001 short_message="5"`,
			`submit_sm seq=6 source_addr=1234 destination_addr=46700000002 short_message="6"`)
		c.accepted(5, 6)
		under := smsc.take(1, 1)
		c.ask("cancel_sm seq=10 service_type=CMT source_addr=1234 destination_addr=46700000001", "status=0")
		c.ask("cancel_sm seq=11 service_type=CMT source_addr=1234 destination_addr=46700000001", cancelFail)
		c.ask("cancel_sm seq=12 source_addr=1234 destination_addr=4670000000", cancelFail)
		c.ask("cancel_sm seq=13 source_addr=1234 destination_addr=46700000001", "status=0")
		smsc.answer(0, under...)
		smsc.serve(6, 6) // the accounts take turns
		smsc.serve(4, 4)
		smsc.fence()
		g.settled()
		if n := g.stats("operator").Cancelled.Load(); n != 3 {
			t.Errorf("%d messages are cancelled, want 3", n)
		}
	})
}

// A client names its messages by the addresses that it has given them, whatever rules have
// made of these.
func TestOperationsRewritten(t *testing.T) {
	parallel(t)
	s := site{operator: newSMSC(t), out: "window: 1", memory: true, clients: `rewrite: [{in: destination, strip: "467", add: "99"}, {in: source, default: "77"}]`}
	g := start(t, s)
	c, smsc := g.bind("transmitter"), s.operator.session()
	g.online("operator", 1)
	c.submit(1, 3)
	ids := c.ids(1, 3)
	smsc.want("submit_sm", "destination_addr=9900000001")
	c.send(`submit_sm seq=4 destination_addr=46700000001 short_message="4"`)
	ids[4] = c.ids(4, 4)[4]
	c.ask("query_sm seq=10 message_id="+ids[4], "status=0")
	c.ask("cancel_sm seq=11 message_id="+ids[4], "status=0")
	c.ask("cancel_sm seq=12 message_id="+ids[2]+" source_addr=1234 destination_addr=46700000001", "status=0")
	c.ask("cancel_sm seq=13 source_addr=1234 destination_addr=46700000001", "status=0")
	if n := g.Pending(); n != 1 {
		t.Errorf("%d messages wait, want the one under way", n)
	}
}

// A query finds the outcome of a message that has left if its client has asked for receipts. Of
// others nothing is known any more.
func TestQueryAfterwards(t *testing.T) {
	parallel(t)
	stores(t, func(t *testing.T, s site) {
		s.out = "window: 10"
		g := start(t, s)
		c, smsc := g.bind("transceiver"), s.operator.session()
		g.online("operator", 1)
		other := g.dial("clients")
		other.bind("transmitter", "other", "s3cret")
		c.submit(1, 3, "registered_delivery=1")
		c.submit(4, 4)
		ids := c.ids(1, 4)
		smsc.answer(0, smsc.take(1, 1)...)
		second := smsc.take(2, 2) // which is its id, too
		smsc.answer(0, second...)
		smsc.answer(0x45, smsc.take(3, 3)...) // ESME_RSUBMITFAIL
		under := smsc.take(4, 4)
		smsc.answer(0, under...)
		c.until(func(line string) bool { // the receipt of the gateway's own
			if field(line, "short_message") == "" {
				return false
			}
			c.send("deliver_sm_resp seq=" + field(line, "seq") + " status=0")
			return true
		})
		g.settled()
		query := func(p *peer, n int, fields ...string) {
			t.Helper()
			p.ask(fmt.Sprintf("query_sm seq=%d message_id=%s source_addr=1234", 10+n, ids[n]), fields...)
		}
		forwarded := func(n int, request string, fields ...string) {
			t.Helper()
			asked(c, smsc, fmt.Sprintf("%s seq=%d message_id=%s source_addr=1234", request, 10+n, ids[n]), nil, "status=0x8", fields...)
		}
		forwarded(1, "query_sm", "status=0", "message_state=1")
		forwarded(2, "query_sm", "status=0", "message_state=1")
		query(c, 3, "status=0", "message_state=8")
		query(c, 4, queryFail)
		query(other, 1, queryFail)
		c.ask("query_sm seq=20 message_id="+ids[1]+" source_addr=1235", queryFail)
		forwarded(1, "cancel_sm", cancelFail)
		smsc.send(`deliver_sm seq=7 source_addr=46700000001 destination_addr=1234 esm_class=4 short_message="id:` + second[0] + ` submit date:2611201200 done date:3711201201 stat:DELIVRD"`)
		smsc.want("deliver_sm_resp", "seq=7", "status=0")
		c.send("deliver_sm_resp seq=" + field(c.want("deliver_sm"), "seq") + " status=0")
		forwarded(1, "query_sm", "status=0", "message_state=1")
		query(c, 2, "status=0", "message_state=2", "final_date=371120120100000+")
		smsc.send(`deliver_sm seq=8 source_addr=46700000001 destination_addr=1234 esm_class=32 short_message="id:` + second[0] + ` submit date:2611201200 done date:3711201202 stat:ENROUTE"`)
		smsc.want("deliver_sm_resp", "seq=8", "status=0")
		query(c, 2, "status=0", "message_state=2", "final_date=371120120100000+") // T9
	})
}

// A message is not replaced by a text that its connector would have to split.
func TestReplaceTooLong(t *testing.T) {
	parallel(t)
	stores(t, func(t *testing.T, s site) {
		s.out = "window: 1, long_messages: split8"
		g := start(t, s)
		c, smsc := g.bind("transmitter"), s.operator.session()
		g.online("operator", 1)
		c.submit(1, 2)
		ids := c.ids(1, 2)
		under := smsc.take(1, 1)
		long := strings.Repeat("0123456789", 17)
		c.ask("replace_sm seq=10 message_id="+ids[2]+` source_addr=1234 short_message="`+long+`"`, "status=0x1(ESME_RINVMSGLEN)")
		c.ask("replace_sm seq=11 message_id="+ids[2]+` source_addr=1234 short_message="`+long[:160]+`"`, "status=0")
		smsc.answer(0, under...)
		smsc.answer(0, field(smsc.want("submit_sm", `short_message="`+long[:160]+`"`), "seq"))
		g.settled()
	})
}

// A9, P8: a client may cancel a campaign as fast as it was submitted: nothing ends its session. An
// account's rate holds for that, too.
func TestA9CancelsEndNothing(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	operator.down()
	g := start(t, site{operator: operator, store: vfs.NewMem(), out: "static: false", accounts: "{system_id: slow, password: s3cret, rate: 5}"})
	c := g.bind("transmitter")
	const campaign, at = 480, 16 // at: as many as a session may have under way
	c.submit(1, campaign)
	ids := c.ids(1, campaign)
	for n := 1; n <= campaign; n += at {
		var lines []string
		for i := n; i < n+at; i++ {
			lines = append(lines, fmt.Sprintf("cancel_sm seq=%d message_id=%s source_addr=1234", i, ids[i]))
		}
		c.send(lines...)
		for range at {
			c.want("cancel_sm_resp", "status=0")
		}
	}
	c.fence()
	testutil.Eventually(t, "nothing is left", func() bool { return g.Pending() == 0 })

	slow := g.dial("clients")
	slow.bind("transmitter", "slow", "s3cret")
	var lines []string
	for n := range 500 {
		lines = append(lines, fmt.Sprintf("query_sm seq=%d message_id=%s source_addr=1234", n+1, ids[1]))
	}
	slow.send(lines...)
	got := map[string]int{}
	for range lines {
		got[field(slow.want("query_sm_resp"), "status")]++
	}
	if got["0x58(ESME_RTHROTTLED)"] < 400 || got["0x67(ESME_RQUERYFAIL)"] == 0 {
		t.Errorf("the answers to 500 queries of an account with a rate of 5: %v", got)
	}
	slow.fence()
}

// Operations about one message are carried out in the order in which they came, also when they
// come together: a message that was asked about, or replaced, is then cancelled.
func TestOperationsInOrder(t *testing.T) {
	parallel(t)
	stores(t, func(t *testing.T, s site) {
		s.operator.down()
		s.out = "static: false"
		g := start(t, s)
		c := g.bind("transmitter")
		const n = 20
		c.submit(1, n)
		for i, id := range c.ids(1, n) {
			of := fmt.Sprintf("message_id=%s source_addr=1234", id)
			c.send("query_sm seq=1 "+of, "replace_sm seq=2 "+of+" short_message=\"other\"", "query_sm seq=3 "+of,
				"replace_sm seq=4 "+of+" short_message=\"another\"", "cancel_sm seq=5 "+of, "query_sm seq=6 "+of)
			got := map[string]string{}
			for range 6 {
				line, err := c.next()
				if err != nil {
					t.Fatal(err)
				}
				got[field(line, "seq")] = field(line, "status")
			}
			for seq, want := range map[string]string{"1": "0", "2": "0", "3": "0", "4": "0", "5": "0", "6": "0x67(ESME_RQUERYFAIL)"} {
				if got[seq] != want {
					t.Fatalf("message %d: request %s is answered with %s, want %s: %v", i, seq, got[seq], want, got)
				}
			}
		}
	})
}

// A message that waits can be cancelled: it is never sent. One that is under way cannot.
func TestCancel(t *testing.T) {
	parallel(t)
	stores(t, func(t *testing.T, s site) {
		s.out = "window: 1"
		g := start(t, s)
		c, smsc := g.bind("transmitter"), s.operator.session()
		g.online("operator", 1)
		c.submit(1, 4)
		ids := c.ids(1, 4)
		under := smsc.take(1, 1)
		c.ask("cancel_sm seq=10 message_id="+ids[1]+" source_addr=1234", cancelFail)
		c.ask("cancel_sm seq=11 message_id="+ids[2]+" source_addr=1235", cancelFail)
		c.ask("cancel_sm seq=12 message_id="+ids[2]+" source_addr=1234 destination_addr=46700000009", cancelFail)
		c.ask("cancel_sm seq=13 message_id="+ids[2]+" source_addr=1234", "status=0")
		c.ask("cancel_sm seq=14 message_id="+ids[2]+" source_addr=1234", cancelFail)
		smsc.answer(0, under...)
		smsc.serve(3, 4)
		smsc.fence()
		g.settled()
		if n, failed := g.stats("operator").Cancelled.Load(), g.stats("operator").Failed.Load(); n != 1 || failed != 0 {
			t.Errorf("%d messages are cancelled, want 1, and %d have failed", n, failed)
		}
	})
}

// A client of SMPP 3.3 asks for messages that wait, and cancels them, by ids of 8 characters. The queries
// that only that version has are refused.
func TestQueries33(t *testing.T) {
	parallel(t)
	stores(t, func(t *testing.T, s site) {
		s.out = "window: 1"
		g := start(t, s)
		smsc, c := s.operator.session(), g.dial("clients")
		g.online("operator", 1)
		c.send("bind_transmitter seq=1 system_id=acme password=s3cret interface_version=0x33")
		c.want("bind_transmitter_resp", "status=0")
		c.submit(1, 4)
		ids := c.ids(1, 4)
		under := smsc.take(1, 1)
		other := g.dial("clients")
		other.bind("transmitter", "other", "s3cret")
		other.submit(5, 5)
		other.accepted(5, 5)
		c.ask("query_last_msgs seq=10 source_addr=1234 num_msgs=2", queryFail)
		c.ask("query_msg_details seq=12 message_id="+ids[3]+" source_addr=1234 sm_length=160", queryFail)
		c.ask("query_sm seq=13 message_id="+ids[3]+" source_addr=1234", "status=0", "message_state=1")
		c.ask("cancel_sm seq=14 message_id="+ids[3]+" source_addr=1234", "status=0")
		smsc.answer(0, under...)
		for range 3 {
			smsc.answer(0, field(smsc.want("submit_sm"), "seq"))
		}
		g.settled()
	})
}
