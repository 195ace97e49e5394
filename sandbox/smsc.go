package sandbox

import (
	"context"
	"math"
	"sync/atomic"

	"pmg/connector"
	"pmg/connector/worker"
	"pmg/gateway"
	"pmg/gateway/convert"
	"pmg/internal/smstext"
	"pmg/pdulog"
	"pmg/protocols/testsms"
	"pmg/sms"
)

// An SMSC answers the messages of the lane of a connector of protocol test:
//
//	lane ──► worker ──► answered
//	               └──► schedule ──receipt_delay──► a receipt, or a reply, as that of any SMSC
//
// A receipt that has not left when the gateway ends is made again by the next start. A reply is not.
type SMSC struct {
	gateway   *gateway.Gateway
	connector *connector.Connector
	lane      *connector.Lane
	engine    worker.Engine
	worker    *worker.Worker
	log       *pdulog.Shared
	number    atomic.Uint32 // number of the last PDU
	schedule  *schedule
	script    atomic.Uint32              // the Script that it plays
	mixed     atomic.Uint32              // number of the messages accepted in the script Mixed
	watch     atomic.Pointer[func(Text)] // called with the texts that mobiles would show; nil: not called
	group     *worker.Group              // group of all the SMSC's goroutines
}

// Start begins to answer the messages of a connector, until ctx is done or Close.
func Start(ctx context.Context, g *gateway.Gateway, e worker.Engine, c *connector.Connector) *SMSC {
	s := &SMSC{
		gateway: g, connector: c, lane: g.Table.LaneOf(c), engine: e, log: pdulog.Share(c.PDULog, &g.Node.Clock),
		schedule: newSchedule(), group: worker.NewGroup(ctx),
	}
	s.worker = worker.New(e, s.lane, worker.Options{
		Group: s.group, Most: 1, Batch: func() int { return math.MaxInt }, Work: s.work,
		Log: g.Node.Log.With().Str("connector", c.Name).Logger(),
	})
	e.Do(s.lane, s.open)
	s.group.Go(s.deliverAll)
	s.group.Go(s.resume)
	return s
}

// Watch sets the function that is called with the texts that mobiles would show. It is called once.
func (s *SMSC) Watch(f func(Text)) { s.watch.Store(&f) }

// Close ends the SMSC. No more messages may come: the lane's engine has ended, or the lane is empty.
func (s *SMSC) Close() {
	s.group.Close()
	s.engine.Do(s.lane, func(int64) { s.worker.Shut() })
	s.log.Close()
}

// Wake puts changed options in force.
func (s *SMSC) Wake(changed bool) {
	if changed {
		s.engine.Do(s.lane, s.open)
	}
}

// open opens the lane with as many slots as the options set.
func (s *SMSC) open(now int64) {
	if s.lane.Gone() {
		return
	}
	if s.Script() == Closed {
		s.worker.Shut()
		return
	}
	if !s.worker.IsOpen() {
		s.gateway.Sessions.Reached(now, s.connector)
	}
	cfg := s.connector.Config()
	s.worker.Open(s.worker, cfg.Instances*cfg.MostRequests())
}

// work answers messages.
func (s *SMSC) work(slots []*connector.Slot) {
	all := make([]worker.Answer, len(slots))
	for i, slot := range slots {
		all[i] = worker.Answer{Slot: slot, Answer: s.answer(slot)}
	}
	s.worker.Report(all...)
}

// answer returns the answer to the message of a slot. A panic affects only the message.
func (s *SMSC) answer(slot *connector.Slot) sms.Answer {
	slot.Sent = s.gateway.Node.Clock.Now()
	if slot.Inquiry != nil {
		return sms.Answer{Code: sms.Unsupported}
	}
	a := sms.Answer{Code: sms.Faulty}
	s.worker.Guard(slot.Message, "the test connector failed at a message; it is put aside", func() {
		a = s.take(slot, slot.Leaving())
	})
	return a
}

// take answers the message of a slot, as the lane sends it.
func (s *SMSC) take(slot *connector.Slot, m *sms.Message) (a sms.Answer) {
	if code := s.gateway.Convert.Refuses(slot); code != sms.OK {
		return sms.Answer{Code: code}
	}
	out := s.gateway.Convert.Leaving(s.source(), m)
	if out != m {
		defer out.Release()
	}
	text, isText := smstext.Decode(out.Alphabet, out.Flags&sms.HasHeader != 0, out.Text())
	if !isText {
		text = "(binary)"
	}
	ending := testsms.EndingOf(out.Dest().Addr)
	a.Code = ending.Code
	if ending.Once != sms.OK && m.Throttles == 0 {
		a.Code = ending.Once
	}
	if a.Code == sms.OK {
		a.Code = s.answers()
	}
	if a.Code == sms.OK && !s.schedule.hasRoom() {
		a.Code = sms.QueueFull
	}
	a.Status = uint32(a.Code)
	if a.Code == sms.OK {
		a.PeerID = peerID(m.ID)
		cfg := s.connector.Config()
		s.gateway.Receipts.RecordAnswer(s.gateway.Receipts.Of(cfg), cfg, m, a.PeerID)
		s.plan(ending, convert.Asks(m, cfg), out, text)
	}
	s.logSubmit(m, out, text, &a)
	s.show(m, out, text, ending, a.Code)
	return a
}

// idPrefix is the beginning of the ids of all messages that the SMSC has accepted.
const idPrefix = "test-"

// peerID returns the SMSC's id of a message, which stays the same if the message is sent again.
func peerID(id uint64) []byte { return sms.AppendID([]byte(idPrefix), id) }

// source returns the connector and the origin of messages to and from the SMSC.
func (s *SMSC) source() *connector.Source {
	return &connector.Source{Connector: s.connector, Origin: s.gateway.Node.Origins.Of("", s.connector.Name)}
}
