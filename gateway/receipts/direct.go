package receipts

import (
	"time"

	"pmg/config"
	"pmg/connector"
	"pmg/sms"
	"pmg/store"
)

// A Verdict is the decision about a receipt whose message is known.
type Verdict uint8

const (
	passOn  Verdict = iota // the receipt goes to its client
	Dropped                // the client has not requested the receipt, or does not exist any more
	// the receipt goes no further, but its contents are in the open batch: the outcome of a part, or a
	// receipt to ask plugins about
	Recorded
	Unread // the outcomes of other parts must be read from the store
)

// Direct converts a receipt of an SMSC to the client's receipt. It returns the share for the
// receipt, and what to do with the receipt.
func (d *Matcher) Direct(now int64, m *sms.Message, f *Match) (*connector.Share, Verdict) {
	r, _ := m.Report()
	c := &d.Counts
	countNetwork(d, now, m, f, r.State)
	ends := Dropped
	if badness(r.State) > badness(sms.StateUnknown) && undo(d, now, f) {
		ends = Recorded
	}
	if r.State == sms.StateDelivered {
		keepCharge(d, now, f)
	}
	if f.Mapping.Notify == 0 {
		if f.Mapping.Price == 0 && ends == Dropped {
			d.isUnasked(m)
		}
		countDelay(d, now, m, f, r.State)
		c.Unwanted.Add(1)
		return nil, ends
	}
	f.Mapping.ReportedBy(m.Origin.Connector)
	if f.Mapping.Parts > 1 && endsPart(r.State) {
		joined, v := d.Parts.ended(&f.Mapping, &r, d.Parts.reads(f.Mapping.WholeID()), isOfAll(d, m))
		if v == Recorded {
			d.Parts.record(&f.Mapping, m.Text())
		}
		if v != passOn {
			return nil, v
		}
		r = joined
	}
	f.Says = r.State
	if d.recordReport(now, &f.Mapping, &r) || f.Mapping.Parts > 1 && endsPart(r.State) {
		ends = Recorded
	}
	countDelay(d, now, m, f, r.State)
	known, others := receivers(&f.Mapping, r.State)
	if known == 0 {
		c.Unwanted.Add(1)
		return nil, ends
	}
	lane := d.table.ClientLane(string(f.Mapping.Account), f.Mapping.Context)
	if lane == nil {
		if isHomeless(f.Mapping.Context) {
			c.Homeless.Add(1)
			d.logHomeless(string(f.Mapping.Account))
		}
		return nil, ends
	}
	f.More = d.addressAll(now, m, &f.Mapping, &r, known, others)
	return d.table.Share(lane, m.Origin), passOn
}

// isOfAll reports whether a receipt is about all parts of a long message, because its SMSC sends one for them.
func isOfAll(d *Matcher, m *sms.Message) bool {
	c := d.table.Connector(m.Origin.Connector)
	return c != nil && c.Config().ReceiptParts == config.OneReceipt
}

// countDelay counts how long a final receipt took: the time since the message was accepted or was
// due.
func countDelay(d *Matcher, now int64, m *sms.Message, f *Match, s sms.State) {
	if c := d.table.Connector(m.Origin.Connector); c != nil && s.Final() {
		c.Stats.Receipt.Observe(max(0, d.node.Clock.Wall(now)-max(f.Mapping.Arrived, f.Mapping.DeliverAt)))
	}
}

// countNetwork counts the outcome of a message for its network.
func countNetwork(d *Matcher, now int64, m *sms.Message, f *Match, s sms.State) {
	if f.Mapping.Network == 0 || !s.Final() {
		return
	}
	if c := d.table.Connector(m.Origin.Connector); c != nil {
		took := d.node.Clock.Wall(now) - max(f.Mapping.Arrived, f.Mapping.DeliverAt)
		c.Stats.Networks.Ended(f.Mapping.Network, s == sms.StateDelivered, took)
	}
}

// wants reports whether a client that has asked for receipts of these outcomes wants one. A client
// also gets receipts with unknown states, because these may stand for any outcome. It also gets
// ACCEPTD, which may be the only receipt of a delivered message.
func wants(n sms.Notify, s sms.State) bool {
	switch {
	case s == sms.NoState:
		return n&^sms.NotifySent != 0
	case s == sms.StateDelivered || s == sms.StateAccepted:
		return n&sms.NotifySuccess != 0
	case !s.Final():
		return n&sms.NotifyProgress != 0
	}
	return n&sms.NotifyFailure != 0
}

// address converts m to the receipt r of a message, for its client. known is the id by which the
// client knows the message. r may point into m.
func (d *Matcher) address(now int64, m *sms.Message, f *store.Mapping, r *sms.Report, known uint64) {
	r.Known, r.Original, r.Context = known, nil, f.Context
	wall := d.node.Clock.Wall(now)
	if r.Accepted = 0; len(f.Context) > 0 {
		r.Accepted, r.Parts = f.Arrived, max(f.Parts, 1)
	}
	if r.Submitted == 0 {
		r.Submitted = f.Arrived
	}
	if r.Done == 0 && endsPart(r.State) {
		r.Done = wall
	}
	if r.Done != 0 { // the times of an SMSC are often whole minutes, or those of another zone or year
		r.Done = max(r.Done, f.Arrived)
	}
	protocol, native := m.NativePart()
	var room [256]byte // most native parts fit, and are not allocated
	native = append(room[:0], native...)
	source, dest := f.Source, f.Dest
	if s, ok := sms.ReadSubmitted(f.Submitted); ok {
		source, dest = s.Source, s.Dest
	}
	m.SetReport(dest, source, r)
	if len(native) > 0 {
		m.SetNative(protocol, native)
	}
	m.Arrived, m.DeliverAt, m.NotBefore = now, 0, toldAfter(now, f.Arrived-d.node.Clock.Ahead(), f, r)
	m.Expires = now + int64(validity(&d.node.Config().Receipts, f.Context))
	m.Notify, m.Offset, m.Part, m.Parts, m.Network = 0, 0, 0, 0, f.Network
	m.Flags &^= sms.HasHeader | sms.ReplyPath | sms.RelativeValidity
}

// How long after a client's request by HTTP its webhook is not called about the message, so that the answer to the
// request comes first; and how long after the event that an SMSC has taken the message the next event waits, because
// some SMSCs send a receipt in the same segment.
const (
	answerTime = int64(200 * time.Millisecond)
	takenTime  = 2 * answerTime
)

// toldAfter returns the time before which the webhook is not called with r. arrived is when the
// message arrived. If the result is 0, the webhook may be called immediately.
func toldAfter(now, arrived int64, f *store.Mapping, r *sms.Report) int64 {
	if len(f.Context) == 0 {
		return 0
	}
	due := arrived + answerTime
	if !r.Taken {
		due = arrived + takenTime
		if f.Notify&sms.NotifySent != 0 {
			due = max(due, now+takenTime)
		}
	}
	if due <= now || due > now+takenTime { // the clock was set meanwhile
		return 0
	}
	return due
}

// validity returns how long a receipt waits for its client. A receipt with a context is for a
// server, which may be down for days.
func validity(c *config.Receipts, context []byte) time.Duration {
	if len(context) == 0 {
		return c.Validity
	}
	return c.CallbackValidity
}

// isHomeless reports whether the client loses a receipt if no lane takes the receipt. It does not
// if the context names no URL, because such a client can query the outcome.
func isHomeless(context []byte) bool { return len(context) == 0 || sms.EndpointOf(context) != "" }
