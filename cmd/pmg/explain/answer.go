package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"pmg/config"
	"pmg/connector"
	"pmg/sms"
	"pmg/sms/rewrite"
)

// An answer describes how a gateway handles a message.
type answer struct {
	connector string // connector on which the message arrives
	account   string // empty for a message from an SMSC
	from, to  address
	in        []rule
	changes   []string // changes that steps make, except those of addresses and text
	price     string   // what the account pays, with the currency; "": it has no prices
	route     *route   // nil: no route matches
	ways      []way    // in the order of the route's targets
	parked    bool
	held      bool // a plugin holds the message
	refusal
}

// A refusal is the reason why a message is refused; "": it is not refused.
type refusal struct {
	refused, code string
	step          string // step that refuses the message
}

// A route is the route that matches.
type route struct {
	index  int
	name   string
	policy string
	least  int // least_delivered
}

// A way is a connector that can send the message. An account that may log in on several connectors has a way for
// each, to one target whose sessions share the messages.
type way struct {
	target  int    // index of the target in the route
	or      bool   // another connector of the target of the way before
	name    string // name of the target, or of the other connector
	cost    *cost  // what the target costs; nil: the policy of the route is another
	quality int    // how many of a thousand recent messages to the network the target has delivered
	known   bool   // quality is known, and the policy of the route looks at it
	back    bool   // the message came from this connector, so that it cannot leave by it
	text    string // lines about the message as it leaves
	refusal        // reason why the message is refused if the route chooses the target
}

// A cost is what the SMSC of a target charges for a short message.
type cost struct {
	amount   sms.Money
	known    bool
	currency string
}

// String returns the cost as text.
func (c *cost) String() string {
	if !c.known {
		return "cost not known"
	}
	return strings.TrimSpace("cost " + c.amount.String() + " " + c.currency)
}

// compare orders costs as the policy takes them: those that are not known come last.
func (c *cost) compare(other *cost) int {
	if c.known != other.known {
		if c.known {
			return -1
		}
		return 1
	}
	return cmp.Compare(c.amount, other.amount)
}

// sortWays brings the ways of a route into the order in which policies by cost and by quality take them. Of equal targets the
// first one of the route comes first.
func (a *answer) sortWays() {
	if a.route == nil {
		return
	}
	switch least := a.route.least * connector.MostQuality / 100; a.route.policy {
	case config.Cost:
		slices.SortStableFunc(a.ways, func(a, b way) int {
			if good, other := a.quality >= least, b.quality >= least; good != other {
				if good {
					return -1
				}
				return 1
			}
			return cmp.Or(a.cost.compare(b.cost), cmp.Compare(a.target, b.target))
		})
	case config.Quality:
		slices.SortStableFunc(a.ways, func(a, b way) int {
			return cmp.Or(cmp.Compare(b.quality, a.quality), cmp.Compare(a.target, b.target))
		})
	}
}

// conclude refuses the message if every target refuses it, or if no target is open; then the step "route" has refused
// or parked it.
func (a *answer) conclude() {
	var refused *refusal
	for i := range a.ways {
		switch w := &a.ways[i]; {
		case w.back:
		case w.refused == "":
			a.refusal, a.parked = refusal{}, false
			return
		case refused == nil:
			refused = &w.refusal
		}
	}
	switch {
	case refused != nil:
		a.refusal, a.parked = *refused, false
	case a.route != nil && a.refused != "":
		a.refused = "the " + a.route.name + " has no target for this destination"
	}
}

// String writes the answer in English, a line for each fact.
func (a *answer) String() string {
	var b strings.Builder
	origin := "from the SMSC of connector " + a.connector
	if a.account != "" {
		origin = fmt.Sprintf("that account %s submits on connector %s", a.account, a.connector)
	}
	fmt.Fprintf(&b, "A message %s, from %s to %s.\n", origin, a.from, a.to)
	if len(a.in) > 0 {
		b.WriteString("\nIn rules:\n" + lines("  ", a.in))
	}
	if len(a.changes) > 0 {
		fmt.Fprintf(&b, "\nChanges:\n  %s\n", strings.Join(a.changes, "\n  "))
	}
	if a.route != nil {
		fmt.Fprintf(&b, "\nIt takes the %s.%s\n", a.route.name, a.route.how(a.ways))
		number := 0
		for i := range a.ways {
			if !a.ways[i].or {
				number++
			}
			a.ways[i].write(&b, number)
		}
	}
	if a.price != "" && a.refused == "" {
		fmt.Fprintf(&b, "\nAccount %s pays %s for it.\n", a.account, a.price)
	}
	switch {
	case a.held && a.refused == "":
		b.WriteString("\nHeld by a plugin: the message is accepted and put aside until an operator decides.\n")
	case a.parked:
		b.WriteString(
			"\nParked: no route has a target, and no_route is park. The message is accepted and put aside until an " +
				"operator decides.\n",
		)
	case a.refused != "":
		fmt.Fprintf(&b, "\nRefused as %s by step %s: %s.\n", a.code, a.step, a.refused)
	}
	return b.String()
}

