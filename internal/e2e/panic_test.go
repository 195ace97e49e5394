package e2e

import (
	"bytes"
	"fmt"
	"testing"

	"pmg/internal/testkit/testutil"
	"pmg/protocols"
	"pmg/protocols/smpp"
	"pmg/sms"
	"pmg/store"
)

// A faulty driver panics in the function that the text of a message names.
type faulty struct{ protocols.SessionDriver }

type faultySession struct{ protocols.Session }

type faultyPDU struct{ protocols.PDU }

func (d faulty) NewPDU() protocols.PDU { return &faultyPDU{d.SessionDriver.NewPDU()} }

func (d faulty) NewSession(o protocols.SessionOptions) protocols.Session {
	return &faultySession{d.SessionDriver.NewSession(o)}
}

func (d faulty) Decode(p protocols.PDU, b []byte) error {
	if bytes.Contains(b, []byte("fault:decode")) {
		panic("fault in Decode")
	}
	return d.SessionDriver.Decode(p.(*faultyPDU).PDU, b)
}

// text returns the text of a submit; for other PDUs the result means nothing.
func (p *faultyPDU) text() string {
	if q := p.PDU.(*smpp.PDU); q.ID == smpp.SubmitSM {
		return string(q.SM.ShortMessage)
	}
	return ""
}

func (p *faultyPDU) AppendLog(b []byte, text bool) []byte {
	if p.text() == "fault:log" {
		panic("fault in AppendLog")
	}
	return p.PDU.AppendLog(b, text)
}

func (p *faultyPDU) AppendWire(b []byte) []byte {
	if p.text() == "fault:wire" {
		panic("fault in AppendWire")
	}
	return p.PDU.AppendWire(b)
}

func (s *faultySession) Start(now int64, p protocols.PDU) protocols.Action {
	if p == nil {
		return s.Session.Start(now, nil)
	}
	return s.Session.Start(now, p.(*faultyPDU).PDU)
}

func (s *faultySession) Receive(now int64, p protocols.PDU) protocols.Action {
	if p.(*faultyPDU).text() == "fault:receive" {
		panic("fault in Receive")
	}
	return s.Session.Receive(now, p.(*faultyPDU).PDU)
}

func (s *faultySession) Tick(now int64, p protocols.PDU, listening bool) protocols.Action {
	return s.Session.Tick(now, p.(*faultyPDU).PDU, listening)
}

func (s *faultySession) Idle(now int64, p protocols.PDU) protocols.Action {
	return s.Session.Idle(now, p.(*faultyPDU).PDU)
}

func (s *faultySession) Login(now int64, p protocols.PDU, code sms.Code) protocols.Action {
	return s.Session.Login(now, p.(*faultyPDU).PDU, code)
}

func (s *faultySession) Message(now int64, p protocols.PDU, m *sms.Message) sms.Code {
	if p.(*faultyPDU).text() == "fault:message" {
		panic("fault in Message")
	}
	return s.Session.Message(now, p.(*faultyPDU).PDU, m)
}

func (s *faultySession) Answer(p protocols.PDU, code sms.Code, id uint64) {
	s.Session.Answer(p.(*faultyPDU).PDU, code, id)
}

func (s *faultySession) Encode(now int64, p protocols.PDU, m *sms.Message, sequence uint32) {
	if string(m.Text()) == "fault:encode" {
		panic("fault in Encode")
	}
	s.Session.Encode(now, p.(*faultyPDU).PDU, m, sequence)
}

func (s *faultySession) Unbind(now int64, p protocols.PDU) protocols.Action {
	return s.Session.Unbind(now, p.(*faultyPDU).PDU)
}

func faultyLine(n int, where string) string {
	return fmt.Sprintf("submit_sm seq=%d destination_addr=1 short_message=\"fault:%s\"", n, where)
}

// A panic that a PDU causes in any function of the driver ends its session and no other.
func TestPanic(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	g := start(t, site{operator: operator, clients: "instances: 3", driver: func(d protocols.SessionDriver) protocols.SessionDriver { return faulty{d} }})
	g.faulty = true
	s, other := operator.session(), g.bind("transmitter")
	number := 0
	for _, where := range []string{"decode", "log", "receive", "message"} {
		for before := range 3 {
			c := g.bind("transmitter")
			var lines []string
			for n := range before {
				lines = append(lines, fmt.Sprint("enquire_link seq=", n))
			}
			c.send(append(lines, faultyLine(10, where), "enquire_link seq=11")...)
			for err := error(nil); err == nil; { // earlier requests may be answered or not
				_, err = c.next()
				if isTimeout(err) {
					t.Fatalf("%s, %d before: the session goes on", where, before)
				}
			}
			number++
			other.put(number, number)
			s.serve(number, number)
			testutil.Eventually(t, "the session is over", func() bool { return g.clients() == 1 })
		}
	}
	if n := g.log.count("panic"); n != number {
		t.Errorf("%d faults were logged, not %d", n, number)
	}
}

// A message that cannot be encoded, to a PDU or to bytes, is put aside; the session that it
// was assigned to goes on.
func TestPanicOut(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	g := start(t, site{operator: operator, out: "window: 1, retry: [100ms, 200ms]", driver: func(d protocols.SessionDriver) protocols.SessionDriver { return faulty{d} }})
	s, c := operator.session(), g.bind("transmitter")
	c.submit(1, 1)
	c.send(faultyLine(2, "encode"), faultyLine(3, "wire"))
	c.submit(4, 4)
	c.accepted(1, 4)
	s.serve(1, 1)
	s.serve(4, 4)
	testutil.Eventually(t, "they are put aside", func() bool { return g.Gateway.Keeper.Aside(store.Quarantined) == 2 && g.Pending() == 0 })
}
