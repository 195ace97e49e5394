package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/internal/testutil"
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
