package problems

import (
	"fmt"
	"slices"
)

// A Problem is a problem that an operator should know, even if the gateway is ready.
type Problem struct {
	Alert    string `json:"alert"`    // the alert of docs/monitoring/pmg.rules.yaml for the same problem
	Severity string `json:"severity"` // severity of the alert
	Text     string `json:"text"`
	Page     string `json:"page"` // path of the operators' page about the problem, below admin.PagesBase
}

// Severities of problems and alerts.
const (
	severityPage   = "page"
	severityTicket = "ticket"
)

// mostProblems is the maximum number of problems of a kind in the list.
const mostProblems = 20

// A rule finds the problems of an alert, as text. It does not wait like the alert does to be certain.
type rule struct {
	alert, severity string
	find            func(f *Facts, g *growth, add addFunc)
}

// An addFunc adds a problem to the list, with the page about it.
type addFunc func(page, format string, args ...any)

// find applies rules to facts, and returns the problems, the most urgent first.
func find(rules []rule, f *Facts, g *growth) (all []Problem) {
	for _, r := range rules {
		n := 0
		r.find(f, g, func(page, format string, args ...any) {
			if n++; n <= mostProblems {
				all = append(all, Problem{r.alert, r.severity, fmt.Sprintf(format, args...), page})
			}
		})
		if n > mostProblems {
			all = append(all, Problem{r.alert, r.severity, fmt.Sprintf("%d more of this kind (%s)", n-mostProblems, r.alert), ""})
		}
	}
	slices.SortStableFunc(all, func(a, b Problem) int { return urgency(&a) - urgency(&b) })
	return all
}

// urgency returns a number that is lower for a more urgent problem.
func urgency(p *Problem) int {
	if p.Severity == severityPage {
		return 0
	}
	return 1
}

// Texts returns the texts of problems without the reasons why the gateway is not ready. These reasons have lines of their own.
func Texts(all []Problem) (texts []string) {
	for i := range all {
		if all[i].Alert != notReadyAlert {
			texts = append(texts, all[i].Text)
		}
	}
	return texts
}
