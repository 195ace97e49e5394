package simulation

import (
	"fmt"
	"slices"
	"strings"
)

// The receipts that must come are known from the messages that the SMSCs have accepted, their ids
// and reports, and from what each client has submitted. What the gateway makes of ids does not come
// into it.

var failures = []string{"EXPIRED", "UNDELIV", "REJECTD", "DELETED", "UNKNOWN"}

func isFailure(state string) bool { return slices.Contains(failures, state) }

// know records the id by which a client knows a message.
func (o *oracle) know(id string, t *text) {
	if other := o.known[id]; other != nil && other != t {
		o.w.fail("%s and %s have the same id for their clients: %s", other.key, t.key, id)
	}
	o.known[id] = t
	t.known = id
}

// receipt records a receipt that a client has.
func (o *oracle) receipt(s *station, d delivery) {
	id, state, code := field(d.text, "id"), field(d.text, "stat"), field(d.text, "err")
	o.w.note("%s: has receipt %s of %s, err %s", s.name, state, id, code)
	t := o.known[id]
	switch {
	case t == nil:
		o.w.fail("%s has a receipt that belongs to no message: %s", s.name, d.text)
	case t.from != s:
		o.w.fail("%s has the receipt of %s, which %s has submitted: %s", s.name, t.key, t.from.name, d.text)
	case !asksFor(t.registered, state):
		o.w.fail("%s has not asked for this receipt of %s: %s", s.name, t.key, d.text)
	case !o.isTrue(t, state, code):
		o.w.fail("%s has a receipt of %s that nobody has sent: %s", s.name, t.key, d.text)
	default:
		t.got = append(t.got, state+code)
	}
}

// isTrue reports whether a message may have a receipt.
func (o *oracle) isTrue(t *text, state, code string) bool {
	if t.hasReport(state, code) || o.mayMake(t, state) && code < "200" {
		return true
	}
	if len(t.parts) > 0 {
		return o.isTrueOfParts(t, state)
	}
	return t.isMistaken(state, code)
}

// isMistaken reports whether a receipt of another message may be taken for that of this one.
func (t *text) isMistaken(state, code string) bool {
	return slices.ContainsFunc(t.submissions, func(s *submission) bool { return s.smsc.mayMistake(s.id, state, code) })
}

func (t *text) hasReport(state, code string) bool {
	for _, s := range t.submissions {
		for _, r := range s.reports {
			if r.sent && r.state == state && (r.code == code || code == "") {
				return true
			}
		}
	}
	return false
}

// isTrueOfParts reports whether a state may be that of a message that the gateway has split: it is
// delivered if each part is, and has failed if one has.
func (o *oracle) isTrueOfParts(t *text, state string) bool {
	has := func(p *text) bool { return p.hasReport(state, "") || o.mayMake(p, state) || p.isMistaken(state, "") }
	if state == "DELIVRD" {
		return !slices.ContainsFunc(t.parts, func(p *text) bool { return !has(p) })
	}
	return slices.ContainsFunc(t.parts, has)
}

// mayMistake reports whether the id of a receipt equals that of another answer, and its SMSC writes
// ids in another way in receipts, which the gateway does not know.
func (c *smsc) mayMistake(id, state, code string) bool {
	if c.isPlain() || c.told {
		return false
	}
	for _, s := range c.accepted {
		for _, r := range s.reports {
			if r.sent && compared(r.id) == compared(id) && r.state == state && (r.code == code || code == "") {
				return true
			}
		}
	}
	return false
}

// mayMake reports whether the gateway itself may say that a message has come to a state.
func (o *oracle) mayMake(t *text, state string) bool {
	switch state {
	case "UNKNOWN":
		return len(t.parts) > 0 // it has heard nothing of some of them
	case "EXPIRED":
		return t.validity > 0
	case "REJECTD":
		return t.refused
	case "UNDELIV":
		return t.failed > 0
	case "DELETED":
		return t.withdrawn > 0
	}
	return false
}

// missing returns a receipt that a client ought to have, "" if there is none.
func (o *oracle) missing() string {
	for _, t := range o.all {
		switch {
		case t.from.client && t.whole == nil && t.known != "":
		default:
			continue
		}
		for _, s := range t.submissions {
			for _, r := range s.reports {
				if o.isDue(r) && asksFor(t.registered, r.state) && !slices.Contains(t.got, r.state+r.code) {
					return fmt.Sprintf("%s: %s, submitted as %s", t.key, r, t.known)
				}
			}
		}
		if len(t.parts) > 0 && asksFor(t.registered, "DELIVRD") && o.areDelivered(t) && !slices.ContainsFunc(t.got, isFinal) {
			return t.key + ": that all parts were delivered"
		}
		if (o.hasFailed(t) || o.hasFailedPart(t)) && asksFor(t.registered, "UNDELIV") && !slices.ContainsFunc(t.got, func(s string) bool { return isFailure(s[:7]) }) {
			return t.key + ": that it has failed"
		}
	}
	return ""
}

func isFinal(got string) bool { return !strings.HasPrefix(got, "ENROUTE") }

// isDue reports whether the node can know what a receipt belongs to.
func (o *oracle) isDue(r *report) bool {
	s := r.of
	return r.taken && s.read && !s.doubtful && s.smsc.isClear(s.receipt)
}

// isClear reports whether the meaning of an id in a receipt of the SMSC can be known: because it is
// configured, because it can be read in one way alone, or because many others have shown how.
func (c *smsc) isClear(id string) bool {
	switch {
	case c.told:
		return true
	case c.spelling.option == "":
		return false
	case c.isPlain() && (strings.Trim(id, "0123456789") != "" || len(id) > 20):
		return true
	}
	return c.forges == 0 && (c.isPlain() || c.first >= 3e9) && c.answersRead >= enough && c.receiptsTaken >= enough
}

// enough is how many answers and receipts show how an SMSC writes ids, since the node has started.
const enough = 40

// areDelivered reports whether the node can know that each part of a message was delivered.
func (o *oracle) areDelivered(t *text) bool {
	return !slices.ContainsFunc(t.parts, func(p *text) bool { return !o.isDueOf(p, "DELIVRD") })
}

// isDueOf reports whether the node can know that a message has come to one of some states.
func (o *oracle) isDueOf(t *text, states ...string) bool {
	return slices.ContainsFunc(t.submissions, func(s *submission) bool {
		return slices.ContainsFunc(s.reports, func(r *report) bool { return o.isDue(r) && slices.Contains(states, r.state) })
	})
}

// hasFailedPart reports whether the node can know that a part of a message has failed for good, and
// nothing else has been said of another copy of it.
func (o *oracle) hasFailedPart(t *text) bool {
	return slices.ContainsFunc(t.parts, func(p *text) bool {
		return o.isDueOf(p, "EXPIRED", "UNDELIV", "REJECTD", "DELETED") && !p.hasReport("DELIVRD", "") && !p.hasReport("UNKNOWN", "")
	})
}

// hasFailed reports whether no SMSC has accepted a message that was confirmed.
func (o *oracle) hasFailed(t *text) bool {
	return len(t.parts) == 0 && len(t.submissions) == 0 && t.stored && t.answered && t.answer == 0
}
