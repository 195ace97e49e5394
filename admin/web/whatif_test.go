package web

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"pmg/config"
	"pmg/events/statement"
)

// triedOn says what a trial was asked, and what its configuration has.
func triedOn(ctx context.Context, next *config.Config, t Traffic) (*Trial, error) {
	switch {
	case t.Account == "none":
		return nil, errors.New("there is <b>no</b> such account")
	case t.Account == "slow":
		return nil, fmt.Errorf("cannot read: %w", context.DeadlineExceeded)
	}
	of := "of the files"
	if next != nil {
		of = fmt.Sprintf("with %d routes", len(next.Routes))
		for i := range next.Prices {
			rows, _ := os.ReadFile(next.Prices[i].File)
			of += fmt.Sprintf(" %s %q", next.Prices[i].Name, rows)
		}
	}
	days := fmt.Sprintf("%+v", t.Days)
	return &Trial{"Tried " + of, []statement.Table{{Title: "By SMSC", Left: 1, Heads: []string{"SMSC", "before"}, Rows: [][]string{{"<b>" + t.Account, days}}}}}, ctx.Err()
}

// The page tries the files, forms try what they change: a route here, prices in TestSheet.
func TestWhatIf(t *testing.T) {
	t.Parallel()
	_, base, _, _ := startOffice(t)
	c := visitor(t, base, config.AdministerScope)
	for query, want := range map[string]string{
		"":                               "Nothing is sent",
		"?try=1":                         "Tried of the files",
		"?try=1&account=a&month=2026-10": "&lt;b&gt;a</th><td class=\"n\">{Day: Month:2026-10 From: To:}",
		"?try=1&account=none":            "There is &lt;b&gt;no",
		"?try=1&account=slow":            "There are too many events for the gateway",
	} {
		if _, text, _ := ask(t, c, "GET", base+"/ui/whatif"+query, nil); !strings.Contains(text, want) || strings.Contains(text, "<b>") || query == "" && strings.Contains(text, "Tried") {
			t.Errorf("%q: no %q in %s", query, want, text)
		}
	}
	route := fill(t, c, base+"/ui/new/route").set("name", "sweden", "o.to.account", "fixed", "try.days", "yesterday")
	route.send("compare", "Tried with 2 routes", "{Day:yesterday Month: From: To:}")
	route.set("try.days", "the day after").send("compare", "This would change")
	if strings.Contains(route.text, "Tried") {
		t.Error(route.text)
	}
}
