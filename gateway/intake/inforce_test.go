package intake

import (
	"slices"
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

// A plain message takes few steps, and all are those that have something to do for everybody.
func TestPlainSteps(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "", "", "", toOperator)
	if got := called(p, p.submission(Submitted, sms.Submit, plain)); len(got) > mostCalled {
		t.Errorf("a plain submit takes %d steps: %q", len(got), got)
	}
}

// A step is called when an option asks for it, whoever has the option, and no more when nobody has it. While a configuration
// comes, all are called.
func TestStepsInForce(t *testing.T) {
	t.Parallel()
	for step, c := range map[string]struct{ general, account, operator string }{
		"receipts":   {account: "receipts: force"},
		"rewrite":    {account: "rewrite: [{in: destination, strip: \"45\"}]"},
		"plausible":  {account: "recipients: plausible"},
		"duplicates": {account: "duplicates: {within: 10s}"},
		"plugins":    {general: "plugins: [{name: p, on_failure: pass, rules: [{if: \"false\", do: refuse}]}]\nhooks: [{at: accept, plugin: p}]"},
		"network":    {general: "plugins: [{name: p, on_failure: pass, rules: [{if: \"false\", do: refuse}]}]\nhooks: [{at: accept, plugin: p}]"},
		"quiet":      {account: "quiet: {from: \"21:00\", to: \"08:00\", zone: Europe/Stockholm}"},
		"validity":   {account: "max_validity: 1h"},
		"flood":      {account: "flood: [{per: recipient, most: 5, within: 1h}]"},
	} {
		with, without := newPlace(t, c.general, c.account, c.operator, toOperator), newPlace(t, "", "", "", toOperator)
		if got := called(with, with.submission(Submitted, sms.Submit, plain)); !slices.Contains(got, step) {
			t.Errorf("with %+v step %s is not called: %q", c, step, got)
		}
		if got := called(without, without.submission(Submitted, sms.Submit, plain)); slices.Contains(got, step) {
			t.Errorf("without an option step %s is called: %q", step, got)
		}
		without.Widen()
		if set := without.inForce.Load()[0]; set&(1<<slices.IndexFunc(without.steps, func(s Step) bool { return s.Name == step })) == 0 {
			t.Errorf("while a configuration comes, step %s is not called", step)
		}
	}
}
