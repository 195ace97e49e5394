package stages

import (
	"time"

	"pmg/config"
	"pmg/connector"
	"pmg/flow"
	"pmg/ratelimit"
	"pmg/sms"
)

// dispatcher owns the connectors' queues and slots. It pairs a waiting message
// with a free slot; a slot whose instance is not connected goes to the connecter.
type dispatcher struct {
	*Deps
	pools   []*pool // by Connector.Index
	touched []*pool // to be looked at when the batch is over
}

// A pool is what the dispatcher keeps of one connector.
type pool struct {
	*connector.Connector
	queue    *connector.Queue
	slots    connector.Slots
	limiter  ratelimit.Limiter
	rate     int
	paused   int64 // nothing is sent before this time
	dialing  int   // instances the connecter works on
	inFlight int
	touched  bool
	leaving  bool // removed; goes when its messages are gone
	gone     bool
}

func newDispatcher(d *Deps) (flow.Stage[Job], error) { return &dispatcher{Deps: d}, nil }

func (d *dispatcher) pool(c *connector.Connector) *pool {
	for c.Index >= len(d.pools) {
		d.pools = append(d.pools, nil)
	}
	p := d.pools[c.Index]
	if p == nil {
		p = &pool{Connector: c, queue: connector.NewQueue()}
		d.pools[c.Index] = p
	}
	if !p.touched {
		p.touched = true
		d.touched = append(d.touched, p)
	}
	return p
}

func (d *dispatcher) Work(out *flow.Out[Job], j *Job) {
	switch j.Kind {
	case Message:
		d.pool(j.Connector).queue.Push(j.Message, out.Now())
	case Answered:
		d.answered(out, j)
	case Bound:
		d.bound(j)
	case Over:
		d.over(out, j)
		return
	case Closed:
		d.closed(out, j)
	case Attach:
		d.attach(out, d.pool(j.Connector))
	case Detach:
		d.pool(j.Connector).leaving = true
	case Parked:
		p := d.pool(j.Connector)
		p.dialing--
		p.slots.Park(j.Instance)
	}
	discard(out, j)
}

// attach readies the instances of a new connector.
func (d *dispatcher) attach(out *flow.Out[Job], p *pool) {
	if p.Config().Listens() {
		return
	}
	for i := p.Acquire(); i != nil; i = p.Acquire() {
		if p.Config().IsStatic() {
			d.dial(out, p, i, sms.OK)
		} else {
			p.slots.Park(i)
		}
	}
}

// dial hands an instance to the connecter. code tells how its last session ended.
func (d *dispatcher) dial(out *flow.Out[Job], p *pool, i *connector.Instance, code sms.Code) {
	p.dialing++
	j := out.Get()
	j.Kind, j.Connector, j.Instance, j.Code = Dial, p.Connector, i, code
	out.To(toConnecter, j)
}

func (d *dispatcher) bound(j *Job) {
	h := j.Handle
	p := d.pool(h.Connector)
	if !p.Config().Listens() {
		p.dialing--
		p.Stats.Failing.Store(0)
	}
	if j.Code == sms.OK {
		p.slots.Open(&h.Link, p.Config().Window)
		p.SetOnline(1)
	}
}

// over takes a session's slots away before the encoder collects what is under way.
func (d *dispatcher) over(out *flow.Out[Job], j *Job) {
	p := d.pool(j.Handle.Connector)
	if p.slots.Drop(&j.Handle.Link) {
		p.SetOnline(-1)
	}
	out.To(toEncoder, j)
}

// closed has an instance back whose socket is closed.
func (d *dispatcher) closed(out *flow.Out[Job], j *Job) {
	h := j.Handle
	j.Handle = nil
	p := d.pool(h.Connector)
	h.Instance.SetLink(nil)
	code := sms.OK
	if !h.Bound {
		p.dialing--
		code = sms.BindFailed
	}
	switch {
	case p.leaving || d.Gateway.Draining() && p.queue.Len() == 0:
	case p.Config().IsStatic() || p.queue.Len() > 0:
		d.dial(out, p, h.Instance, code)
	default:
		p.slots.Park(h.Instance)
	}
}

