package intake

import (
	"cmp"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pmg/sms"
)

// mostCalled is how many steps a plain message takes, which no option of the gateway or its account is about, beside the rate.
const mostCalled = 7

// called returns the steps that a submission takes.
func called(p *place, s *Submission) (names []string) {
	steps := slices.Clone(p.steps[1:]) // behind the rate
	for i, step := range steps {
		steps[i].Do = func(d *Checker, now int64, s *Submission) Verdict {
			names = append(names, step.Name)
			return step.Do(d, now, s)
		}
	}
	p.Use(steps)
	p.Narrow(p.node.Config())
	p.TakeWaiting(now, s)
	return names
}

func plain(m *sms.Message) {
	m.Set(sms.Address{Addr: []byte("1234")}, sms.Address{TON: 1, Addr: []byte("46700000001")}, []byte("hello"))
}

// A plain message takes few steps, and reaches the last of them.
func TestPlainSteps(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "", "", "", toOperator)
	got := called(p, p.submission(Submitted, sms.Submit, plain))
	if len(got) > mostCalled || len(got) == 0 || got[len(got)-1] != "room" {
		t.Errorf("a plain submit takes %d steps: %q", len(got), got)
	}
}

// A step that is for an option is called when somebody has that, and not when nobody has it. While a configuration comes, all are
// called.
func TestStepsInForce(t *testing.T) {
	t.Parallel()
	const plugins = "plugins: [{name: p, on_failure: pass, rules: [{if: \"false\", do: refuse}]}]\nhooks: [{at: accept, plugin: p}]"
	prices := filepath.Join(t.TempDir(), "prices.csv")
	if err := os.WriteFile(prices, []byte("*,0.01\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	optOuts := strings.Replace(listed(t, "9"), "}]", ", opt_out_from: [operator]}]", 1)
	all := map[string]struct {
		general, account, routes string
		way                      Ways
	}{
		"receipts":   {account: "receipts: force"},
		"rewrite":    {account: "rewrite: [{in: destination, strip: \"45\"}]"},
		"opt out":    {general: optOuts, way: Delivered},
		"plausible":  {account: "recipients: plausible"},
		"duplicates": {account: "duplicates: {within: 10s}"},
		"network":    {general: plugins},
		"plugins":    {general: plugins},
		"lists":      {general: listed(t, "9"), account: "block: [numbers]"},
		"quiet":      {account: "quiet: {from: \"21:00\", to: \"08:00\", zone: Europe/Stockholm}"},
		"validity":   {account: "max_validity: 1h"},
		"flood":      {account: "flood: [{per: recipient, most: 5, within: 1h}]"},
		"keyword":    {routes: "[{from: operator, to: beside}, {keyword: win, to: beside}, {to: operator}]"},
		"credit":     {general: "prices: [{name: p, currency: EUR, file: " + prices + "}]"},
		"reply":      {general: optOuts, way: Delivered},
	}
	for _, step := range Steps() {
		c, isHere := all[step.Name]
		if isHere != (step.With != nil) {
			t.Errorf("step %s is called for everybody, or no case has its option", step.Name)
		}
		if !isHere {
			continue
		}
		kind := sms.Submit
		if c.way == 0 {
			c.way = Submitted
		} else {
			kind = sms.MO
		}
		with, without := newPlace(t, c.general, c.account, "", cmp.Or(c.routes, toOperator)), newPlace(t, "", "", "", toOperator)
		if got := called(with, with.submission(c.way, kind, plain)); !slices.Contains(got, step.Name) {
			t.Errorf("with %+v step %s is not called: %q", c, step.Name, got)
		}
		if got := called(without, without.submission(c.way, kind, plain)); slices.Contains(got, step.Name) || !slices.Contains(got, "room") {
			t.Errorf("without an option step %s is called, or the message comes to no room: %q", step.Name, got)
		}
		at := slices.IndexFunc(without.steps, func(s Step) bool { return s.Name == step.Name })
		if without.Widen(); without.inForce.Load()[bits.TrailingZeros8(uint8(c.way))]&(1<<at) == 0 {
			t.Errorf("while a configuration comes, step %s is not called", step.Name)
		}
	}
}
