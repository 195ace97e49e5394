package intake

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pmg/internal/testkit/testutil"
	"pmg/plugin"
	"pmg/sms"
)

// A service is a plugin that waits. A message's text says what it answers.
type service struct{}

func (service) Close() {}

func (service) Ask(_ context.Context, m *plugin.Message) (v plugin.Verdict, err error) {
	switch do, rest, _ := strings.Cut(m.Text, " "); do {
	case "refuse":
		v = plugin.Verdict{Do: plugin.Refuse, Status: rest, Why: "no " + m.To}
	case "hold":
		v.Do = plugin.Hold
	case "fail":
		err = errors.New("out of order")
	case "tag":
		v.Tags = []string{rest}
	}
	return v, err
}

const (
	asksService = "plugins: [{name: Service, url: \"http://127.0.0.1:1/\", on_failure: hold}]\nhooks: [{at: accept, plugin: Service}]"
	twoWays     = "[{tag: vip, to: beside}, {to: operator}]"
)

// rules makes a plugin of rules, and the hook that asks it.
func rules(at string, all ...string) string {
	return fmt.Sprintf("plugins: [{name: rules, on_failure: refuse, rules: [%s]}]\nhooks: [{at: %s, plugin: rules}]", strings.Join(all, ", "), at)
}

// take takes a submission through the steps, and returns what became of it.
func (p *place) take(s *Submission) string {
	s.at.step = 1 // behind the rate, which needs an account that has logged in
	code := p.TakeWaiting(now, s)
	switch {
	case code != sms.OK:
		return fmt.Sprint(code, " by ", s.Refuser(p.Checker), " ", s.Why())
	case s.Lane == nil:
		return "parked " + string(s.Message.Tags())
	}
	m := s.Message
	text := fmt.Sprintf("%s: %s(%d) %s(%d) %q %s", s.Lane.Home().Name, m.Source().Addr, m.SourceTON, m.Dest().Addr, m.DestTON, m.Text(), m.Tags())
	if m.DeliverAt != 0 {
		text = strings.TrimSpace(text) + fmt.Sprint(" in ", time.Duration(m.DeliverAt-now))
	}
	return strings.TrimSpace(text)
}

// A plugin refuses a message, holds it, delays it, changes it or gives it tags that routes ask for.
func TestPlugins(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ general, text, want string }{
		{"", "a", `operator: 1234(0) 46700000001(0) "a"`},
		{rules("accept", "{if: 'text == \"a\"', do: refuse, why: bad}"), "a", "rejected by plugins bad"},
		{rules("accept", "{if: 'text == \"a\"', do: refuse, why: bad}"), "b", `operator: 1234(0) 46700000001(0) "b"`},
		{rules("accept", "{do: refuse, status: throttled}"), "a", "throttled by plugins "},
		{rules("accept", "{do: hold}"), "a", "parked held:rules"},
		{rules("accept", "{do: delay, for: 20m}"), "a", `operator: 1234(0) 46700000001(0) "a" in 20m0s`},
		{rules("accept", "{do: delay, for: 2h}"), "a", "bad_schedule by schedule "},
		{rules("accept", "{tags: [vip]}"), "a", `beside: 1234(0) 46700000001(0) "a" vip`},
		{rules("accept", "{from: '\"PMG\"', to: '\"+47\" + to', text: 'text + text'}"), "ab", `operator: PMG(5) 4746700000001(1) "abab"`},
		{rules("accept", "{text: '\"\u017b\" + text'}"), "a", "operator: 1234(0) 46700000001(0) \"\\x01{\\x00a\""},
		{rules("accept", "{to: '\"nobody\"'}"), "a", "temporary_failure by plugins plugin rules has not answered"},
		{rules("accept", "{if: 'int(text) > 1', do: hold}"), "a", "temporary_failure by plugins plugin rules has not answered"},
		{rules("mo", "{do: refuse}"), "a", `operator: 1234(0) 46700000001(0) "a"`},
		{asksService, "a", `operator: 1234(0) 46700000001(0) "a"`},
		{asksService, "refuse throttled", "throttled by plugins no 46700000001"},
		{asksService, "hold", "parked held:service"},
		{asksService, "fail", "parked held:service"},
		{asksService, "tag vip", `beside: 1234(0) 46700000001(0) "tag vip" vip`},
		{asksService, "tag VIP", "parked held:service"},
	} {
		p := newPlace(t, c.general, "", "", twoWays)
		s := p.submission(Submitted, sms.Submit, func(m *sms.Message) { m.SetText([]byte(c.text)) })
		if got := p.take(s); got != c.want {
			t.Errorf("%s, %q: %s, want %s\n%s", c.general, c.text, got, c.want, p.log.String())
		}
		s.Drop()
	}
}