func (d *dispatcher) answered(out *flow.Out[Job], j *Job) {
	slot, now := j.Slot, out.Now()
	p := d.pool(slot.Instance.Connector)
	m := slot.Message
	p.inFlight--
	p.slots.Put(slot)
	o := d.Gateway.Settle(now, p.Connector, m, j.Code)
	if o.Again {
		p.queue.PushBack(m, now, o.NotBefore)
	}
	if o.Pause > p.paused {
		d.Log.Debug().Str("connector", p.Name).Stringer("because", j.Code).Dur("for", time.Duration(o.Pause-now)).Msg("paused")
		p.paused = o.Pause
	}
}

// Flush looks at every connector that the batch touched.
func (d *dispatcher) Flush(out *flow.Out[Job]) {
	for i, p := range d.touched {
		p.touched = false
		d.touched[i] = nil
		d.dispatch(out, p)
		d.publish(out, p)
	}
	d.touched = d.touched[:0]
}

// Tick looks at all of them: a pause may be over, a message due.
func (d *dispatcher) Tick(out *flow.Out[Job]) time.Duration {
	for _, p := range d.pools {
		if p != nil && !p.gone {
			d.dispatch(out, p)
			d.publish(out, p)
		}
	}
	return time.Second // queue ages change and validities end by themselves
}

// dispatch pairs messages with slots until one of them runs out.
func (d *dispatcher) dispatch(out *flow.Out[Job], p *pool) {
	cfg, now := p.Config(), out.Now()
	if cfg.Rate != p.rate {
		p.rate = cfg.Rate
		p.limiter.SetRate(cfg.Rate, 0)
	}
	for p.queue.Ready(now) {
		slot := p.slots.Front()
		if slot == nil {
			break
		}
		if slot.Link == nil {
			if !d.connectMore(out, p, cfg) {
				break
			}
			continue
		}
		if wait := max(p.paused-now, p.limiter.Wait(now)); wait > 0 {
			out.TickIn(time.Duration(wait))
			return
		}
		m := p.queue.Pop(now)
		if m.Expires != 0 && now > m.Expires {
			d.Gateway.Expired(p.Connector, m)
			continue
		}
		p.limiter.Reserve(now)
		slot = p.slots.Take()
		slot.Message = m
		p.inFlight++
		j := out.Get()
		j.Kind, j.Slot = Forward, slot
		out.To(toEncoder, j)
	}
	if due := p.queue.NextDue(); due > now {
		out.TickIn(time.Duration(due - now))
	}
}

// connectMore sends the unconnected instance in front to the connecter, unless
// those it works on already will do for what waits.
func (d *dispatcher) connectMore(out *flow.Out[Job], p *pool, cfg *config.Connector) bool {
	if p.dialing*cfg.Window >= p.queue.Len() {
		return false
	}
	slot := p.slots.Take()
	d.dial(out, p, slot.Instance, sms.OK)
	return true
}

// publish shows what others may look at, and lets in who waits for room.
func (d *dispatcher) publish(out *flow.Out[Job], p *pool) {
	s := p.Stats
	s.QueueLength.Store(int64(p.queue.Len()))
	s.QueueOldest.Store(p.queue.Oldest())
	s.InFlight.Store(int64(p.inFlight))
	if p.Starved.Load() && p.HasRoom() {
		j := out.Get()
		j.Kind, j.Connector = Room, p.Connector
		out.To(toBuilder, j)
	}
	if p.leaving && !p.gone && p.queue.Len() == 0 && p.inFlight == 0 {
		p.gone = true
		j := out.Get()
		j.Kind, j.Connector = Logout, p.Connector
		out.To(toBuilder, j)
	}
}
