package sandbox

import (
	"context"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"pmg/connector"
	"pmg/gateway"
	"pmg/gateway/convert"
	"pmg/internal/smstext"
	"pmg/pdulog"
	"pmg/protocols/testsms"
	"pmg/sms"
)

// A Do runs f where a lane may be used, and dispatches the lane. It returns false if the engine has ended.
type Do func(l *connector.Lane, f func(now int64)) bool

// An SMSC is the courier of the lane of a connector of protocol test, and takes every message that the lane gives it:
//
//	lane ──Give──► ready ──► answered
//	                  └────► schedule ──receipt_delay──► a receipt, or a reply, as that of any SMSC
//
// A receipt that has not left when the gateway ends is made again by the next start. A reply is not.
type SMSC struct {
	gateway   *gateway.Gateway
	connector *connector.Connector
	lane      *connector.Lane
	onLane    Do
	log       *pdulog.Shared
	number    atomic.Uint32 // of the last PDU
	schedule  *schedule
	watch     atomic.Pointer[func(Text)] // is shown what mobiles would show; nil: nobody is
	ctx       context.Context
	cancel    context.CancelFunc
	running   sync.WaitGroup

	outlet *connector.Outlet // by which the lane gives; nil: it gives nothing. What dispatches for the lane owns it

	wake  chan struct{} // something is ready
	mu    sync.Mutex
	ready []*connector.Slot
}

// Start begins to take the messages of a connector, until ctx is done or Close.
func Start(ctx context.Context, g *gateway.Gateway, do Do, c *connector.Connector) *SMSC {
	s := &SMSC{
		gateway: g, connector: c, lane: g.Table.LaneOf(c), onLane: do, log: pdulog.Share(c.PDULog, &g.Node.Clock),
		schedule: newSchedule(), wake: make(chan struct{}, 1),
	}
	s.ctx, s.cancel = context.WithCancel(ctx)
	s.running.Go(s.work)
	s.running.Go(s.deliverAll)
	s.running.Go(s.resume)
	return s
}

// Watch shows f what mobiles would show. It is called once.
func (s *SMSC) Watch(f func(Text)) { s.watch.Store(&f) }

// Close ends it. The lane gives nothing more: its engine has ended, or it is empty.
func (s *SMSC) Close() {
	s.cancel()
	s.running.Wait()
	s.log.Close()
}

// Wake puts other options in force.
func (s *SMSC) Wake(changed bool) {
	if changed {
		s.onLane(s.lane, s.open)
	}
}

// open opens the lane for as many messages at a time as the options say.
func (s *SMSC) open(now int64) {
	if s.lane.Gone() {
		return
	}
	if s.outlet != nil {
		s.lane.LoggingOut(s.outlet)
	} else {
		s.gateway.Sessions.Reached(now, s.connector)
	}
	cfg := s.connector.Config()
	s.outlet = connector.NewOutlet(s.connector, s, cfg.Instances*cfg.Window)
	s.lane.Open(s.outlet)
}

// shut takes the outlet from the lane, which gives no more.
func (s *SMSC) shut(int64) {
	if s.outlet != nil {
		s.lane.LoggingOut(s.outlet)
		s.outlet = nil
	}
}

// Give implements connector.Courier.
func (s *SMSC) Give(_ int64, slot *connector.Slot) {
	s.mu.Lock()
	s.ready = append(s.ready, slot)
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Quiet implements connector.Courier: nothing is left to be done.
func (s *SMSC) Quiet(int64) {}

// An answered slot goes back to the lane.
type answered struct {
	slot   *connector.Slot
	answer sms.Answer
}

func (s *SMSC) work() {
	s.onLane(s.lane, s.open)
	defer s.onLane(s.lane, s.shut)
	for {
		select {
		case <-s.wake:
		case <-s.ctx.Done():
			return
		}
		s.mu.Lock()
		ready := s.ready
		s.ready = nil
		s.mu.Unlock()
		all := make([]answered, 0, len(ready))
		for _, slot := range ready {
			all = append(all, answered{slot, s.answer(slot)})
		}
		s.onLane(s.lane, func(now int64) {
			for i := range all {
				one := &all[i]
				one.answer.At = now
				s.connector.Stats.Answer.Observe(now - one.slot.Sent)
				s.lane.Answered(now, one.slot, one.answer)
			}
		})
	}
}

// answer takes the message of a slot, and returns the answer to it. Nothing but the message can fail at it.
func (s *SMSC) answer(slot *connector.Slot) (a sms.Answer) {
	slot.Sent = s.gateway.Node.Clock.Now()
	if slot.Inquiry != nil {
		return sms.Answer{Code: sms.Unsupported}
	}
	m := slot.Leaving()
	defer func() {
		if fault := recover(); fault != nil {
			s.gateway.Node.Log.Error().Str("id", sms.FormatID(m.ID)).Str("connector", s.connector.Name).
				Interface("panic", fault).Bytes("stack", debug.Stack()).Msg(
				"the test connector failed at a message; it is put aside",
			)
			a = sms.Answer{Code: sms.Faulty}
		}
	}()
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
	if a.Code == sms.OK && !s.schedule.hasRoom() {
		a.Code = sms.QueueFull
	}
	a.Status = uint32(a.Code)
	if a.Code == sms.OK {
		a.PeerID = peerID(m.ID)
		cfg := s.connector.Config()
		s.gateway.Receipts.NoteAnswer(s.gateway.Receipts.Of(cfg), cfg, m, a.PeerID)
		s.plan(ending, convert.Asks(m, cfg), out, text)
	}
	s.logSubmit(m, out, text, &a)
	s.show(m, out, text, ending, a.Code)
	return a
}

// idPrefix begins the ids of all messages that the SMSC has taken.
const idPrefix = "test-"

// peerID returns the SMSC's id of a message, which is the same if the message comes again.
func peerID(id uint64) []byte { return sms.AppendID([]byte(idPrefix), id) }

// source is where what leaves goes to, and where what comes is from.
func (s *SMSC) source() *connector.Source {
	return &connector.Source{Connector: s.connector, Origin: s.gateway.Node.Origins.Of("", s.connector.Name)}
}
