package kannel

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"pmg/cmd/pmg/migrate/draft"
)

// addRoutes writes the routes of messages from clients. For each account Kannel asks each SMSC whether it takes a
// message with the account's SMSC id and the recipient's number; a route does the same for all numbers with a prefix.
func (t *translator) addRoutes() {
	if t.in == nil {
		return
	}
	ids := map[string]bool{}
	for _, a := range t.users {
		ids[a.smsc] = true
	}
	if len(ids) > 1 {
		for _, a := range t.users {
			t.routes(a.smsc, a)
		}
		return
	}
	for id := range maps.Keys(ids) { // all accounts have the same routes
		t.routes(id, nil)
	}
}

// routes writes the routes of messages with an SMSC id, of all accounts or of one.
func (t *translator) routes(id string, a *account) {
	var usable []*smsc
	for _, s := range t.smscs {
		if s.sends && s.takes(id) {
			usable = append(usable, s)
		}
	}
	if len(usable) == 0 {
		text := "no SMSC takes messages"
		if id != "" {
			text += " for smsc-id " + id
		}
		if a != nil {
			a.entry.Decide("%s: there is no route", text)
		} else {
			t.draft.Decide("%s: there is no route", text)
		}
		return
	}
	mentioned := map[string]bool{"": true}
	for _, s := range usable {
		for _, list := range [][]string{s.allowedPrefix, s.deniedPrefix, s.preferPrefix} {
			for _, p := range list {
				mentioned[p] = true
			}
		}
	}
	longest := slices.SortedFunc(maps.Keys(mentioned), func(x, y string) int {
		return cmp.Or(cmp.Compare(len(y), len(x)), cmp.Compare(x, y))
	})
	t.write(id, a, usable, longest)
}

// write writes a route for each prefix, longer ones first. Prefixes that lead to the same SMSCs share a route.
func (t *translator) write(id string, a *account, usable []*smsc, longest []string) {
	var last *draft.Entry
	size := -1
	for _, p := range longest {
		to := targets(usable, id, p)
		if parent := above(p, longest); p != "" && draft.Text(to) == draft.Text(targets(usable, id, parent)) {
			continue // the parent's route, or list, has the same effect
		}
		if len(to) == 0 {
			if p != "" {
				t.refused(a, p, longest)
			}
			continue
		}
		if last != nil && len(p) == size && p != "" && draft.Text(last.Get("to")) == draft.Text(to) {
			last.Fields[len(last.Fields)-2].Value = append(last.Get("destination").([]string), p)
			continue
		}
		last, size = &draft.Entry{}, len(p)
		last.Set("from", t.in.Get("name"))
		if a != nil {
			last.Set("account", a.name)
		}
		if p != "" {
			last.Set("destination", []string{p})
		}
		last.Set("to", to)
		t.draft.Routes = append(t.draft.Routes, last)
	}
}

// above returns the longest prefix in longest that another prefix begins with.
func above(prefix string, longest []string) string {
	for _, p := range longest {
		if p != prefix && strings.HasPrefix(prefix, p) {
			return p
		}
	}
	return ""
}

// refused refuses the numbers that no SMSC takes, by a list, because a route with a shorter prefix could take them.
func (t *translator) refused(a *account, prefix string, all []string) {
	for _, p := range all {
		if p != prefix && strings.HasPrefix(p, prefix) {
			t.draft.Decide(
				"no SMSC takes numbers that begin with %s; some that begin with %s have a route, so no list refuses the others",
				prefix, p,
			)
			return
		}
	}
	rule := draft.Flow{{Key: "in", Value: draft.Word("destination")}, {Key: "deny", Value: []string{prefix + "*"}}}
	to := []*draft.Entry{t.in}
	if a != nil {
		to = []*draft.Entry{a.entry}
	} else if t.inAccounts {
		to = nil
		for _, a := range t.users {
			to = append(to, a.entry)
		}
	}
	for _, e := range to {
		rules, _ := e.Get("rewrite").([]draft.Flow)
		if !slices.ContainsFunc(rules, func(r draft.Flow) bool { return draft.Text(r) == draft.Text(rule) }) {
			e.Add("rewrite", rule)
		}
	}
}

// takes reports whether messages with an SMSC id, or without one, may go to the SMSC.
func (s *smsc) takes(id string) bool {
	if s.unrouted {
		return false
	}
	if len(s.allowed) > 0 {
		return slices.Contains(s.allowed, id)
	}
	return !slices.Contains(s.denied, id)
}

// takesNumber reports whether the SMSC takes a number that begins with a prefix, and with none of the longer prefixes
// in the configuration.
func (s *smsc) takesNumber(prefix string) bool {
	denied := begins(prefix, s.deniedPrefix)
	switch {
	case len(s.allowedPrefix) == 0:
		return !denied
	case len(s.deniedPrefix) == 0:
		return begins(prefix, s.allowedPrefix)
	}
	return begins(prefix, s.allowedPrefix) || !denied
}

func begins(number string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(number, p) })
}

// targets returns the targets of messages with an SMSC id and a prefix. Kannel takes any SMSC that prefers such
// messages, or else any of the others.
func targets(usable []*smsc, id, prefix string) []draft.Flow {
	var preferred, others []draft.Flow
	for _, s := range usable {
		target := draft.Flow{{Key: "connector", Value: s.name}}
		switch {
		case !s.takesNumber(prefix):
		case id != "" && slices.Contains(s.preferred, id) || begins(prefix, s.preferPrefix):
			preferred = append(preferred, target)
		default:
			others = append(others, target)
		}
	}
	if len(preferred) == 0 {
		return weighted(others)
	}
	if len(others) == 0 {
		return weighted(preferred)
	}
	return append(preferred, others...) // in this order, because weights would always send some messages to the others
}

// weighted adds a weight to each of several targets, so that they share messages.
func weighted(to []draft.Flow) []draft.Flow {
	if len(to) > 1 {
		for i := range to {
			to[i] = append(to[i], draft.Field{Key: "weight", Value: 1})
		}
	}
	return to
}