// Hooks are asked in their order, each for its accounts and connectors; behind a refusal or a hold, none is.
func TestHooks(t *testing.T) {
	t.Parallel()
	for hooks, want := range map[string]string{
		"{at: accept, plugin: a}, {at: accept, plugin: b}":                                `operator: 1234(0) 46700000001(0) "texta" a b`,
		"{at: accept, plugin: b}, {at: accept, plugin: a}":                                `operator: 1234(0) 46700000001(0) "texta" a`,
		"{at: accept, plugin: a, accounts: other}":                                        `operator: 1234(0) 46700000001(0) "text"`,
		"{at: accept, plugin: a, accounts: [other, client], connectors: clients}":         `operator: 1234(0) 46700000001(0) "texta" a`,
		"{at: accept, plugin: holds}, {at: accept, plugin: a}":                            "parked held:holds",
		"{at: accept, plugin: a}, {at: accept, plugin: service}, {at: accept, plugin: b}": `operator: 1234(0) 46700000001(0) "texta" a b`,
	} {
		p := newPlace(t, `
plugins:
  - {name: a, on_failure: pass, rules: [{text: 'text + "a"', tags: a}]}
  - {name: b, on_failure: pass, rules: [{if: 'text endsWith "a" and tagged(tags, "a")', tags: b}]}
  - {name: holds, on_failure: pass, rules: [{do: hold}, {tags: never}]}
  - {name: service, on_failure: pass, url: "http://127.0.0.1:1/"}
hooks: [`+hooks+"]", "", "", twoWays)
		if got := p.take(p.submission(Submitted, sms.Submit, nil)); got != want {
			t.Errorf("%s: %s, want %s", hooks, got, want)
		}
	}
}

// A message from a mobile is asked about at its own hook, and a receipt at none.
func TestHooksOfMobiles(t *testing.T) {
	t.Parallel()
	p := newPlace(t, rules("mo", "{if: 'from == \"1234\" and account == \"\"', do: refuse}"), "", "", "[{to: [{account: client}]}]")
	if got := p.take(p.submission(Delivered, sms.MO, nil)); got != "rejected by plugins " {
		t.Error(got)
	}
	if code := p.TakeWaiting(now, p.submission(Reported, sms.Receipt, nil)); code != sms.OK {
		t.Errorf("a receipt: %v", code)
	}
}

// The text that replaces another is asked about, and cannot be held.
func TestHooksOfReplacements(t *testing.T) {
	t.Parallel()
	for verdict, want := range map[string]sms.Code{
		"do: refuse, status: bad_length": sms.BadLength, "do: hold": sms.Rejected, "tags: a": sms.OK, "do: delay, for: 1h": sms.OK,
	} {
		p := newPlace(t, rules("accept", "{if: 'text == \"text\"', "+verdict+"}"), "", "", twoWays)
		s := p.submission(Replaced, sms.Submit, nil)
		s.Message = p.message("old").Message
		s.Message.Kind = sms.Submit
		s.Lane = p.table.LaneOf(p.table.Connector("operator"))
		if code := p.TakeWaiting(now, s); code != want || s.Message.DeliverAt != 0 {
			t.Errorf("%s: %v, want %v; it leaves at %d", verdict, code, want, s.Message.DeliverAt)
		}
	}
}

// What a rule changes besides the text was changed when the message came: it is not changed once more with its new text.
func TestReplacementsKeepTheRest(t *testing.T) {
	t.Parallel()
	p := newPlace(t, rules("accept", "{from: '\"X\" + from', to: '\"0\" + to', text: 'text + \"!\"', tags: a}"), "", "", twoWays)
	s := p.submission(Replaced, sms.Submit, nil)
	s.Message = p.message("old").Message
	s.Change = func(_ int64, m *sms.Message) sms.Code { m.SetText([]byte("new")); return sms.OK }
	s.Lane = p.table.LaneOf(p.table.Connector("operator"))
	if got, want := p.take(s), `operator: 1234(0) 46700000001(0) "new!"`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// A preview asks rules, and no service.
func TestHooksOfPreviews(t *testing.T) {
	t.Parallel()
	p := newPlace(t, asksService, "", "", twoWays)
	s := p.submission(Submitted, sms.Submit, func(m *sms.Message) { m.SetText([]byte("refuse")) })
	s.Preview = true
	if got := p.take(s); !strings.HasPrefix(got, "operator:") {
		t.Error(got)
	}
}

// What holds or refuses is logged with the plugin, and so is a failure.
func TestPluginLog(t *testing.T) {
	t.Parallel()
	for general, want := range map[string]string{
		rules("accept", "{do: hold, why: doubtful}"):                   "message held by plugin rules: doubtful",
		rules("accept", "{do: refuse, why: doubtful}"):                 "message refused by plugin rules: doubtful",
		rules("accept", "{if: 'text matches \"[\" + text', do: hold}"): "a plugin has no verdict",
		"plugins: []": "",
	} {
		p := newPlace(t, general, "", "", twoWays)
		p.take(p.submission(Submitted, sms.Submit, nil))
		if got := p.log.String(); !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("%s: %s", general, got)
		}
	}
}

