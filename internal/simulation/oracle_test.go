package simulation

import (
	"fmt"
	"math/rand/v2"
	"time"

	"pmg/connector"
	"pmg/sms"
	"pmg/store"
)

// A text is what a peer submits, once. Its key is the text of the message.
type text struct {
	key      string
	from     *station
	dest     string
	priority uint8
	delay    time.Duration // until its delivery time
	validity time.Duration

	lane     string   // that it was accepted for
	id       uint64   // of the message that was made of it last; 0: none
	answer   sms.Code // to the submit
	answered bool
	stored   bool // it has been on the disk
	deleted  bool
	taken    int // how often a peer has taken it
	may      int // how often it may be sent once more, because what came of a request is not known
	failed   int // how often it was sent in vain
	refused  bool
}

// An oracle knows what must hold.
type oracle struct {
	w        *world
	keys     map[string]*text
	all      []*text
	byID     map[uint64]*text
	doubtful map[uint64]bool  // of batches that failed, or were under way at a crash
	over     map[uint64]bool  // messages that have ended: none of them is sent any more
	flying   map[uint64]bool  // messages under way in this life
	requests int              // not released
	order    map[group]uint64 // the last message that was sent for the first time
	recover  uint64           // the highest id of earlier lives
}

// A group is messages that leave in the order of their ids while nothing is sent again.
type group struct {
	lane     *connector.Lane
	share    *connector.Share
	dest     string
	priority uint8
	earlier  bool // of an earlier life
}

func newOracle(w *world) oracle {
	return oracle{
		w: w, keys: map[string]*text{}, byID: map[uint64]*text{}, doubtful: map[uint64]bool{},
		over: map[uint64]bool{}, flying: map[uint64]bool{},
	}
}

// newText makes what a station submits next.
func (o *oracle) newText(s *station) *text {
	w := o.w
	t := &text{key: fmt.Sprintf("%s-%d", s.name, len(o.all)), from: s, dest: fmt.Sprint(49170 + w.rng.IntN(4)), priority: uint8(w.rng.IntN(3))}
	if !s.client {
		t.dest = fmt.Sprint(1 + w.rng.IntN(2))
	} else {
		if w.fault(w.plan.scheduled) {
			t.delay = time.Duration(1+w.rng.IntN(90)) * time.Second
		}
		if w.fault(w.plan.validity) {
			t.validity = t.delay + time.Duration(2+w.rng.IntN(120))*time.Second
		}
	}
	o.keys[t.key] = t
	o.all = append(o.all, t)
	return t
}

func (o *oracle) text(key []byte) *text { return o.keys[string(key)] }

// started begins a life of the node.
func (o *oracle) started() {
	o.requests = 0
	o.recover = o.w.disk.last
	o.order = map[group]uint64{}
}

