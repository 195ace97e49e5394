package stages

import (
	"time"

	"pmg/connector"
	"pmg/flow"
	"pmg/gateway"
	"pmg/sms"
)

// dispatcher owns the connectors' outboxes. It pairs a waiting message with a
// free slot; a slot whose instance is not connected goes to the connecter.
type dispatcher struct {
	*Deps
	boxes   []*box // by Connector.Index
	touched []*box // to be looked at when the batch is over
}

// A box is an outbox that the batch may have touched.
type box struct {
	*gateway.Outbox
	touched bool
}

func newDispatcher(d *Deps) (flow.Stage[Job], error) { return &dispatcher{Deps: d}, nil }

func (d *dispatcher) box(c *connector.Connector) *box {
	for c.Index >= len(d.boxes) {
		d.boxes = append(d.boxes, nil)
	}
	b := d.boxes[c.Index]
	if b == nil {
		b = &box{Outbox: d.Gateway.NewOutbox(c)}
		d.boxes[c.Index] = b
	}
	if !b.touched {
		b.touched = true
		d.touched = append(d.touched, b)
	}
	return b
}

func (d *dispatcher) Work(out *flow.Out[Job], j *Job) {
	switch j.Kind {
	case Message:
		d.box(j.Connector).Push(out.Now(), j.Message)
	case Answered:
		d.box(j.Slot.Instance.Connector).Answered(out.Now(), j.Slot, j.Code)
	case Bound:
		d.box(j.Handle.Connector).Bound(&j.Handle.Link, j.Code == sms.OK)
	case Over: // takes the slots away before the encoder collects what is under way
		d.box(j.Handle.Connector).Over(&j.Handle.Link)
		out.To(toEncoder, j)
		return
	case Closed:
		h := j.Handle
		j.Handle = nil
		if again, code := d.box(h.Connector).Closed(&h.Link); again {
			d.dial(out, h.Instance, code)
		}
	case Attach:
		for _, i := range d.box(j.Connector).Attach() {
			d.dial(out, i, sms.OK)
		}
	case Detach:
		d.box(j.Connector).Leave()
	case Parked:
		d.box(j.Connector).Park(j.Instance)
	}
	discard(out, j)
}

// dial hands an instance to the connecter. code tells how its last session ended.
func (d *dispatcher) dial(out *flow.Out[Job], i *connector.Instance, code sms.Code) {
	j := out.Get()
	j.Kind, j.Connector, j.Instance, j.Code = Dial, i.Connector, i, code
	out.To(toConnecter, j)
}

// Flush looks at every connector that the batch touched.
func (d *dispatcher) Flush(out *flow.Out[Job]) {
	for i, b := range d.touched {
		b.touched = false
		d.touched[i] = nil
		d.dispatch(out, b)
		d.publish(out, b)
	}
	d.touched = d.touched[:0]
}

// Tick looks at all of them: a pause may be over, a message due.
func (d *dispatcher) Tick(out *flow.Out[Job]) time.Duration {
	for _, b := range d.boxes {
		if b != nil && !b.Gone() {
			d.dispatch(out, b)
			d.publish(out, b)
		}
	}
	return time.Second // queue ages change and validities end by themselves
}

// dispatch pairs messages with slots until one of them runs out.
func (d *dispatcher) dispatch(out *flow.Out[Job], b *box) {
	for {
		slot, again := b.Next(out.Now())
		if slot == nil {
			if again != 0 {
				out.TickIn(time.Duration(again - out.Now()))
			}
			return
		}
		if slot.Link == nil {
			d.dial(out, slot.Instance, sms.OK)
			continue
		}
		j := out.Get()
		j.Kind, j.Slot = Forward, slot
		out.To(toEncoder, j)
	}
}

// publish shows what others may look at, and lets in who waits for room.
func (d *dispatcher) publish(out *flow.Out[Job], b *box) {
	if b.Publish() {
		d.tell(out, toConnecter, Detach, b.Connector)
		d.tell(out, toBuilder, Logout, b.Connector)
	}
	if b.Starved.Load() && b.Room() > 0 {
		d.tell(out, toBuilder, Room, b.Connector)
	}
}

func (d *dispatcher) tell(out *flow.Out[Job], row int, kind Kind, c *connector.Connector) {
	j := out.Get()
	j.Kind, j.Connector = kind, c
	out.To(row, j)
}
