package webhook

import (
	"context"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"pmg/config"
	"pmg/connector"
	"pmg/gateway"
	"pmg/gateway/webhooks"
	"pmg/internal/httpcall"
	"pmg/protocols/httpsms"
	"pmg/protocols/httpsms/jasmin"
	"pmg/protocols/httpsms/kannel"
	"pmg/protocols/httpsms/own"
	"pmg/sms"
)

// Bounds on calls to a server.
const (
	atATime      = 8  // calls to a server
	failuresRest = 10 // failures in a row after which a server is not called for a while:
	rest         = 30 // as many times throttle_pause of the connector
)

// An Engine runs work where a lane is dispatched for, and then dispatches the lane. It reports false if the gateway ends.
type Engine interface {
	Do(l *connector.Lane, f func(now int64)) bool
}

// Service are the couriers of all servers of clients.
type Service struct {
	gateway *gateway.Gateway
	engine  Engine
	events  *Events
	caller  *httpcall.Caller
	ctx     context.Context
	cancel  context.CancelFunc
	under   sync.WaitGroup

	batches batches

	mu     sync.Mutex
	of     map[*connector.Lane]*courier
	closed bool
}

// New returns what calls the webhooks of a gateway, whose lanes are dispatched by engine.
func New(g *gateway.Gateway, engine Engine, events *Events) *Service {
	c := &Service{gateway: g, engine: engine, events: events, caller: httpcall.New(httpcall.Options{}), batches: batches{of: map[string]int{}}, of: map[*connector.Lane]*courier{}}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	return c
}

// Serve has messages of a lane to a server of a client carried away.
func (c *Service) Serve(l *connector.Lane) {
	if l.Endpoint == config.PullLane { // its client comes for what it has
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of[l] != nil {
		return
	}
	one := &courier{service: c, lane: l, server: c.gateway.Webhooks.Server(l), under: map[uint64][]*connector.Slot{}}
	c.of[l] = one
	one.server.CalledBy(one)
	one.Follow()
}

// start runs f on a goroutine and reports true, unless the gateway is ending. Events that were not delivered stay in the store.
func (c *Service) start(f func()) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.under.Go(f)
	}
	return !c.closed
}

// Close ends the calls that are under way.
func (c *Service) Close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.cancel()
	c.under.Wait()
	c.caller.Close()
}

// A courier calls a server of a client: it is the courier of the server's lane.
type courier struct {
	service *Service
	lane    *connector.Lane
	server  *webhooks.Server  // what operators see of it
	outlet  *connector.Outlet // by which the lane gives; nil: it gives nothing. What dispatches for the lane owns it

	mu      sync.Mutex
	ready   []*connector.Slot            // to be told
	calling int                          // goroutines that call
	under   map[uint64][]*connector.Slot // by the messages that ready and the calls under way are about: what else waits to be told of them
	choice  choice                       // which webhook is called
	ended   ended                        // messages whose ends were told: nothing else is told of them any more
}

// Give implements connector.Courier. News of a message is told in its order: the next of it when the one before has been.
func (c *courier) Give(_ int64, s *connector.Slot) {
	about := aboutOf(s.Message)
	c.mu.Lock()
	defer c.mu.Unlock()
	if waiting, busy := c.under[about]; busy {
		c.under[about] = append(waiting, s)
		return
	}
	c.under[about] = nil
	c.tellSoon(s)
}

// tellSoon has a slot's message told. The caller holds the lock.
func (c *courier) tellSoon(s *connector.Slot) {
	c.ready = append(c.ready, s)
	if c.calling < atATime {
		c.calling++
		c.service.start(c.work)
	}
}

// Quiet implements connector.Courier: nothing is left to be done.
func (c *courier) Quiet(int64) {}

// work makes calls until nothing is left to be told.
func (c *courier) work() {
	for {
		a := c.service.gateway.Table.Account(c.lane.Account)
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

// most returns how many events a call of an account's webhook may tell. The account may be gone.
func most(a *config.Account) int {
	if a == nil {
		return 1
	}
	return a.WebhookBatch
}

// isOvertaken reports whether an event comes after the end of its message: it waited for another attempt meanwhile, or came here late.
func (c *courier) isOvertaken(m *sms.Message) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !endsAt(m) && c.ended.has(aboutOf(m))
}

// noteEnds notes the ends that were told.
func (c *courier) noteEnds(slots []*connector.Slot, outcomes []httpcall.Outcome) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, s := range slots {
		if outcomes[i].Code == sms.OK && endsAt(s.Message) {
			c.ended.add(aboutOf(s.Message))
		}
	}
}