// A held message says which plugin holds it, however long that name is, and however many tags others have given it.
func TestHeldTag(t *testing.T) {
	t.Parallel()
	name, tag := strings.Repeat("N", 64), strings.Repeat("t", 62)
	var tags []string
	for i := range 9 {
		tags = append(tags, fmt.Sprintf("{tags: [%s%02d]}", tag, i))
	}
	for _, n := range []int{0, 6} {
		general := fmt.Sprintf(`
plugins:
  - {name: tags, on_failure: refuse, rules: [%s]}
  - {name: %s, on_failure: refuse, rules: [{do: hold}]}
hooks: [{at: accept, plugin: tags}, {at: accept, plugin: %s}]`, strings.Join(append(tags[:n:n], "{}"), ", "), name, name)
		p := newPlace(t, general, "", "", twoWays)
		if got := p.take(p.submission(Submitted, sms.Submit, nil)); !strings.HasSuffix(got, "held:"+strings.ToLower(name)) {
			t.Errorf("with %d tags: %s", n, got)
		}
	}
	p := newPlace(t, rules("accept", tags...), "", "", twoWays)
	if got := p.take(p.submission(Submitted, sms.Submit, nil)); !strings.HasPrefix(got, "temporary_failure by plugins") {
		t.Errorf("with 9 tags: %s", got)
	}
}

// A text that a plugin makes too long is one without a verdict, or refused as its client's own text would be: as many parts
// leave as the account may have.
func TestLongTexts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		account, text string
		parts         int
		want          string
	}{
		{"", "repeat(text, 300 * 153)", 0, "temporary_failure by plugins plugin rules has not answered"},
		{"", "repeat(text, 107 * 153)", 0, "bad_length by fit "},
		{"", "repeat(text, 11 * 153)", 0, "bad_length by fit "},
		{"", "repeat(text, 10 * 153)", 10, ""},
		{"max_parts: 107", "repeat(text, 107 * 153)", 107, ""},
		{"max_parts: 255", `repeat("\u4e2d", 81 * 67)`, 81, ""},
		{"max_parts: 80", `repeat("\u4e2d", 81 * 67)`, 0, "bad_length by fit "},
	} {
		p := newPlace(t, rules("accept", "{text: '"+c.text+"'}"), c.account, "long_messages: split8", toOperator)
		s := p.submission(Submitted, sms.Submit, func(m *sms.Message) { m.SetText([]byte("x")) })
		if got := p.take(s); c.want == "" && s.Code != sms.OK || c.want != "" && got != c.want {
			t.Errorf("%s, %s: %.200s, want %s", c.account, c.text, got, c.want)
		}
		if c.parts > 0 && int(s.Message.Parts) != c.parts {
			t.Errorf("%s: %d parts, want %d", c.text, s.Message.Parts, c.parts)
		}
		s.Drop()
	}
}

// As many messages as may be parked are held.
func TestHeldBound(t *testing.T) {
	t.Parallel()
	p := newPlace(t, rules("accept", "{do: hold}"), "max_parked: 0", "", twoWays)
	if got := p.take(p.submission(Submitted, sms.Submit, nil)); got != "queue_full by route " {
		t.Error(got)
	}
}

// Rules cost no allocation of ours beyond those of the library, and no hook costs none at all.
func TestPluginAllocations(t *testing.T) {
	count := func(general string) float64 {
		p := newPlace(t, general, "", "", "[{to: operator}]")
		m := p.message("some text").Message
		m.Kind = sms.Submit
		s := &Submission{Way: Submitted, Message: m, From: p.submission(Submitted, sms.Submit, nil).From}
		return testing.AllocsPerRun(200, func() {
			s.at = progress{}
			stepPlugins(p.Checker, now, s)
		})
	}
	if n := count(""); n != 0 {
		t.Errorf("without hooks: %v", n)
	}
	if testutil.Race {
		return // the pool of questions forgets some
	}
	const library = 3 // each variable that is read, as a value of an interface
	if n := count(rules("accept", "{if: 'from == \"b\" or to startsWith \"99\" or text contains \"x y\"', do: refuse}")); n > library {
		t.Errorf("with a rule: %v, want %d", n, library)
	}
}

// BenchmarkPlugins measures what a rule that reads sender, recipient and text adds to a message.
func BenchmarkPlugins(b *testing.B) {
	const rule = "{if: 'from == \"BAD\" or to startsWith \"4799\" or text contains \"casino\"', do: refuse}"
	for name, general := range map[string]string{"none": "", "rule": rules("accept", rule)} {
		b.Run(name, func(b *testing.B) {
			p := newPlace(b, general, "", "", "[{to: operator}]")
			m := p.message("some text of a message, as long as many are").Message
			s := &Submission{Way: Submitted, Message: m, From: p.submission(Submitted, sms.Submit, nil).From}
			b.ReportAllocs()
			for b.Loop() {
				s.at = progress{}
				stepPlugins(p.Checker, now, s)
			}
		})
	}
}
