package simulation

import (
	"fmt"
	"time"

	"pmg/gateway/operate"
	"pmg/sms"
)

// A change is what a client asks about a message that it has submitted.
type change struct {
	what uint32 // the command
	text *text
	to   string // the version that replaces it
}

// change asks for a change of one of the client's latest messages, or where one is.
func (p *peer) change() {
	w, s := p.station.w, p.station
	t := w.oracle.latest(func(t *text) bool { return t.from == s && t.answered && t.answer == sms.OK && !t.changing })
	if t == nil {
		return
	}
	c := &change{what: queryRequest, text: t}
	body := cString(t.known) + address(sender)
	switch w.rng.IntN(3) {
	case 0:
		c.what = cancel
		body = cString("") + cString(t.known) + address(sender) + address(t.dest)
		w.oracle.withdraw(t)
	case 1:
		if t.group != nil || t.size > 0 {
			break
		}
		c.what = replace
		t.versions++
		c.to = fmt.Sprintf("%s.%d", t.key, t.versions)
		w.oracle.keys[c.to] = t
		t.must = ""
		text := ";" + c.to + ";"
		body = cString(t.known) + address(sender) + cString("") + cString("") + octets(t.registered, 0, byte(len(text))) + text
	}
	t.changing = true
	w.note("%s: asks %#x about %s %s", s.name, c.what, t.key, c.to)
	n := p.session.NextSequence()
	p.changes[n] = c
	p.end.write(wire(c.what, n, body))
}

// latest returns one of the latest messages of clients that is as wanted, nil if there is none.
func (o *oracle) latest(wanted func(*text) bool) *text {
	var some []*text
	for i := len(o.all) - 1; i >= 0 && len(some) < 10; i-- {
		if t := o.all[i]; t.from.client && t.whole == nil && t.known != "" && wanted(t) {
			some = append(some, t)
		}
	}
	if len(some) == 0 {
		return nil
	}
	return some[o.w.rng.IntN(len(some))]
}

// withdraw records that a message may be withdrawn.
func (o *oracle) withdraw(t *text) { t.each(func(t *text) { t.withdrawn++ }) }

// stays records that it was not.
func (o *oracle) stays(t *text) { t.each(func(t *text) { t.withdrawn-- }) }

// each calls f with a text and with those that are sent or end with it.
func (t *text) each(f func(*text)) {
	f(t)
	for _, p := range t.parts {
		f(p)
	}
	for _, other := range t.group {
		if other != t {
			f(other)
		}
	}
}

// isGone records that whoever has withdrawn a message knows that it has been.
func (o *oracle) isGone(t *text) {
	if len(t.parts) > 0 || t.group != nil {
		return // what remained of it was withdrawn
	}
	if t.cancelled = true; t.taken > t.may {
		o.w.fail("%s was cancelled, or deleted, after it had been delivered", t.name())
	}
}

// changed records the answer to a change.
func (o *oracle) changed(c *change, code sms.Code) {
	t := c.text
	o.w.note("%s: %#x about %s is answered %s", t.from.name, c.what, t.key, code)
	t.changing = false
	switch {
	case c.what == cancel && code == sms.OK:
		o.isGone(t)
	case c.what == cancel && code == sms.Rejected:
		o.stays(t)
	case c.what == replace && code == sms.OK:
		t.must = c.to
	}
}

// command changes the queues as an operator.
func (w *world) command() {
	if w.healed || !w.plan.commands {
		return
	}
	w.after(w.between(time.Second, 10*time.Second), w.command)
	n := w.node
	if n == nil || n.commands > 0 {
		return
	}
	what := operate.QueueChange{What: operate.RetryMessages, Operator: "test"}
	var s operate.Selection
	var t *text
	if w.chance(0.3) {
		s.State = operate.StateOrphan
	} else if t = w.oracle.latest(func(t *text) bool { return t.stored && len(t.parts) == 0 }); t == nil {
		return
	} else {
		s.IDs = []uint64{t.id}
		switch t.moved = true; w.rng.IntN(3) {
		case 0:
			what.What = operate.DeleteMessages
			w.oracle.withdraw(t)
		case 1:
			what.What, what.To = operate.MoveMessages, []string{"a", "b"}[w.rng.IntN(2)]
		}
	}
	w.note("operator: %s %v %s", what.What, s.IDs, s.State)
	n.commands++
	var page operate.QueuePage
	var err error
	n.run(func() { page, err = n.g.Operate.ChangeStored(n.ctx, what, s, 0, 100) }, func() {
		n.commands--
		result := "nothing"
		if len(page.Messages) > 0 {
			result = page.Messages[0].Result
		}
		w.note("operator: %s of %d: %s, %v", what.What, len(page.Messages), result, err)
		switch {
		case what.What != operate.DeleteMessages || err != nil:
		case result == operate.ResultDeleted:
			w.oracle.isGone(t)
		default:
			w.oracle.stays(t)
		}
	})
}
