package kannel

import (
	"strings"

	"pmg/cmd/pmg/migrate/draft"
)

// unify writes a unified-prefix as a rule: groups of prefixes, the first of which replaces the others. In Kannel, as here, the
// first matching prefix counts. A number that begins with the first prefix of a group is not changed.
func unify(e *draft.Entry, value, direction, address string) {
	var entries []string
	for group := range strings.SplitSeq(value, ";") {
		official, others, several := strings.Cut(strings.TrimSpace(group), ",")
		if official = strings.TrimSpace(official); strings.HasPrefix(official, "-") {
			official = ""
		} else if official != "" {
			entries = append(entries, official)
		}
		if !several {
			continue
		}
		for old := range strings.SplitSeq(others, ",") {
			entries = append(entries, strings.TrimSpace(old)+"="+official)
		}
	}
	if len(entries) > 0 {
		e.Add("rewrite", draft.Flow{{Key: direction, Value: draft.Word(address)}, {Key: "prefixes", Value: entries}})
	}
}

// unifyRecipients writes the unified-prefix of recipients. The lists of smsbox and of its users see numbers as
// clients write them; those of SMSCs see the numbers that unified-prefix makes. So the rule stands in the accounts,
// behind their lists, if any account has a list.
func (t *translator) unifyRecipients(in *draft.Entry) {
	value := t.core.Take("unified-prefix")
	for _, a := range t.users {
		if a.hasList {
			for _, a := range t.users {
				unify(a.entry, value, "in", "destination")
			}
			t.inAccounts = value != ""
			return
		}
	}
	unify(in, value, "in", "destination")
}
