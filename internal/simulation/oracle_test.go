package simulation

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"pmg/connector"
	"pmg/gateway/keep"
	"pmg/sms"
	"pmg/store"
)

// An oracle knows what must hold.
type oracle struct {
	w         *world
	keys      map[string]*text
	known     map[string]*text // by the ids that clients know
	all       []*text
	byID      map[uint64]*text
	doubtful  map[uint64]bool     // of batches that failed, or were under way at a crash
	over      map[uint64]bool     // messages that have ended: none of them is sent any more
	unwritten map[uint64]bool     // those of over that have ended since the node wrote some
	flying    map[uint64]bool     // messages under way in this life
	copies    []copied            // whose ids are in no commit yet
	requests  int                 // not released
	order     map[group]uint64    // the last message that was sent for the first time
	recover   uint64              // the highest id of earlier lives
	arrivals  map[uint64]*arrival // receipts that were accepted in this life, by their ids as messages
}

// A group is messages that leave in the order of their ids while nothing is sent again.
type group struct {
	lane     *connector.Lane
	share    *connector.Share
	dest     string
	priority uint8
	earlier  bool // of an earlier life
	by       int  // the conversation that has accepted them
}

func newOracle(w *world) oracle {
	return oracle{
		w: w, keys: map[string]*text{}, known: map[string]*text{}, byID: map[uint64]*text{}, doubtful: map[uint64]bool{},
		over: map[uint64]bool{}, unwritten: map[uint64]bool{}, flying: map[uint64]bool{},
	}
}

// started begins a life of the node.
func (o *oracle) started() {
	o.requests = 0
	o.arrivals = map[uint64]*arrival{}
	o.recover = o.w.disk.last
	o.order = map[group]uint64{}
	for _, c := range o.w.smscs {
		c.answersRead, c.receiptsTaken = 0, 0
		for _, s := range c.accepted {
			s.came = nil
		}
	}
}

// named records the id of a message that was accepted.
func (o *oracle) named(a keep.Accepted) {
	m, s := a.Message, a.Share
	if m.Kind == sms.Receipt {
		return
	}
	var t *text
	if m.Parts > 1 && m.Part > 0 {
		t = o.byID[m.KnownID()].top()
	} else if all := o.texts(m.Text(), 1); len(all) > 0 {
		t = all[0].top()
	} else {
		o.w.fail("the node has made a message of nothing: %q", m.Text())
		return
	}
	if t.from.client && m.Part == 0 {
		o.know(fmt.Sprintf("%016x", m.KnownID()), t)
	}
	if m.Parts > 1 {
		part := &text{key: t.key, from: t.from, dest: t.dest, priority: t.priority, delay: t.delay, validity: t.validity, registered: t.registered}
		part.whole, part.part = t, int(m.Part)+1
		t.parts = append(t.parts, part)
		o.all = append(o.all, part)
		t = part
	}
	if o.byID[m.ID] != nil {
		o.w.fail("%s and %s have the same id", o.byID[m.ID].name(), t.name())
	}
	t.id, t.lane = m.ID, nameOf(s.Lane)
	o.byID[m.ID] = t
}

func nameOf(l *connector.Lane) string {
	if l.Account != "" {
		return "account " + l.Account
	}
	return l.Home().Name
}

// put records that a message is on the disk.
func (o *oracle) put(id uint64, again bool) {
	t := o.byID[id]
	if t == nil {
		return // it is a receipt
	}
	if again && t.group == nil && t.versions == 0 && !o.doubtful[id] {
		o.w.fail("%s is stored again", t.name())
	}
	t.stored = true
	t.top().stored = true
}

// deleted records that a message is not on the disk any more.
func (o *oracle) deleted(id uint64, found bool) {
	t := o.byID[id]
	switch {
	case o.doubtful[id] || t == nil:
	case !found:
		o.w.fail("%s ends twice", t.name())
	}
	if t != nil && found {
		t.deleted = true
		o.over[id] = true
	}
}

