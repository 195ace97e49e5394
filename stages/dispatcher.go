package stages

import (
	"time"

	"pmg/connector"
	"pmg/sms"
	"pmg/stages/flow"
)

// dispatcher runs the lanes. It pairs waiting messages with free slots. If a slot's instance is not
// connected, it passes the instance to the connecter. It owns the lanes with their queues, slots,
// rates and pauses. It also owns the lanes' state of each session (connector.Outlet), and the
// instances that rest.
type dispatcher struct {
	*Deps
	touched []*connector.Lane // lanes to dispatch at the end of the batch
	out     *flow.Out[Job]    // output of the current dispatch, used by the couriers
}

func newDispatcher(d *Deps) (flow.Stage[Job], error) {
	d.dispatcher = &dispatcher{Deps: d}
	return d.dispatcher, nil
}

// touch records that a lane may be able to send messages after this batch, and returns the lane.
func (d *dispatcher) touch(l *connector.Lane) *connector.Lane {
	if !l.Touched {
		l.Touched = true
		d.touched = append(d.touched, l)
	}
	return l
}

func (d *dispatcher) Work(out *flow.Out[Job], j *Job) {
	now := out.Now()
	switch j.Kind {
	case Message:
		d.touch(j.Share.Lane).Queues.Push(now, j.Share, j.Message)
	case Answered:
		d.touch(j.Slot.Share.Lane).Answered(now, j.Slot, answerOf(j, now))
	case AnsweredLate:
		l := &j.Handle.Link
		d.touch(l.Lane).AnsweredLate(l, j.Late, answerOf(j, now))
	case Unsent:
		d.touch(j.Slot.Share.Lane).Unsent(now, j.Slot)
	case Bound:
		l := &j.Handle.Link
		d.touch(l.Lane).Window.Bound(l, j.Code == sms.OK)
	case LoggingOut:
		l := &j.Handle.Link
		d.touch(l.Lane).Window.LoggingOut(&l.Outlet)
	case Over: // removes the session's slots before the pdu builder collects the messages under way
		if l := &j.Handle.Link; l.Lane != nil {
			d.touch(l.Lane).Window.Over(&l.Outlet)
		}
		out.ToGroup(j.Handle.group, toEncoder, j)
		return
	case Closed:
		h := j.Handle
		j.Handle = nil
		if d.touch(h.Lane).Window.Closed(now, &h.Link) {
			d.dial(out, h.Instance)
		}
	case Committed:
		if d.Gateway.GoesOn() {
			for _, l := range d.Gateway.Table.Lanes() {
				d.touch(l)
			}
		}
	case Call:
		d.touch(j.Lane)
		j.Call(now)
	case Attach:
		if c := j.Connector; !c.Config().Listens() {
			for _, i := range d.touch(d.Gateway.Table.LaneOf(c)).Window.Attach() {
				d.dial(out, i)
			}
		}
	case Detach:
		d.leave(out, j.Connector)
	case Parked:
		if d.touch(d.Gateway.Table.LaneOf(j.Instance.Connector)).Window.Park(j.Instance) {
			d.dial(out, j.Instance)
		}
	}
	discard(out, j)
}

// leave takes a connector's lanes out of service. When they are empty, the connector's
// sessions are logged out.
func (d *dispatcher) leave(out *flow.Out[Job], c *connector.Connector) {
	lanes := 0
	c.Lanes(func(l *connector.Lane) {
		lanes++
		d.touch(l).Leave()
	})
	if lanes == 0 {
		d.tellBuilders(out, Logout, &extras{Connector: c})
	}
}

// answerOf returns the answer to the message of a job.
func answerOf(j *Job, now int64) sms.Answer {
	a := sms.Answer{Code: j.Code, At: now}
	if j.PDU != nil && j.Code != sms.Timeout && j.Code != sms.Lost {
		a.Status, a.PeerID = j.PDU.Status(), j.PDU.MessageID()
	}
	return a
}

// dial hands an instance to the connecter.
func (d *dispatcher) dial(out *flow.Out[Job], i *connector.Instance) {
	j := out.Get()
	j.Kind, j.extras = Dial, &extras{Instance: i}
	out.To(toConnecter, j)
}

// Flush dispatches for every lane that the batch touched.
func (d *dispatcher) Flush(out *flow.Out[Job]) {
	defer d.Gateway.Keeper.CommitEnded() // commits what the batch has ended
	for len(d.touched) > 0 {
		last := len(d.touched) - 1
		l := d.touched[last]
		d.touched = d.touched[:last] // cleared before dispatch, so that a panic there does not repeat (F20)
		l.Touched = false
		d.dispatch(out, l)
	}
}

// Tick dispatches for all lanes, because a pause may have ended or a message may have become due.
// It also moves messages from lanes that are down to other lanes.
func (d *dispatcher) Tick(out *flow.Out[Job]) time.Duration {
	now, again := out.Now(), time.Second // called again after a second, because waiting messages expire without any job
	push := func(s *connector.Share, m *sms.Message) { d.touch(s.Lane).Queues.Push(now, s, m) }
	for _, l := range d.Gateway.Table.Lanes() {
		expiring := l.Tick(now)
		if l.Move(now, push) || expiring {
			again = movePause
		}
		d.dispatch(out, l)
	}
	d.Flush(out)
	return again
}

// movePause is the pause for other work between two parts of a move.
const movePause = 5 * time.Millisecond

// dispatch pairs messages with slots until one of them runs out.
func (d *dispatcher) dispatch(out *flow.Out[Job], l *connector.Lane) {
	d.out = out
	if l.MovesOn() {
		out.TickIn(movePause)
	}
	for {
		slot, again := l.Next(out.Now())
		if slot == nil {
			if again != 0 {
				out.TickIn(time.Duration(again - out.Now()))
			}
			break
		}
		if slot.Outlet == nil {
			d.dial(out, slot.Instance)
			continue
		}
		slot.Outlet.Courier.Give(out.Now(), slot)
	}
	if l.HasHanded() {
		l.HandOver(func(s *connector.Share, m *sms.Message) { d.touch(s.Lane).Queues.Push(out.Now(), s, m) })
	}
	l.Window.Quiet(out.Now())
	d.publish(out, l)
}

// publish updates the counters that other goroutines read. If the lane has room again, it informs
// the builders, which accept waiting submits.
func (d *dispatcher) publish(out *flow.Out[Job], l *connector.Lane) {
	if l.Publish() {
		j := out.Get()
		j.Kind, j.extras = Detach, &extras{Connector: l.Home()}
		out.To(toConnecter, j)
		d.tellBuilders(out, Logout, &extras{Connector: l.Home()})
	}
	if l.WaitingForRoom.Load() > 0 && l.Queued.Load() < int64(l.Config().MaxQueue) {
		d.tellBuilders(out, Room, &extras{Lane: l})
	}
}

// tellBuilders sends a job to the builder of each group.
func (d *dispatcher) tellBuilders(out *flow.Out[Job], kind Kind, x *extras) {
	for group := range d.groups.number() {
		j := out.Get()
		j.Kind, j.extras = kind, x
		out.ToGroup(group, toBuilder, j)
	}
}
