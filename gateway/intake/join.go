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

// A Joiner keeps the parts of long messages for lanes whose peers want whole messages. Each part
// was stored and answered as a message of its own, and holds a place in the lane:
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
	joiner *userdata.Joiner[keep.Accepted] // nil: no part has come yet
}

// Join takes a part of a long message, if the lane takes whole messages. It returns false for any
// other message; then the caller passes the message to its lane.
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
	case userdata.Doubled: // its text leaves with the first copy of the part
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

// joinedBy returns a name for a share. Parts of different shares are not joined.
func joinedBy(s *connector.Share) string {
	lane := keep.LaneName(s.Lane)
	return s.Origin.Account + "\x00" + s.Origin.Connector + "\x00" + lane.Connector + "\x00" + lane.Account
}

// joinAll joins parts to one message, and gives the message to the lane. Parts that do not fit
// together are sent one by one.
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
	before, price, shorts := m.Size(), sms.Money(0), 0
	for _, p := range parts {
		price, shorts = price+sms.PriceOf(p.Message), shorts+int(sms.ShortsOf(p.Message))
	}
	if !j.convert.Join(messages, m) {
		j.sendParts(parts)
		return
	}
	sms.SetPrice(m, price, uint8(min(shorts, math.MaxUint8)))
	sms.SetQuote(m, sms.Quote{}) // each part had its own, and its client knows the whole by the ids of all parts
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

// leading returns the index of the part whose id the whole message gets: the first part that
// requests a receipt, or else the first part.
func leading(parts []keep.Accepted) int {
	return max(0, slices.IndexFunc(parts, func(p keep.Accepted) bool { return p.Message.Notify != 0 }))
}

// endJoined ends joined parts and stores the whole message in the same commit. Then the whole
// message goes to its lane. whole is nil if the part has come twice.
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

// addJoined ends parts, and stores the whole message in the place of the part whose record it replaces.
func (j *Joiner) addJoined(b *store.Batch, now int64, whole *keep.Accepted, parts []keep.Accepted) {
	durable, ahead := j.keep.Durable(), j.node.Clock.Ahead()
	if durable && whole != nil {
		b.ReplaceOwn(whole.Message, keep.LaneName(whole.Share.Lane))
	}
	for _, p := range parts {
		lane := keep.LaneName(p.Share.Lane)
		if whole == nil { // the part's text leaves with another copy, so only that copy is charged
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

// sendParts passes parts to their lanes unchanged.
func (j *Joiner) sendParts(parts []keep.Accepted) {
	for _, p := range parts {
		j.keep.Outgoing.Give(keep.Own{Share: p.Share, Message: p.Message, Placed: true})
	}
}

// giveUp sends the parts of messages that have waited too long, unchanged.
func (j *Joiner) giveUp(now int64) {
	for parts, ok := j.joiner.Expire(now); ok; parts, ok = j.joiner.Expire(now) {
		j.sendParts(parts)
	}
}

// End sends parts that have waited too long, unchanged. If the gateway is stopping, it sends all
// parts.
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

// wish sets in a joined message what the parts request, such as receipts.
func wish(whole *sms.Message, parts []*sms.Message) {
	var joined []sms.Joined
	for _, m := range parts {
		if m.Notify != 0 {
			joined = append(joined, sms.Joined{ID: m.KnownID(), Notify: m.Notify})
		}
	}
	if len(joined) < 2 { // the only requesting part has the id of the whole message
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