// forwarded records that the node sends a message.
func (o *oracle) forwarded(l *connector.Lane, slot *connector.Slot) {
	m, s := slot.Message, slot.Share
	if o.flying[m.ID] {
		o.w.fail("message %d is sent although it is under way", m.ID)
	}
	o.flying[m.ID] = true
	t := o.byID[m.ID]
	if m.Kind == sms.Receipt {
		return
	}
	if t == nil || !slices.Contains(o.textsOf(m), t) {
		o.w.fail("message %d has the text %q, which is not its own", m.ID, m.Text())
		return
	}
	o.w.note("node: sends %s on %s", t.name(), slot.Link)
	if o.over[m.ID] {
		o.w.fail("%s is sent although it has ended", t.name())
	}
	if !t.stored {
		o.w.fail("%s is sent although it is not stored", t.name())
	}
	g := group{l, s, t.dest, m.Priority, m.ID <= o.recover, t.by}
	if t.lane != nameOf(l) || t.delay > 0 || t.failed > 0 || t.may > 0 || t.moved || t.versions > 0 || t.group != nil {
		return // it was moved, waited or was sent before, and others went ahead meanwhile
	}
	if m.ID < o.order[g] {
		o.w.fail("%s is sent behind %s", t.name(), o.byID[o.order[g]].name())
	}
	o.order[g] = m.ID
}

// answered records what came of a request.
func (o *oracle) answered(slot *connector.Slot, a sms.Answer) {
	m := slot.Message
	delete(o.flying, m.ID)
	for _, t := range o.textsOf(m) {
		o.w.note("node: %s is answered %s", t.name(), a.Code)
		switch {
		case a.Code == sms.Lost || a.Code == sms.Timeout:
			t.may++
			t.failed++
		case a.Code.Retryable():
			t.failed++
		default:
			o.ended(m.ID, a.Code.String())
		}
	}
}

// ended records that the node knows how a message has ended.
func (o *oracle) ended(id uint64, how string) {
	if t := o.byID[id]; t != nil {
		o.w.note("node: %s has ended: %s", t.name(), how)
		o.over[id], o.unwritten[id] = true, true
	}
}

// written records that a kill brings back no message that has ended so far.
func (o *oracle) written() { clear(o.unwritten) }

// unanswered records that it will not be known what came of a request.
func (o *oracle) unanswered(id uint64) {
	t := o.byID[id]
	if t == nil {
		return
	}
	t.may++
	for _, other := range t.group {
		if other != t {
			other.may++
		}
	}
}

// crashed records what a crash makes of what was under way. After a power cut, or where the disk was broken, messages that have
// ended may come back.
func (o *oracle) crashed(forgets bool) {
	for _, id := range slices.Sorted(maps.Keys(o.flying)) {
		o.unanswered(id)
	}
	clear(o.flying)
	back := func(t *text) bool { return !t.deleted && (forgets || o.unwritten[t.id]) }
	for _, c := range o.w.smscs {
		for _, s := range c.accepted {
			s.doubtful = s.doubtful || slices.ContainsFunc(s.texts, back)
		}
	}
	for id := range o.over {
		if back(o.byID[id]) {
			o.unanswered(id)
			delete(o.over, id)
		}
	}
	o.written()
}

// closed records that a process has ended by itself.
func (o *oracle) closed() {
	if o.w.disk.broken {
		o.forgotten(false)
	}
	o.copies = nil
	for id := range o.over {
		if t := o.byID[id]; !t.deleted && !o.w.disk.broken {
			o.w.fail("%s has ended, and a node that has ended by itself has left it in the store", t.key)
		}
	}
}

// confirmed records the answer to a submit.
func (o *oracle) confirmed(t *text, code sms.Code) {
	o.w.note("%s: %s is answered %s", t.from.name, t.key, code)
	t.answered, t.answer = true, code
	for _, p := range t.parts {
		p.answered, p.answer = true, code
		t.stored = t.stored && p.stored
	}
	if code == sms.OK && !t.stored {
		o.w.fail("%s is confirmed although it is not stored", t.key)
	}
}

// taken records how a peer answers a message.
func (o *oracle) taken(t *text, code sms.Code) {
	switch {
	case code == sms.OK:
		t.taken++
	case !code.Retryable():
		t.refused = true
	}
	switch {
	case t.taken > 1+t.may:
		o.w.fail("%s is delivered %d times, but a request was in doubt %d times only", t.name(), t.taken, t.may)
	case t.cancelled && t.taken > t.may:
		o.w.fail("%s is delivered although it was cancelled, or deleted", t.name())
	}
}

// settled reports whether every message has reached its end.
func (o *oracle) settled() bool {
	n := o.w.node
	if n == nil || len(n.storing) > 0 || n.commands > 0 || len(o.flying) > 0 || n.g.Pending() > 0 || n.g.Scheduled() > 0 {
		return false
	}
	for _, c := range o.w.smscs {
		if c.unsent > 0 && c.hasSession() {
			return false
		}
	}
	for _, s := range o.w.stations {
		if s.left > 0 {
			return false
		}
		for _, p := range s.peers {
			if len(p.asked)+len(p.changes) > 0 {
				return false
			}
		}
	}
	return n.g.Keeper.Recovered() && n.g.Keeper.Batches.Stats().Waiting == 0 && o.w.disk.waiting() == 0 && o.memory() == 0 && o.missing() == ""
}

