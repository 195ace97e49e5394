package draft

import (
	"fmt"
	"slices"
	"strings"
)

// A Row describes the translation of an option of another program.
type Row struct {
	Group, Option string // "*": all options of a group
	To            string // the options of PMG that have the same meaning
	Why           string // without To: the reason why no option has the same meaning
	Decide        bool   // the option needs a person's decision
}

// Becomes returns the rows of options, separated by commas, that have the same meaning as options of PMG.
func Becomes(group, options, to string) []Row { return each(options, Row{Group: group, To: to}) }

// Leaves returns the rows of options that PMG does not need.
func Leaves(group, options, why string) []Row { return each(options, Row{Group: group, Why: why}) }

// Asks returns the rows of options that need a person's decision.
func Asks(group, options, why string) []Row {
	return each(options, Row{Group: group, Why: why, Decide: true})
}

func each(options string, r Row) (rows []Row) {
	for r.Option = range strings.SplitSeq(options, ", ") {
		rows = append(rows, r)
	}
	return rows
}

// Markdown returns the rows as tables, one for each group. Options with the same translation share a line.
func Markdown(rows []Row) string {
	var b strings.Builder
	var groups []string
	for _, r := range rows {
		if !slices.Contains(groups, r.Group) {
			groups = append(groups, r.Group)
		}
	}
	for _, g := range groups {
		fmt.Fprintf(&b, "\n| %s | in PMG |\n|---|---|\n", g)
		var fates []string
		options := map[string][]string{}
		for _, r := range rows {
			if r.Group != g {
				continue
			}
			fate := r.To
			if fate == "" {
				fate = "– " + r.Why
			}
			if r.Decide {
				fate += " (DECIDE)"
			}
			if options[fate] == nil {
				fates = append(fates, fate)
			}
			options[fate] = append(options[fate], "`"+r.Option+"`")
		}
		for _, fate := range fates {
			fmt.Fprintf(&b, "| %s | %s |\n", strings.ReplaceAll(strings.Join(options[fate], ", "), "`*`", "all"), fate)
		}
	}
	return b.String() + "\n"
}