// named notes the id of a message that was accepted.
func (o *oracle) named(m *sms.Message, s *connector.Share) {
	t := o.text(m.Text())
	if t == nil {
		o.w.fail("the node has made a message of nothing: %q", m.Text())
		return
	}
	if o.byID[m.ID] != nil {
		o.w.fail("%s and %s have the same id", o.byID[m.ID].key, t.key)
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

// put notes that a message is on the disk.
func (o *oracle) put(id uint64, again bool) {
	t := o.byID[id]
	if t == nil || again {
		o.w.fail("message %d is stored, again %t", id, again)
		return
	}
	t.stored = true
}

// deleted notes that a message is not on the disk any more.
func (o *oracle) deleted(id uint64, found bool) {
	t := o.byID[id]
	switch {
	case o.doubtful[id]:
	case !found:
		o.w.fail("message %d (%v) ends twice", id, t)
	}
	if t != nil && found {
		t.deleted = true
		o.over[id] = true
	}
}

// forwarded notes that the node sends a message.
func (o *oracle) forwarded(l *connector.Lane, slot *connector.Slot) {
	m, s := slot.Message, slot.Share
	t := o.byID[m.ID]
	if t == nil || t.key != string(m.Text()) {
		o.w.fail("message %d has the text %q, which is not its own", m.ID, m.Text())
		return
	}
	o.w.note("node: sends %s on %s", t.key, slot.Link)
	if o.over[m.ID] {
		o.w.fail("%s is sent although it has ended", t.key)
	}
	if o.flying[m.ID] {
		o.w.fail("%s is sent although it is under way", t.key)
	}
	if !t.stored {
		o.w.fail("%s is sent although it is not stored", t.key)
	}
	o.flying[m.ID] = true
	g := group{l, s, t.dest, m.Priority, m.ID <= o.recover}
	if t.lane != nameOf(l) || t.delay > 0 || t.failed > 0 || t.may > 0 {
		return // it was moved, waited or was sent before, and others went ahead meanwhile
	}
	if m.ID < o.order[g] {
		o.w.fail("%s is sent behind %s", t.key, o.byID[o.order[g]].key)
	}
	o.order[g] = m.ID
}

// answered notes what came of a request.
func (o *oracle) answered(slot *connector.Slot, a sms.Answer) {
	id := slot.Message.ID
	t := o.byID[id]
	o.w.note("node: %s is answered %s", t.key, a.Code)
	delete(o.flying, id)
	switch {
	case a.Code == sms.Lost || a.Code == sms.Timeout:
		t.may++
		t.failed++
	case a.Code.Retryable():
		t.failed++
	default:
		o.ended(id, a.Code.String())
	}
}

// ended notes that the node knows how a message has ended.
func (o *oracle) ended(id uint64, how string) {
	o.w.note("node: %s has ended: %s", o.byID[id].key, how)
	o.over[id] = true
}

// crashed notes what a crash makes of what was under way.
func (o *oracle) crashed(power bool) {
	for id := range o.flying {
		o.byID[id].may++
	}
	clear(o.flying)
	if !power {
		return
	}
	for id := range o.over {
		if t := o.byID[id]; !t.deleted {
			t.may++
			delete(o.over, id)
		}
	}
}

// closed notes that a process has ended by itself.
func (o *oracle) closed() {
	for id := range o.over {
		if t := o.byID[id]; !t.deleted && !o.w.disk.broken {
			o.w.fail("%s has ended, and a node that has ended by itself has left it in the store", t.key)
		}
	}
}

// confirmed notes the answer to a submit.
func (o *oracle) confirmed(t *text, code sms.Code) {
	o.w.note("%s: %s is answered %s", t.from.name, t.key, code)
	t.answered, t.answer = true, code
	if code == sms.OK && !t.stored {
		o.w.fail("%s is confirmed although it is not stored", t.key)
	}
}

// taken notes how a peer answers a message.
func (o *oracle) taken(t *text, code sms.Code) {
	switch {
	case code == sms.OK:
		t.taken++
	case !code.Retryable():
		t.refused = true
	}
	if t.taken > 1+t.may {
		o.w.fail("%s is delivered %d times, but a request was in doubt %d times only", t.key, t.taken, t.may)
	}
}

// settled reports whether every message has reached its end.
func (o *oracle) settled() bool {
	n := o.w.node
	if n == nil || len(o.w.disk.ids) > 0 || len(n.storing) > 0 || !n.g.Recovered() || n.g.Committer.Stats().Waiting > 0 {
		return false
	}
	for _, s := range o.w.stations {
		if s.left > 0 {
			return false
		}
		for _, p := range s.peers {
			if len(p.asked) > 0 {
				return false
			}
		}
	}
	return n.g.Pending() == 0 && n.g.Scheduled() == 0
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
			w.fail("%s was confirmed and is lost", t.key)
		case t.answered && t.answer != sms.OK && t.taken > 0 && !o.doubtful[t.id]:
			w.fail("%s was answered %s and is delivered", t.key, t.answer)
		case !t.stored || t.taken > 0 || t.refused:
		case o.ofOutcome(t):
		default:
			w.fail("%s was stored and is lost: sent %d times in vain", t.key, t.failed)
		}
	}
	n := w.node
	if n.g.Memory.Used() != 0 || o.requests != 0 || len(o.flying) != 0 {
		w.fail("%d octets of memory, %d requests, %d messages under way are left", n.g.Memory.Used(), o.requests, len(o.flying))
	}
	for _, l := range n.g.Lanes() {
		if l.Queued.Load() != 0 || l.Held.Load() != 0 || l.Len() != 0 {
			w.fail("lane of %s%s: %d places, %d held, %d wait", l.Home().Name, l.Account, l.Queued.Load(), l.Held.Load(), l.Len())
		}
		l.Shares(func(s *connector.Share) {
			if s.Queued() != 0 || s.Held() != 0 {
				w.fail("share of %s: %d places, %d held", s.Origin.Account, s.Queued(), s.Held())
			}
		})
	}
	for _, c := range n.g.Connectors() {
		if c.Stats.InFlight.Load() != 0 || c.Stats.Queued.Load() != 0 {
			w.fail("connector %s: %d under way, %d wait", c.Name, c.Stats.InFlight.Load(), c.Stats.Queued.Load())
		}
	}
}

// ofOutcome reports whether a message that was not delivered may have ended so: its validity
// has passed, or it was given up after as many attempts as it may have.
func (o *oracle) ofOutcome(t *text) (ok bool) {
	store.OutcomesIn(o.w.outcomes).Read(func(v store.Outcome) {
		if v.ID == t.id && (v.Code == sms.Expired && t.validity > 0 || v.Code.Retryable() && o.isGivenUp(t)) {
			ok = true
		}
	})
	return ok || o.doubtful[t.id] && !(t.answered && t.answer == sms.OK) || t.validity > 0 && !o.noted(t)
}

// isGivenUp reports whether a message was sent in vain so often that it may be given up.
func (o *oracle) isGivenUp(t *text) bool {
	_, again := o.w.plan.cfg.Connectors[1].Retry.Temporary.After(max(t.failed, 1))
	return !again
}

// noted reports whether it is noted how a message has ended; a power cut forgets that.
func (o *oracle) noted(t *text) (found bool) {
	store.OutcomesIn(o.w.outcomes).Read(func(v store.Outcome) { found = found || v.ID == t.id })
	return found
}

// left says what is not settled.
func (o *oracle) left() string {
	s := fmt.Sprintf("node %t, %d on disk", o.w.node != nil, len(o.w.disk.ids))
	if n := o.w.node; n != nil {
		s += fmt.Sprintf(", %d being stored, recovered %t, %d pending, %d scheduled, %+v", len(n.storing), n.g.Recovered(), n.g.Pending(), n.g.Scheduled(), n.g.Committer.Stats())
	}
	for _, id := range o.w.disk.ids {
		s += " " + o.byID[id].key
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
