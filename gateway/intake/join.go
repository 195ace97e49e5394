package intake

import (
	"math"
	"slices"
	"sync"

	"pmg/connector"
	"pmg/events"
	"pmg/gateway/convert"
	"pmg/gateway/credit"
	"pmg/gateway/keep"
	"pmg/gateway/node"
	"pmg/gateway/route"
	"pmg/gateway/settle"
	"pmg/sms"
	"pmg/sms/userdata"
	"pmg/store"
)

// A Joiner keeps the parts of long messages for lanes whose peers want whole messages. The
// parts were stored and answered before, each as the message that it is, and hold their
// places in the lane:
//
//	part ──► join ──► all are there ──► store: the whole for one part, without the others ──► lane
//	            └───► time-out, drain ──► the parts, as they came ──► lane
//
// After a restart the parts that the store has are sent as they came. It is safe for
// concurrent use.
type Joiner struct {
	node    *node.Node
	keep    *keep.Keeper
	table   *route.Table
	convert *convert.Converter
	events  *settle.EventLog

	mu     sync.Mutex
	joiner *userdata.Joiner[keep.Accepted] // nil: there was no part yet
}

// Join takes a part of a long message, if the lane takes whole messages. It reports false for any
// other message, which goes to its lane.
func (j *Joiner) Join(now int64, a keep.Accepted) bool {
	m := a.Message
	if m.Kind == sms.Receipt || m.Parts > 1 || m.Offset != 0 || m.Flags&sms.Scheduled != 0 || j.node.Draining() {
		return false
	}
	p, text, ok := j.table.PartOf(m)
	if !ok {
		return false
	}
	from := userdata.Source{Account: joinedBy(a.Share), From: m.Source(), To: m.Dest()}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.joiner == nil {
		limits := j.node.Config().Limits
		room := int(limits.MemoryLimit() / 16)
		j.joiner = userdata.NewJoiner[keep.Accepted](
			userdata.Limits{Octets: room, Account: room / 4, Timeout: int64(limits.JoinTimeout)},
		)
	}
	j.giveUp(now)
	outcome, values := j.joiner.Add(now, from, p, text, a, int(m.Size()))
	switch outcome {
	case userdata.Doubled: // its text leaves with that of the first one
		if m.Notify != 0 {
			return false
		}
		j.endJoined(now, nil, []keep.Accepted{a})
	case userdata.Complete:
		j.joinAll(now, values)
	case userdata.Replaced:
		j.sendParts(values)
	case userdata.Full, userdata.Invalid:
		return false
	}
	return true
}

// joinedBy returns a name for those whose parts one share has: parts of different shares are
// not joined.
func joinedBy(s *connector.Share) string {
	lane := keep.LaneName(s.Lane)
	return s.Origin.Account + "\x00" + s.Origin.Connector + "\x00" + lane.Connector + "\x00" + lane.Account
}

// joinAll gives a lane the message that parts make together. If they do not fit together,
// they are sent as they came.
func (j *Joiner) joinAll(now int64, parts []keep.Accepted) {
	at := leading(parts)
	whole := parts[at]
	m := whole.Message
	messages := make([]*sms.Message, 0, len(parts))
	expires := int64(math.MaxInt64)
	for _, p := range parts {
		messages = append(messages, p.Message)
		if p.Message.Expires != 0 {
			expires = min(expires, p.Message.Expires)
		}
	}
	before, price := m.Size(), sms.Money(0)
	for _, p := range parts {
		price += sms.PriceOf(p.Message)
	}
	if !j.convert.Join(messages, m) {
		j.sendParts(parts)
		return
	}
	sms.SetPrice(m, price)
	if expires != math.MaxInt64 {
		m.Expires = expires
	}
	if namer := j.table.PartNamer(m); namer != nil {
		namer.SetPart(m, userdata.Part{})
	}
	wish(m, messages)
	whole.Share.Use(m.Size() - before)
	others := make([]keep.Accepted, 0, len(parts)-1)
	j.endJoined(now, &whole, append(append(others, parts[:at]...), parts[at+1:]...))
}

// leading returns the part whose id the whole message has: the first that asks for a receipt,
// or else the first.
func leading(parts []keep.Accepted) int {
	return max(0, slices.IndexFunc(parts, func(p keep.Accepted) bool { return p.Message.Notify != 0 }))
}

// endJoined ends parts that are joined, and, in the same commit, stores the whole message,
// which then goes to its lane. whole is nil for a part that came twice.
func (j *Joiner) endJoined(now int64, whole *keep.Accepted, parts []keep.Accepted) {
	durable := j.keep.Durable()
	var o keep.Own
	if whole != nil {
		o = keep.Own{Share: whole.Share, Message: whole.Message, Placed: true}
	}
	if durable || j.events.Writer != nil {
		written := j.keep.Batches.Write(func(b *store.Batch) { j.addJoined(b, now, whole, parts) })
		if durable {
			o.After = written
		}
		j.keep.Batches.Commit()
	}
	for _, p := range parts {
		p.Share.Leave(p.Message)
		p.Message.Release()
	}
	if whole != nil {
		j.keep.Outgoing.Give(o)
	}
}

// addJoined ends parts, and stores the whole message in the place of the one whose record it takes.
func (j *Joiner) addJoined(b *store.Batch, now int64, whole *keep.Accepted, parts []keep.Accepted) {
	durable, ahead := j.keep.Durable(), j.node.Clock.Ahead()
	if durable && whole != nil {
		b.ReplaceOwn(whole.Message, keep.LaneName(whole.Share.Lane))
	}
	for _, p := range parts {
		lane := keep.LaneName(p.Share.Lane)
		if whole == nil { // its text leaves with that of another part, and so does the money of the others
			credit.GiveBack(p.Message, false)
		}
		if durable {
			b.Delete(p.Message.ID, store.RecordSize(p.Message, lane))
		}
		if j.events.Writer != nil {
			e := keep.Ending{State: events.Joined, Lane: lane, Answer: sms.Answer{At: now}}
			j.events.Add(b, p.Message, &e, ahead)
		}
	}
}

// sendParts gives lanes parts as they came.
func (j *Joiner) sendParts(parts []keep.Accepted) {
	for _, p := range parts {
		j.keep.Outgoing.Give(keep.Own{Share: p.Share, Message: p.Message, Placed: true})
	}
}

// giveUp sends the parts of messages whose time is over as they came.
func (j *Joiner) giveUp(now int64) {
	for parts, ok := j.joiner.Expire(now); ok; parts, ok = j.joiner.Expire(now) {
		j.sendParts(parts)
	}
}

// End sends the parts whose time is over as they came, and all parts while the
// gateway is stopping.
func (j *Joiner) End(now int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.node.Draining() {
		now = math.MaxInt64
	}
	if j.joiner != nil {
		j.giveUp(now)
	}
}

// wish makes a joined message ask for what its parts ask for.
func wish(whole *sms.Message, parts []*sms.Message) {
	var joined []sms.Joined
	for _, m := range parts {
		if m.Notify != 0 {
			joined = append(joined, sms.Joined{ID: m.KnownID(), Notify: m.Notify})
		}
	}
	if len(joined) < 2 { // the one that asks has the id of the whole
		return
	}
	s, ok := whole.Submitted()
	if !ok {
		s.Source, s.Dest = whole.Source(), whole.Dest()
	}
	s.Joined = joined
	whole.SetSubmitted(&s)
	for _, j := range joined {
		whole.Notify |= j.Notify
	}
}
