package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/internal/testkit/testutil"
)

// powerCut ends a gateway, and the connections of its peers, and starts another gateway that
// finds what was synced when powerCut was called.
func (g *gw) powerCut(s *site, peers ...*peer) *gw {
	g.t.Helper()
	s.store = s.store.(*vfs.MemFS).CrashClone(vfs.CrashCloneCfg{})
	s.operator.down()
	for _, p := range peers {
		p.conn.Close()
	}
	g.cut()
	s.operator = newSMSC(g.t)
	return start(g.t, *s)
}

// cut ends a gateway without a word to its peers, and without time to end or move messages: the
// files, which the next gateway uses, must not contain what happens after a power cut.
func (g *gw) cut() {
	g.once.Do(func() {
		g.t.Helper()
		if err := g.engine.Close(); err != nil {
			g.t.Errorf("cannot close the engine: %v", err)
		}
		g.closeGateway()
	})
}

// With on_unknown: fail no message that an SMSC may have is sent again after a power cut. Those
// that wait are.
func TestRestartFails(t *testing.T) {
	parallel(t)
	s := site{operator: newSMSC(t), out: "window: 3, on_unknown: fail", store: vfs.NewCrashableMem()}
	g := start(t, s)
	c, smsc := g.bind("transmitter"), s.operator.session()
	g.online("operator", 1)
	c.put(1, 6)
	smsc.answer(0, smsc.take(1, 3)[0])
	smsc.take(4, 4)
	testutil.Eventually(t, "the answer is stored", func() bool { return g.Pending() == 5 && g.synced() })
	g = g.powerCut(&s, c, smsc)
	smsc = s.operator.session()
	smsc.serve(5, 6)
	smsc.fence()
	g.settled()
	equal(t, "messages are given up, want 2, 3 and 4", g.stats("operator").Failed.Load(), 3)
	if n := g.log.count("message given up"); n == 0 {
		t.Error("the log does not say so")
	}
	g = g.powerCut(&s, smsc)
	smsc = s.operator.session()
	smsc.fence()
	if n := g.stats("operator").Failed.Load() + g.Pending(); n != 0 {
		t.Errorf("after another start %d messages are there again", n)
	}
}

// T10: messages that an SMSC never answers, and those behind them, are there after a power cut,
// in their order.
func TestRestartNeverAnswers(t *testing.T) {
	parallel(t)
	s := site{operator: newSMSC(t), out: "window: 4", store: vfs.NewCrashableMem()}
	g := start(t, s)
	c, smsc := g.bind("transmitter"), s.operator.session()
	g.online("operator", 1)
	c.put(1, 20)
	smsc.take(1, 4)
	smsc.fence()
	g = g.powerCut(&s, c, smsc)
	smsc = s.operator.session()
	smsc.serve(1, 20)
	g.settled()
}

// T11: an answer that comes after a restart, and to another session, belongs to no request. The
// message is sent again, once.
func TestRestartAnswersLate(t *testing.T) {
	parallel(t)
	s := site{operator: newSMSC(t), out: "window: 2", store: vfs.NewCrashableMem()}
	g := start(t, s)
	c, smsc := g.bind("transmitter"), s.operator.session()
	g.online("operator", 1)
	c.put(1, 2)
	late := smsc.take(1, 2)
	g = g.powerCut(&s, c, smsc)
	smsc = s.operator.session()
	now := smsc.take(1, 2)
	smsc.answer(0, "77", now[0], now[0], now[1], now[1], late[0], "78")
	smsc.fence()
	g.settled()
	equal(t, "messages count as sent", g.stats("operator").Sent.Load(), 2)
	g = g.powerCut(&s, smsc)
	smsc = s.operator.session()
	smsc.fence()
	if n := g.Pending(); n != 0 {
		t.Errorf("after another start %d messages wait", n)
	}
}

// T13: an SMSC that closes in the middle of a PDU leaves its window unknown: those messages are
// sent again, and no others, and a power cut behind that loses none.
func TestRestartClosesMidPDU(t *testing.T) {
	parallel(t)
	s := site{operator: newSMSC(t), out: "window: 5", store: vfs.NewCrashableMem()}
	g := start(t, s)
	c, smsc := g.bind("transmitter"), s.operator.session()
	g.online("operator", 1)
	c.put(1, 10)
	under := smsc.take(1, 5)
	smsc.answer(0, under[0])
	smsc.take(6, 6)
	half := wire(t, fmt.Sprintf("submit_sm_resp seq=%s status=0 message_id=half", under[1]))
	smsc.write(half[:len(half)-3])
	smsc.conn.Close()
	smsc = s.operator.session()
	smsc.take(2, 6) // 1 is not sent again
	g.sync()        // the end of 1 may wait for company
	g = g.powerCut(&s, c, smsc)
	smsc = s.operator.session()
	smsc.serve(2, 10)
	smsc.fence()
	g.settled()
}