// how returns the sentence that explains which of several ways a message takes, "" if all ways lead to one target.
func (r *route) how(ways []way) string {
	switch {
	case len(ways) == 0 || ways[0].target == ways[len(ways)-1].target:
		return ""
	case r.policy == config.Quality:
		return " Of the targets that are up, the one that has delivered most of the latest messages to the network gets it:"
	case r.policy == config.Cost:
		return " The cheapest target that is up" + r.delivers() + " gets the message, the next one if that cannot send it:"
	case r.policy == config.Weighted:
		return " The targets that are up share the messages by weight:"
	}
	return " The first target that is up gets the message, the next one if that cannot send it:"
}

// delivers returns the condition that targets of a route with policy cost must meet, "" if there is none.
func (r *route) delivers() string {
	if r.least == 0 {
		return ""
	}
	return fmt.Sprintf(" and has delivered %d %% of the latest messages to the network, if that is known,", r.least)
}

// write writes the way to the target with a number.
func (w *way) write(b *strings.Builder, number int) {
	if w.or {
		b.WriteString("     or ")
	} else {
		fmt.Fprintf(b, "  %d. ", number)
	}
	if b.WriteString(w.name); w.cost != nil {
		b.WriteString(", " + w.cost.String())
	}
	if w.known {
		fmt.Fprintf(b, ", delivers %d.%d %%", w.quality/10, w.quality%10)
	}
	switch {
	case w.back:
		b.WriteString(": the message came from there, so it is refused if the route chooses it\n")
	case w.refused != "":
		fmt.Fprintf(b, ": the message is refused if the route chooses it: %s\n", w.refused)
	default:
		b.WriteString(w.text)
	}
}

// A rule is a rule of rewrite that had an effect, or a list.
type rule struct {
	text    string // the rule and its effect
	refusal string // reason why the rule refuses the message; "": the rule does not refuse it
}

// ruleOf returns the effect of a rule of a connector or an account.
func ruleOf(of string, text rewrite.Rule, s *rewrite.Step) rule {
	what := "destination"
	if s.Source {
		what = "source"
	}
	before, after := addressOf(s.Before), addressOf(s.After)
	effect := fmt.Sprintf("%s becomes %s", before, after)
	switch {
	case s.Code != sms.OK && s.List:
		effect = fmt.Sprintf("%s may not pass", before)
	case s.Code != sms.OK:
		effect = fmt.Sprintf("%s would become too long, or empty", before)
	case s.List:
		effect = fmt.Sprintf("%s may pass", before)
	case before == after:
		effect = fmt.Sprintf("%s stays as it is", before)
	case before.ton != after.ton || before.npi != after.npi:
		effect = fmt.Sprintf("%s becomes %s", before.full(), after.full())
	}
	r := rule{text: fmt.Sprintf("%s, rewrite[%d] %s: %s %s", of, s.Rule, text, what, effect)}
	if s.Code != sms.OK {
		r.refusal = fmt.Sprintf("rewrite[%d] of %s does not allow the %s", s.Rule, of, what)
	}
	return r
}

// lines writes each rule in a line.
func lines(indent string, rules []rule) (s string) {
	for _, r := range rules {
		s += indent + r.text + "\n"
	}
	return s
}

// An address is an address of the message.
type address struct {
	digits   string
	ton, npi uint8
}

func addressOf(a sms.Address) address { return address{string(a.Addr), a.TON, a.NPI} }

// String returns the address, or a phrase if there is none.
func (a address) String() string {
	if a.digits == "" {
		return "(none)"
	}
	return a.digits
}

// full returns the address with its TON and NPI.
func (a address) full() string {
	if a == (address{}) {
		return a.String()
	}
	return fmt.Sprintf("%s (TON %d, NPI %d)", a, a.ton, a.npi)
}
