package webhook

import (
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"pmg/config"
	"pmg/connector"
	"pmg/gateway/webhooks"
	"pmg/internal/httpcall"
	"pmg/sms"
)

// Bounds on calls to a server.
const (
	atATime      = 8  // calls to a server
	failuresRest = 10 // failures in a row after which a server is not called for a while:
	rest         = 30 // as many times throttle_pause of the connector
)

// A courier calls a server of a client: it is the courier of the server's lane.
type courier struct {
	service *Service
	lane    *connector.Lane
	server  *webhooks.Server  // what operators see of it
	outlet  *connector.Outlet // by which the lane gives; nil: it gives nothing. What dispatches for the lane owns it

	mu      sync.Mutex
	ready   []*connector.Slot // to be delivered
	calling int               // goroutines that call
	// by the messages that ready and the calls under way are about: later events of these, which wait
	under  map[uint64][]*connector.Slot
	choice choice // which webhook is called
	ended  ended  // messages whose last event was delivered: no other event of them is
}

// Give implements connector.Courier. Events of one message are delivered in their order: the next waits until the one before
// was taken.
func (c *courier) Give(_ int64, s *connector.Slot) {
	about := aboutOf(s.Message)
	c.mu.Lock()
	defer c.mu.Unlock()
	if waiting, busy := c.under[about]; busy {
		c.under[about] = append(waiting, s)
		return
	}
	c.under[about] = nil
	c.start(s)
}

// start delivers the message of a slot. The caller holds the lock.
func (c *courier) start(s *connector.Slot) {
	c.ready = append(c.ready, s)
	if c.calling < atATime {
		c.calling++
		c.service.start(c.work)
	}
}

// Quiet implements connector.Courier: nothing is left to be done.
func (c *courier) Quiet(int64) {}

// work makes calls until no event is left.
func (c *courier) work() {
	for {
		a := c.service.rooms.Options.Account(c.lane.Account)
		c.mu.Lock()
		n := min(len(c.ready), most(a))
		if n == 0 {
			c.calling--
			c.mu.Unlock()
			return
		}
		some := slices.Clone(c.ready[:n])
		c.ready = slices.Delete(c.ready, 0, n)
		c.mu.Unlock()
		c.settle(some, c.try(a, some))
	}
}

// most returns how many events a call of an account's webhook may have. The account may be gone.
func most(a *config.Account) int {
	if a == nil {
		return 1
	}
	return a.WebhookBatch
}

// isOvertaken reports whether an event comes after the end of its message: it waited for another attempt meanwhile, or came
// here late.
func (c *courier) isOvertaken(m *sms.Message) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !endsAt(m) && c.ended.has(aboutOf(m))
}

// noteEnds notes whose last event was delivered.
func (c *courier) noteEnds(slots []*connector.Slot, outcomes []httpcall.Outcome) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, s := range slots {
		if outcomes[i].Code == sms.OK && endsAt(s.Message) {
			c.ended.add(aboutOf(s.Message))
		}
	}
}

// endsAt reports whether a receipt is the last event of its message.
func endsAt(m *sms.Message) bool {
	r, ok := m.Report()
	return ok && r.State.Final()
}

// A settled slot goes back to the lane.
type settled struct {
	slot   *connector.Slot
	answer sms.Answer
}

// settle reports the outcomes of calls to the lane. Where the event of a message was not taken, its later events go back with it,
// and wait until it has been tried again.
func (c *courier) settle(slots []*connector.Slot, outcomes []httpcall.Outcome) {
	all := make([]settled, 0, len(slots))
	pause := time.Duration(0)
	c.mu.Lock()
	for i, s := range slots {
		o := &outcomes[i]
		pause = max(pause, o.RetryAfter)
		all = append(all, settled{s, sms.Answer{Code: o.Code, Status: statusOf(*o)}})
		about := aboutOf(s.Message)
		waiting := c.under[about]
		switch {
		case o.Code == sms.OK && len(waiting) > 0:
			c.under[about] = waiting[1:]
			c.start(waiting[0])
			continue
		case len(waiting) > 0:
			for _, other := range waiting {
				all = append(all, settled{other, sms.Answer{Code: o.Code}})
			}
		}
		delete(c.under, about)
	}
	c.mu.Unlock()
	if c.isResting() {
		pause = max(pause, rest*c.lane.Config().ThrottlePause)
	}
	c.service.engine.Do(c.lane, func(now int64) {
		if pause > 0 {
			c.lane.Pause(now + int64(pause))
			c.server.Rests(now + int64(pause))
		}
		for _, one := range all {
			one.answer.At = now
			c.lane.Answered(now, one.slot, one.answer)
		}
	})
}

// try delivers the events of messages, together where one call may have them. Nothing but a message can fail at it.
func (c *courier) try(a *config.Account, slots []*connector.Slot) []httpcall.Outcome {
	outcomes := make([]httpcall.Outcome, len(slots))
	var all batch
	for i, s := range slots {
		o := &outcomes[i]
		switch {
		case c.isOvertaken(s.Message):
			o.Code = sms.OK
		case a == nil: // it may come back
			*o = httpcall.Outcome{Code: sms.TemporaryFailure, Err: "its account is gone"}
		default:
			c.guard(s.Message, o, sms.Faulty, "a call failed at a message; it is put aside", func() {
				if most(a) == 1 || !all.add(c, i, s.Message) {
					*o = c.deliver(a, s.Message)
				}
			})
		}
	}
	if len(all.events) > 0 {
		var o httpcall.Outcome
		c.guard(
			all.messages[0], &o, sms.TemporaryFailure, "a call about several messages failed; it is made again",
			func() { o = c.deliverAll(a, &all) },
		)
		for _, i := range all.at {
			outcomes[i] = o
		}
	}
	c.noteEnds(slots, outcomes)
	return outcomes
}

// guard calls f, which is about a message. A fault at it becomes an outcome with a code, and is logged.
func (c *courier) guard(m *sms.Message, o *httpcall.Outcome, code sms.Code, what string, f func()) {
	defer func() {
		if fault := recover(); fault != nil {
			c.service.rooms.Node.Log.Error().Str("id", sms.FormatID(m.ID)).Str("endpoint", c.lane.Endpoint).
				Interface("panic", fault).Bytes("stack", debug.Stack()).Msg(what)
			*o = httpcall.Outcome{Code: code}
		}
	}()
	f()
}