// endsAt reports whether a receipt tells the end of its message.
func endsAt(m *sms.Message) bool {
	r, ok := m.Report()
	return ok && r.State.Final()
}

// A settled slot goes back to the lane.
type settled struct {
	slot   *connector.Slot
	answer sms.Answer
}

// settle tells the lane what came of calls. Where news of a message was not told, what waits to be told of it does until
// it has been tried again.
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
			c.tellSoon(waiting[0])
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

// reports write the calls of each dialect about what became of a message. They report false where there is nothing to tell.
var reports = map[uint8]func(*httpsms.Event) (*httpsms.Call, bool){
	httpsms.Own:    func(e *httpsms.Event) (*httpsms.Call, bool) { return own.Tell(e), true },
	httpsms.Kannel: kannel.Report,
	httpsms.Jasmin: jasmin.Report,
}

// try tells what messages say, together where one call may tell them. Nothing but a message can fail at it.
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
					*o = c.tell(a, s.Message)
				}
			})
		}
	}
	if len(all.events) > 0 {
		var o httpcall.Outcome
		c.guard(all.messages[0], &o, sms.TemporaryFailure, "a call about several messages failed; it is made again", func() { o = c.tellAll(a, &all) })
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
			c.service.gateway.Node.Log.Error().Str("id", sms.FormatID(m.ID)).Str("endpoint", c.lane.Endpoint).Interface("panic", fault).Bytes("stack", debug.Stack()).Msg(what)
			*o = httpcall.Outcome{Code: code}
		}
	}()
	f()
}

// tell calls the server about a message.
func (c *courier) tell(a *config.Account, m *sms.Message) httpcall.Outcome {
	e, end := c.service.events.Of(c.lane, m)
	defer end()
	webhook := e.Context.URL == ""
	url, second := a.Webhook, false
	if webhook {
		url, second = c.choose(a)
		e.Context.URL, e.Context.Dialect = url, httpsms.Own
	}
	var reply *reply
	request, told := c.write(e)
	if webhook && hasOtherForm(a) {
		request, reply, told = inForm(a, url, e)
	}
	if !told {
		return httpcall.Outcome{Code: sms.OK}
	}
	target := httpcall.Target{Trusted: webhook}
	if !webhook {
		var err error
		if target, err = httpcall.Allowed(a.CallbackURLs, a.CallbacksTo == config.PublicCallbacks, request.URL); err != nil {
			o := httpcall.Outcome{Code: sms.TemporaryFailure, Err: "is not called: the URL " + err.Error()} // an operator may allow it
			c.tried(o, second, m, e)
			return c.refused(m, e, o)
		}
	}
	id := ""
	if e.Context.Dialect == httpsms.Own {
		id = EventID(m)
	}
	httpcall.AddTrace(request, c.service.gateway.Settler.Traceparent(m))
	o := c.call(a, request, target, id, second)
	if webhook {
		c.came(a, &o, second)
	}
	c.service.events.Log(c.lane, m, e, request, o)
	c.tried(o, second, m, e)
	if o.Code == sms.OK && reply != nil {
		c.answers(m, e, reply)
	}
	if o.Code != sms.OK && c.service.ctx.Err() == nil {
		return c.refused(m, e, o)
	}
	return o
}

// call makes a call, signed under an id unless that is empty. second says that it is of webhook_fallback.
func (c *courier) call(a *config.Account, request *httpsms.Call, target httpcall.Target, id string, second bool) httpcall.Outcome {
	if id != "" {
		header, err := httpcall.Sign(strings.Fields(a.WebhookKey), id, time.Unix(0, c.service.gateway.Node.Clock.WallNow()), request.Body)
		if err != nil {
			return httpcall.Outcome{Code: sms.TemporaryFailure, Err: "webhook_key: " + err.Error()}
		}
		request.Header = append(request.Header, header...)
	}
	c.server.Begin()
	o := c.service.caller.Do(c.service.ctx, request, target)
	c.server.End(webhooks.Result{Taken: o.Code == sms.OK, Counted: o.Code.Retryable(), Error: o.Err, Fallback: second})
	return o
}

// write returns the call that tells of an event.
func (c *courier) write(e *httpsms.Event) (*httpsms.Call, bool) {
	if f := reports[e.Context.Dialect]; f != nil && e.Message == nil {
		return f(e)
	}
	return own.Tell(e), true
}

// statusOf returns the status of an answer, or httpsms.NoAnswer.
func statusOf(o httpcall.Outcome) uint32 {
	if o.Status == 0 {
		return httpsms.NoAnswer
	}
	return uint32(o.Status)
}