// T13: an SMSC that is there no more without closing is found by keep-alives. What it had is
// sent to the next session, and after a power cut.
func TestRestartHalfOpen(t *testing.T) {
	parallel(t)
	s := site{operator: newSMSC(t), out: "window: 2, instances: 1, enquire_interval: 100ms, response_timeout: 3s, retry: [1ms, repeat]", store: vfs.NewCrashableMem()}
	g := start(t, s)
	c, smsc := g.bind("transmitter"), s.operator.session()
	g.online("operator", 1)
	c.put(1, 4)
	submit := func(line string) bool { return strings.HasPrefix(line, "submit_sm ") }
	smsc.until(submit)           // keep-alives may come before
	next := s.operator.session() // smsc answers nothing any more, and does not close
	next.until(submit)
	s.out = "window: 2"
	g = g.powerCut(&s, c, smsc, next)
	next = s.operator.session()
	got := map[string]bool{}
	for range 4 { // those that were tried may come behind the others
		line := next.want("submit_sm")
		got[field(line, "short_message")] = true
		next.answer(0, field(line, "seq"))
	}
	g.settled()
	if len(got) != 4 {
		t.Errorf("only %v have arrived", got)
	}
}

// T12: a message that is throttled or refused for a while keeps its attempts over a power cut,
// and is given up after the last.
func TestRestartKeepsAttempts(t *testing.T) {
	parallel(t)
	s := site{operator: newSMSC(t), out: "window: 1, retry: [1ms, 2ms]", store: vfs.NewCrashableMem()}
	g := start(t, s)
	c, smsc := g.bind("transmitter"), s.operator.session()
	g.online("operator", 1)
	c.put(1, 1)
	smsc.answer(0x14, smsc.take(1, 1)...) // ESME_RMSGQFUL
	smsc.answer(0x14, smsc.take(1, 1)...)
	smsc.take(1, 1)
	testutil.Eventually(t, "the attempts are stored", func() bool { return g.synced() })
	g = g.powerCut(&s, c, smsc)
	smsc = s.operator.session()
	smsc.answer(0x14, smsc.take(1, 1)...)
	testutil.Eventually(t, "it is given up", func() bool { return g.stats("operator").Failed.Load() == 1 })
	smsc.fence()
	equal(t, "messages wait", g.Pending(), 0)
}

// T21: messages for a receiver that never reads stay queued over a power cut, and no answer is
// taken for granted.
func TestRestartReceiverNeverReads(t *testing.T) {
	parallel(t)
	s := site{operator: newSMSC(t), clients: "window: 5", accounts: "{system_id: receiver, password: s3cret}",
		routes: "{to: {account: receiver}}", store: vfs.NewCrashableMem()}
	g := start(t, s)
	smsc := s.operator.session()
	deaf := g.dial("clients")
	deaf.bind("receiver", "receiver", "s3cret")
	c := g.bind("transmitter")
	c.put(1, 30)
	deaf.want("deliver_sm", `short_message="1"`) // and it answers nothing
	g = g.powerCut(&s, c, deaf, smsc)
	s.operator.session()
	equal(t, "messages wait", g.Pending(), 30)
	p := g.dial("clients")
	p.bind("receiver", "receiver", "s3cret")
	for n := 1; n <= 30; n++ {
		line := p.want("deliver_sm", fmt.Sprintf("short_message=\"%d\"", n))
		p.send("deliver_sm_resp seq=" + field(line, "seq") + " status=0")
	}
	g.settled()
}

// A message that could not be written keeps waiting: it is sent after a power cut, whatever
// on_unknown is.
func TestRestartAfterUnsent(t *testing.T) {
	parallel(t)
	for _, unknown := range []string{"fail", "resend"} {
		s := site{operator: newSMSC(t), out: "window: 1, throttle_pause: 1m, on_unknown: " + unknown, store: vfs.NewCrashableMem()}
		g := start(t, s)
		c, smsc := g.bind("transmitter"), s.operator.session()
		g.online("operator", 1)
		c.submit(1, 2)
		c.accepted(1, 2)
		smsc.answer(0x58, smsc.take(1, 1)...) // ESME_RTHROTTLED: it waits again
		testutil.Eventually(t, "the message waits", func() bool { return g.stats("operator").Retried.Load() == 1 })
		testutil.Eventually(t, "that is stored", func() bool { return g.synced() })
		g = g.powerCut(&s, c, smsc)
		smsc = s.operator.session()
		smsc.serve(1, 2)
		smsc.fence()
		if n := g.stats("operator").Failed.Load(); n != 0 {
			t.Errorf("%s: %d messages given up", unknown, n)
		}
		smsc.conn.Close()
		g.stop()
	}
}
