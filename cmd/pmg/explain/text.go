package explain

import (
	"fmt"
	"strings"

	"pmg/config"
)

// String writes the answer in English, a line for each fact.
func (a *Answer) String() string {
	var b strings.Builder
	origin := "from the SMSC of connector " + a.Connector
	if a.Account != "" {
		origin = fmt.Sprintf("that account %s submits on connector %s", a.Account, a.Connector)
	}
	fmt.Fprintf(&b, "A message %s, from %s to %s.\n", origin, a.From.plain(), a.To.plain())
	writeRules(&b, "\nIn rules:\n", a.In)
	if len(a.Changes) > 0 {
		fmt.Fprintf(&b, "\nChanges:\n  %s\n", strings.Join(a.Changes, "\n  "))
	}
	if a.Route != nil {
		fmt.Fprintf(&b, "\nRoute: routes[%d] %s.%s\n", a.Route.Index, a.Route.Text, a.Route.policy(a.Ways))
		for i := range a.Ways {
			a.Ways[i].write(&b, i > 0 && a.Ways[i-1].Target == a.Ways[i].Target)
		}
	}
	switch {
	case a.Parked:
		b.WriteString("\nParked: no route leads anywhere, and no_route is park. The message is accepted and put aside until an operator decides.\n")
	case a.Refused != "":
		fmt.Fprintf(&b, "\nRefused as %s by step %s: %s.\n", a.Code, a.Step, a.Refused)
	}
	return b.String()
}

// policy says which of several ways a message takes.
func (r *Route) policy(ways []Way) string {
	switch {
	case len(ways) == 0 || ways[0].Target == ways[len(ways)-1].Target:
		return ""
	case r.Policy == config.Weighted:
		return " The targets that are up share the messages by weight:"
	}
	return " The first target that is up gets the message, the next one if that cannot send it:"
}

// write writes a way. With again, it leads to the same target as the way before it.
func (w *Way) write(b *strings.Builder, again bool) {
	switch {
	case again:
		fmt.Fprintf(b, "     or those on connector %s", w.Connector)
	case w.Account != "":
		fmt.Fprintf(b, "  %d. the sessions of account %s on connector %s", w.Target+1, w.Account, w.Connector)
	default:
		fmt.Fprintf(b, "  %d. connector %s", w.Target+1, w.Connector)
	}
	if w.Weight > 0 {
		fmt.Fprintf(b, ", weight %d", w.Weight)
	}
	switch {
	case w.Back:
		b.WriteString(": the message came from there, so it is refused if the route chooses it\n")
		return
	case w.Refused != "":
		fmt.Fprintf(b, ": the message is refused if the route chooses it: %s\n", w.Refused)
		return
	}
	fmt.Fprintf(b, ": from %s to %s\n", w.From.full(), w.To.full())
	writeRules(b, "", w.Out)
	if len(w.Loses) > 0 {
		fmt.Fprintf(b, "     it loses %s, which the protocol lacks\n", strings.Join(w.Loses, ", "))
	}
	if w.Text != nil {
		fmt.Fprintf(b, "     the text is %s\n", w.Text)
	}
}

// writeRules writes what rules did, below a heading.
func writeRules(b *strings.Builder, heading string, rules []Rule) {
	if len(rules) > 0 {
		b.WriteString(heading)
	}
	indent := "  "
	if heading == "" {
		indent = "     "
	}
	for i := range rules {
		s := &rules[i]
		fmt.Fprintf(b, "%s%s, rewrite[%d] %s: %s\n", indent, s.Of, s.Rule, s.Text, s.effect())
	}
}

// effect says what a rule did.
func (s *Rule) effect() string {
	switch {
	case s.Refuses && s.List:
		return fmt.Sprintf("%s %s may not pass", s.Address, s.Before.plain())
	case s.Refuses:
		return fmt.Sprintf("%s %s would become too long, or empty", s.Address, s.Before.plain())
	case s.List:
		return fmt.Sprintf("%s %s may pass", s.Address, s.Before.plain())
	case s.Before == s.After:
		return fmt.Sprintf("%s %s stays as it is", s.Address, s.Before.plain())
	case s.Before.TON != s.After.TON || s.Before.NPI != s.After.NPI:
		return fmt.Sprintf("%s %s becomes %s", s.Address, s.Before.full(), s.After.full())
	}
	return fmt.Sprintf("%s %s becomes %s", s.Address, s.Before.plain(), s.After.plain())
}

// plain returns the address, or words for none.
func (a Address) plain() string {
	if a.Address == "" {
		return "(none)"
	}
	return a.Address
}

// full returns the address with its type and plan.
func (a Address) full() string {
	if a.Address == "" {
		return a.plain()
	}
	return fmt.Sprintf("%s (TON %d, NPI %d)", a.Address, a.TON, a.NPI)
}

// String says how a text is sent.
func (t *Text) String() string {
	what := fmt.Sprintf("sent in %s", t.Coding)
	if t.Becomes != "" {
		what += fmt.Sprintf(" as %q", t.Becomes)
	}
	if t.Lacks != "" {
		what += fmt.Sprintf(" (GSM 7-bit does not have %q)", t.Lacks)
	}
	switch t.Parts {
	case 0:
		return fmt.Sprintf("%s: %d %ss, which no long message can have", what, t.Units, t.Unit)
	case 1:
		return fmt.Sprintf("%s: %d of %d %ss of one short message", what, t.Units, t.Room, t.Unit)
	}
	return fmt.Sprintf("%s: %d %ss, which are %d short messages of up to %d", what, t.Units, t.Unit, t.Parts, t.Room)
}
