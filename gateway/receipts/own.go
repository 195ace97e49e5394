package receipts

import (
	"encoding/binary"
	"fmt"

	"pmg/connector"
	"pmg/events"
	"pmg/gateway/keep"
	"pmg/sms"
	"pmg/store"
)

// Made are the receipts of the gateway for a message that has ended without being accepted by an
// SMSC.
type Made struct {
	message *sms.Message     // the receipt; nil: none
	share   *connector.Share // share in which the receipt has its place
	state   sms.State        // the state in the receipt
	by      string           // the connector by which the message would have left; "": none
	more    []*sms.Message   // further receipts, for the other messages from which the message was joined
	unread  *unreadPart      // set if outcomes of other parts must first be read from the store; nil: none
}

// IsAny reports whether SendMade has anything to do.
func (o *Made) IsAny() bool { return o.message != nil || o.unread != nil }

// OwnReceipt returns the receipts of a message that has ended, if its client wants any. The caller
// then calls SendMade.
func (d *Matcher) OwnReceipt(m *sms.Message, e *keep.Ending) (made Made) {
	if m.Kind != sms.Submit || m.Account() == "" {
		return made
	}
	taken := e.State == events.Sent
	if !taken && m.Notify&sms.NotifyFailure == 0 || taken && (m.Notify&sms.NotifySent == 0 || m.Offset != 0) {
		return made
	}
	ahead := d.node.Clock.Ahead()
	r := sms.Report{
		State: stateOfEnd(e.State), Untaken: true, Err: errOf(e.Answer.Status), Submitted: m.Arrived + ahead,
		Done: e.Answer.At + ahead,
	}
	v := store.MappingOf(m, ahead)
	v.ReportedBy(e.Lane.Connector)
	if len(v.Context) > 0 {
		r.Answer = answerOf(e)
	}
	if !taken {
		unquote(&v)
	}
	switch {
	case taken:
		r.State, r.Taken, r.Untaken, r.ID = sms.StateEnroute, true, false, e.Answer.PeerID
		if m.Parts > 1 {
			d.Parts.begin(v.WholeID())
		}
	case m.Parts > 1:
		joined, verdict := d.Parts.ended(&v, &r, d.Parts.reads(v.WholeID()), false)
		if verdict != passOn {
			return d.Parts.putOff(&v, &r, verdict)
		}
		r = joined
		d.recordReport(d.node.Clock.Now(), &v, &r)
	}
	lane := d.table.ClientLane(m.Account(), m.Context())
	if lane == nil {
		if isHomeless(m.Context()) {
			d.Counts.Homeless.Add(1)
		}
		return made
	}
	own := d.newReceipt(lane, v.By)
	if taken {
		// Messages that are due leave in the order in which they came, and the SMSC's receipt may have come in the
		// same segment as its answer.
		d.address(e.Answer.At-takenTime, own, &v, &r, v.KnownID())
		own.NotBefore = toldAfter(e.Answer.At, m.Arrived, &v, &r)
	} else {
		known, others := receivers(&v, r.State)
		made.more = d.addressAll(d.node.Clock.Now(), own, &v, &r, known, others)
	}
	own.ID = d.keep.IDs.Add(1)
	for _, other := range made.more {
		other.ID = d.keep.IDs.Add(1)
	}
	made.message, made.share, made.state, made.by = own, d.table.Share(lane, own.Origin), r.State, string(v.By)
	return made
}

// newReceipt returns an empty receipt for the clients of a lane. It comes from the connector that the message left by or,
// if it left by none, from the clients' own.
func (d *Matcher) newReceipt(lane *connector.Lane, by []byte) *sms.Message {
	m := d.node.Messages.Get()
	m.Origin = d.node.Origins.Of("", lane.Home().Name)
	if len(by) > 0 {
		m.Origin = d.node.Origins.Of("", string(by))
	}
	m.Kind, m.Flags = sms.Receipt, sms.HasReport
	return m
}

// errOf returns the status of an SMSC as text for receipts, in three digits.
func errOf(status uint32) []byte {
	if status == 0 || status > 999 {
		return nil
	}
	return fmt.Appendf(nil, "%03d", status)
}

// answerOf returns the status with which an SMSC has refused a message, and its name, as Report.Answer has them; or why the
// gateway has given it up.
func answerOf(e *keep.Ending) []byte {
	name := e.Answer.Code.String()
	if e.Peer != nil && e.Answer.Status != 0 {
		name = e.Peer.StatusName(e.Answer.Status)
	}
	return append(binary.BigEndian.AppendUint32(nil, e.Answer.Status), name...)
}

// SendMade sends the receipts that OwnReceipt has made, or reads the outcomes of other parts. b is the open
// batch.
func (d *Matcher) SendMade(b *store.Batch, made *Made) {
	if made.message != nil {
		made.share.Lane.Ends.Count(made.state)
		if c := d.table.Connector(made.by); c != nil && made.state.Final() {
			c.Stats.Untaken.Add(1)
		}
		d.sendCounted(b, made.message, made.share)
	}
	for _, other := range made.more {
		d.sendCounted(b, other, made.share)
	}
	if unread := made.unread; unread != nil {
		d.keep.Outgoing.Give(keep.Own{After: b.Position(), Work: func() { d.Parts.join(unread) }})
	}
}

// sendCounted sends a receipt, and counts it as one that the gateway has made.
func (d *Matcher) sendCounted(b *store.Batch, m *sms.Message, s *connector.Share) {
	d.send(b, m, s)
	d.Counts.Own.Add(1)
}

// stateOfEnd returns the state in a receipt for a message with this end.
func stateOfEnd(s events.State) sms.State {
	switch s {
	case events.Expired:
		return sms.StateExpired
	case events.Deleted:
		return sms.StateDeleted
	case events.Rejected:
		return sms.StateRejected
	case events.Unknown:
		return sms.StateUnknown
	}
	return sms.StateUndeliverable
}

// send stores a receipt for a lane. When it is stored, its plugins are asked, or its lane gets it. b is the open batch.
func (d *Matcher) send(b *store.Batch, m *sms.Message, s *connector.Share) {
	if d.Asking.Asks(m, s) {
		d.Asking.put(b, m, s)
		return
	}
	d.give(b, m, s)
}

// give stores a receipt, and gives it to its lane when it is stored. b is the open batch.
func (d *Matcher) give(b *store.Batch, m *sms.Message, s *connector.Share) {
	o := keep.Own{Share: s, Message: m}
	if d.keep.Durable() {
		b.PutOwn(m, keep.LaneName(s.Lane))
		o.After = b.Position()
	}
	d.keep.Outgoing.Give(o)
}

// sendOwn makes the receipt r of a long message and sends it, if the client wants it. The parts
// have ended, or have been waited for long enough.
func (d *Matcher) sendOwn(f *store.Mapping, r *sms.Report) {
	known, others := receivers(f, r.State)
	lane := d.table.ClientLane(string(f.Account), f.Context)
	if known == 0 || lane == nil {
		return
	}
	own := d.newReceipt(lane, f.By)
	all := append(d.addressAll(d.node.Clock.Now(), own, f, r, known, others), own)
	share := d.table.Share(lane, own.Origin)
	d.keep.Batches.Write(func(b *store.Batch) {
		for _, m := range all {
			m.ID = d.keep.IDs.Add(1)
			d.sendCounted(b, m, share)
		}
	})
	d.keep.Batches.CommitSoon()
}
