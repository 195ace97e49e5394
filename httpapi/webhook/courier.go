package webhook

import (
	"sync"
	"time"

	"pmg/config"
	"pmg/connector"
	"pmg/connector/worker"
	"pmg/gateway/webhooks"
	"pmg/internal/httpcall"
	"pmg/sms"
)

// Limits of calls to a server.
const (
	atATime      = 8  // calls to a server at the same time
	failuresRest = 10 // consecutive failures after which a server rests
	rest         = 30 // a rest lasts so many times throttle_pause of the connector
)

// A courier calls a server of a client: it is the courier of the server's lane.
type courier struct {
	service *Service
	lane    *connector.Lane
	server  *webhooks.Server // the server's state, which operators see
	worker  *worker.Worker

	mu sync.Mutex
	// slots of later events that wait, by the message of the events in the worker's slots
	under  map[uint64][]*connector.Slot
	choice choice // the choice of the webhook to call
	ended  ended  // messages whose last event was delivered: their other events are not sent
}

// newCourier returns the courier of a server's lane.
func newCourier(s *Service, l *connector.Lane) *courier {
	c := &courier{service: s, lane: l, server: s.rooms.Servers.Server(l), under: map[uint64][]*connector.Slot{}}
	c.worker = worker.New(s.engine, l, worker.Options{
		Group: s.group, Most: atATime, Batch: func() int { return most(c.account()) }, Work: c.work,
		Log: s.rooms.Node.Log.With().Str("endpoint", l.Endpoint).Logger(),
	})
	return c
}

// account returns the options of the server's account, nil if the account no longer exists.
func (c *courier) account() *config.Account { return c.service.rooms.Options.Account(c.lane.Account) }

// Give implements connector.Courier. Events of a message are delivered in order: an event waits until the previous one was
// accepted.
func (c *courier) Give(now int64, s *connector.Slot) {
	about := aboutOf(s.Message)
	c.mu.Lock()
	defer c.mu.Unlock()
	if waiting, busy := c.under[about]; busy {
		c.under[about] = append(waiting, s)
		return
	}
	c.under[about] = nil
	c.worker.Give(now, s)
}

// Quiet implements connector.Courier: it has nothing to do.
func (c *courier) Quiet(int64) {}

// work delivers events.
func (c *courier) work(slots []*connector.Slot) { c.settle(slots, c.try(c.account(), slots)) }

// most returns the maximum number of events in a call of an account's webhook; a is nil if the account no longer exists.
func most(a *config.Account) int {
	if a == nil {
		return 1
	}
	return a.WebhookBatch
}

// isOvertaken reports whether an event comes after the last event of its message: it waited for another
// attempt meanwhile, or came late.
func (c *courier) isOvertaken(m *sms.Message) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !endsAt(m) && c.ended.has(aboutOf(m))
}

// recordEnds records the messages whose last event was delivered.
func (c *courier) recordEnds(slots []*connector.Slot, outcomes []httpcall.Outcome) {
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

// settle reports the outcomes of calls to the lane. If the event of a message was not accepted, later events
// of the message go back with it, and wait until it has been tried again.
func (c *courier) settle(slots []*connector.Slot, outcomes []httpcall.Outcome) {
	all := make([]worker.Answer, 0, len(slots))
	pause := time.Duration(0)
	c.mu.Lock()
	for i, s := range slots {
		o := &outcomes[i]
		pause = max(pause, o.RetryAfter)
		all = append(all, worker.Answer{Slot: s, Answer: sms.Answer{Code: o.Code, Status: statusOf(*o)}})
		about := aboutOf(s.Message)
		waiting := c.under[about]
		if o.Code == sms.OK && len(waiting) > 0 {
			c.under[about] = waiting[1:]
			c.worker.Give(0, waiting[0])
			continue
		}
		for _, other := range waiting {
			all = append(all, worker.Answer{Slot: other, Answer: sms.Answer{Code: o.Code}})
		}
		delete(c.under, about)
	}
	c.mu.Unlock()
	if c.isResting() {
		pause = max(pause, rest*c.lane.Config().ThrottlePause)
	}
	if pause > 0 {
		c.worker.Pause(pause, c.server.Rests)
	}
	c.worker.Report(all...)
}

// try delivers the events of messages, in one call if possible. A panic affects only the message.
func (c *courier) try(a *config.Account, slots []*connector.Slot) []httpcall.Outcome {
	outcomes := make([]httpcall.Outcome, len(slots))
	var all batch
	for i, s := range slots {
		o := &outcomes[i]
		switch {
		case c.isOvertaken(s.Message):
			o.Code = sms.OK
		case a == nil: // the account may be added again
			*o = httpcall.Outcome{Code: sms.TemporaryFailure, Err: "its account no longer exists"}
		default:
			if !c.worker.Guard(s.Message, "a call failed at a message; it is put aside", func() {
				if most(a) == 1 || !all.add(c, i, s.Message) {
					*o = c.deliver(a, s.Message)
				}
			}) {
				*o = httpcall.Outcome{Code: sms.Faulty}
			}
		}
	}
	if len(all.events) > 0 {
		o := httpcall.Outcome{Code: sms.TemporaryFailure}
		c.worker.Guard(all.messages[0], "a call about several messages failed; it is repeated", func() {
			o = c.deliverAll(a, &all)
		})
		for _, i := range all.at {
			outcomes[i] = o
		}
	}
	c.recordEnds(slots, outcomes)
	return outcomes
}