// memory returns how many octets of messages are counted that are gone. An orphan is counted at the next tick.
func (o *oracle) memory() int64 {
	g := o.w.node.g
	return g.Node.Memory.Used() - g.Keeper.Aside(store.Orphan)*orphanOctets
}

// check looks at the end of a history.
func (o *oracle) check() {
	w := o.w
	if !o.settled() {
		w.fail("not settled in time: %s", o.left())
		return
	}
	for _, t := range o.all {
		switch {
		case t.answered && t.answer == sms.OK && !t.stored:
			w.fail("%s was confirmed and is lost", t.name())
		case t.answered && t.answer != sms.OK && t.taken > 0:
			w.fail("%s was answered %s and is delivered", t.name(), t.answer)
		case !t.stored || t.taken > 0 || t.refused || len(t.parts) > 0 || t.withdrawn > 0:
		case o.ofOutcome(t):
		default:
			w.fail("%s was stored and is lost: sent %d times in vain", t.name(), t.failed)
		}
	}
	n := w.node
	if used := o.memory(); used != 0 || o.requests != 0 || len(o.flying) != 0 {
		w.fail("%d octets of memory, %d requests, %d messages under way are left", used, o.requests, len(o.flying))
	}
	for _, l := range n.g.Table.Lanes() {
		if l.Queued.Load() != 0 || l.WaitingForRoom.Load() != 0 || l.Queues.Len() != 0 {
			w.fail("lane of %s%s: %d places, %d wait for room, %d wait", l.Home().Name, l.Account, l.Queued.Load(), l.WaitingForRoom.Load(), l.Queues.Len())
		}
		l.Queues.Shares(func(s *connector.Share) {
			if s.Queued() != 0 || s.WaitingForRoom() != 0 {
				w.fail("share of %s: %d places, %d wait for room", s.Origin.Account, s.Queued(), s.WaitingForRoom())
			}
		})
	}
	for _, c := range n.g.Table.Connectors() {
		if c.Stats.InFlight.Load() != 0 || c.Stats.Queued.Load() != 0 {
			w.fail("connector %s: %d under way, %d wait", c.Name, c.Stats.InFlight.Load(), c.Stats.Queued.Load())
		}
	}
}

// orphanOctets are what the gateway counts for a receipt whose message is not known.
const orphanOctets = 1300

// ofOutcome reports whether a message that was not delivered may have ended so: its validity
// has passed, or it was given up after as many attempts as it may have.
func (o *oracle) ofOutcome(t *text) bool {
	return o.doubtful[t.id] && !(t.answered && t.answer == sms.OK) || t.validity > 0 || o.isGivenUp(t)
}

// isGivenUp reports whether a message was sent in vain so often that it may be given up.
func (o *oracle) isGivenUp(t *text) bool {
	_, again := o.w.plan.cfg.Connectors[1].Retry.Temporary.After(max(t.failed, 1))
	return !again
}

// left says what is not settled.
func (o *oracle) left() string {
	s := fmt.Sprintf("node %t, %d on disk, missing %q", o.w.node != nil, o.w.disk.waiting(), o.missing())
	if o.w.node != nil {
		s += fmt.Sprintf(", %d octets of memory", o.memory())
	}
	for _, c := range o.w.smscs {
		s += fmt.Sprintf(", %d receipts not taken", c.unsent)
	}
	if n := o.w.node; n != nil {
		s += fmt.Sprintf(", %d being stored, recovered %t, %d pending, %d scheduled, %d commands, %d under way, %+v", len(n.storing), n.g.Keeper.Recovered(), n.g.Pending(), n.g.Scheduled(), n.commands, len(o.flying), n.g.Keeper.Batches.Stats())
	}
	for _, id := range o.w.disk.ids {
		if t := o.byID[id]; t != nil {
			s += " " + t.name()
		}
	}
	for _, st := range o.w.stations {
		s += fmt.Sprintf("; %s: %d left, %d sessions", st.name, st.left, len(st.peers))
		for _, p := range st.peers {
			s += fmt.Sprintf(" (bound %t, leaving %t, %d asked)", p.bound, p.leaving, len(p.asked))
		}
	}
	return s
}

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x706d67)) }
