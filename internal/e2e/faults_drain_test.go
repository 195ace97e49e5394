package e2e

import (
	"bytes"
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"pmg/internal/testkit/testutil"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// drains runs a drain with a limit of a minute. It fails the test if the drain takes that long:
// then it has waited for something that never ends.
func (g *gw) drains() {
	g.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), testutil.Patience)
	defer cancel()
	done := make(chan struct{})
	go func() {
		g.engine.Drain(ctx)
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(testutil.Patience / 2):
		cancel()
		<-done
		g.t.Error("the drain waited for something that never ends")
	}
}

// answerUnbind answers requests in the background, up to and including an unbind.
func (p *peer) answerUnbind() {
	go func() {
		for {
			line, err := p.next()
			if err != nil {
				return
			}
			command, _, _ := strings.Cut(line, " ")
			if command == "unbind" || command == "submit_sm" || command == "enquire_link" {
				_, _ = p.conn.Write(wire(p.t, command+"_resp seq="+field(line, "seq")+" status=0"))
			}
			if command == "unbind" {
				p.conn.Close()
			}
		}
	}()
}

// H12, F16: a drain does not wait for messages that are scheduled.
func TestH12DrainScheduled(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	g := start(t, site{operator: operator})
	s, c := operator.session(), g.bind("transmitter")
	g.online("operator", 1)
	c.submit(1, 5, hour)
	c.accepted(1, 5)
	s.answerUnbind()
	c.answerUnbind()
	g.drains()
}

// H12: nor for a client that never answers an unbind.
func TestH12DrainNoAnswer(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	g := start(t, site{operator: operator})
	s, c := operator.session(), g.bind("transceiver")
	g.online("operator", 1)
	s.answerUnbind()
	c.listen()
	g.drains()
}

// H12: nor for an SMSC that does not.
func TestH12DrainNoAnswerOfSMSC(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	g := start(t, site{operator: operator})
	s, c := operator.session(), g.bind("transceiver")
	g.online("operator", 1)
	s.listen()
	c.answerUnbind()
	g.drains()
}

// H12: nor for one that never reads.
func TestH12DrainNeverReads(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	g := start(t, site{operator: operator})
	s, c := operator.session(), g.bind("transceiver")
	g.online("operator", 1)
	s.answerUnbind()
	_ = c.conn.(*net.TCPConn).SetReadBuffer(4096)
	b := bytes.Repeat(wire(t, "submit_sm seq=1"), 1000) // without a destination, so it is only answered
	for range 1000 {                                    // until the gateway reads no more
		_ = c.conn.SetWriteDeadline(time.Now().Add(200 * time.Millisecond))
		if _, err := c.conn.Write(b); err != nil {
			break
		}
	}
	g.drains()
}

// F25: a submit while the gateway drains gets a status that asks the client to try again.
func TestF25SubmitWhileDraining(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	g := start(t, site{operator: operator})
	s, c := operator.session(), g.bind("transmitter")
	c.submit(1, 1)
	c.accepted(1, 1)
	under := s.take(1, 1)
	drained := make(chan struct{})
	go func() {
		g.engine.Drain(context.Background())
		close(drained)
	}()
	testutil.Eventually(t, "the gateway is draining", g.Gateway.Node.Draining)
	c.submit(2, 2)
	switch status := field(c.want("submit_sm_resp", "seq=2"), "status"); status {
	case "0x14(ESME_RMSGQFUL)", "0x8(ESME_RSYSERR)":
	default:
		t.Errorf("status %s", status)
	}
	s.answer(0, under...)
	s.answerUnbind()
	c.answerUnbind()
	<-drained
}

// F10: the gateway's logout drops no answer: a client that submitted before gets the result
// of each message.
func TestF10LogoutBehindAnswers(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	g := start(t, site{operator: operator, out: "max_queue: 20, queue_wait: 1s"})
	c := g.bind("transmitter")
	c.submit(1, 40) // more than there is room for
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	drained := make(chan struct{})
	testutil.Eventually(t, "the queue is used", func() bool { return g.Gateway.Table.Connector("operator").Queued() >= 5 })
	go func() {
		g.engine.Drain(ctx)
		close(drained)
	}()
	testutil.Eventually(t, "the gateway is draining", g.Gateway.Node.Draining)
	cancel() // the time to drain is over, and most submits are not answered
	answered := 0
	c.until(func(line string) bool {
		if command, _, _ := strings.Cut(line, " "); command == "submit_sm_resp" {
			answered++
		} else if command == "unbind" {
			return true
		}
		return false
	})
	if answered != 40 {
		t.Errorf("%d of 40 submits were answered before the logout", answered)
	}
	c.send("unbind_resp seq=1 status=0")
	<-drained
}

// A5: a stop with a backlog opens no session, because what waits stays in the store.
func TestA5StopWithBacklog(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	g := start(t, site{operator: operator, store: vfs.NewMem(), out: "rate: 1, instances: 2"})
	s1, s2 := operator.session(), operator.session()
	g.online("operator", 2)
	c := g.bind("transmitter")
	c.submit(1, 50)
	c.accepted(1, 50)
	s1.answerUnbind()
	s2.answerUnbind()
	c.answerUnbind()
	g.drains()
	if n := g.stats("operator").Opened.Load(); n != 2 {
		t.Errorf("%d sessions to the SMSC, so the stop has opened %d", n, n-2)
	}
	if g.Pending() == 0 {
		t.Error("nothing waits, so the test shows nothing")
	}
}

// A5: neither is one opened in place of a session that is lost while answers to what is under
// way are waited for.
func TestA5StopLosesSession(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	g := start(t, site{operator: operator, store: vfs.NewMem(), out: "window: 2, instances: 2"})
	s1, s2 := operator.session(), operator.session()
	g.online("operator", 2)
	c := g.bind("transmitter")
	c.submit(1, 20)
	c.accepted(1, 20)
	for _, s := range []*peer{s1, s2} {
		s.want("submit_sm")
		s.want("submit_sm")
	}
	c.answerUnbind()
	drained := make(chan struct{})
	go func() {
		g.drains()
		close(drained)
	}()
	testutil.Eventually(t, "the gateway is draining", g.Gateway.Node.Draining)
	s1.conn.Close()
	testutil.Eventually(t, "the session is over", func() bool { return g.Gateway.Table.Connector("operator").Online() == 1 })
	s2.conn.Close()
	<-drained
	if n := g.stats("operator").Opened.Load(); n != 2 {
		t.Errorf("%d sessions to the SMSC, so the stop has opened %d", n, n-2)
	}
}
