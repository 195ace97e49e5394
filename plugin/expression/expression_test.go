package expression

import (
	"context"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"pmg/internal/testkit/testutil"
	"pmg/plugin"
)

// ask compiles rules and asks them.
func ask(t *testing.T, m plugin.Message, rules ...Rule) (plugin.Verdict, error) {
	t.Helper()
	p, problems := Compile(rules)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return p.Ask(context.Background(), &m)
}

// describe writes a verdict.
func describe(v plugin.Verdict) string {
	text := fmt.Sprintf("%s %s %v", v.Do, v.Status, v.Tags)
	for _, change := range []*string{v.From, v.To, v.Text} {
		if change != nil {
			text += " " + *change
		} else {
			text += " -"
		}
	}
	return text
}

// 22:30 in Stockholm, where it is summer.
var summerNight = time.Date(2026, 7, 1, 20, 30, 0, 0, time.UTC)

func sampleMessage() plugin.Message {
	return plugin.Message{
		Hook: plugin.Accept, Account: "shop", Connector: "in", From: "PMG", FromTON: 5, To: "46700000001", ToTON: 1, Text: "You win!",
		Alphabet: "gsm7", Priority: 2, Tags: "vip", Arrived: summerNight,
	}
}

// The statuses that the options of a rule allow are those of verdicts, and docs/plugins.md names each variable and bound.
func TestDocumented(t *testing.T) {
	t.Parallel()
	status, _ := reflect.TypeFor[Rule]().FieldByName("Status")
	if got, want := status.Tag.Get("enum"), strings.Join(plugin.Statuses(), "|"); got != want {
		t.Errorf("a rule may have %s, a verdict %s", got, want)
	}
	page, err := os.ReadFile("../../docs/plugins.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[plugin.Message]()) {
		if name := f.Tag.Get("expr"); name == "" || !strings.Contains(string(page), "`"+name+"`") {
			t.Errorf("docs/plugins.md does not name %s", f.Name)
		}
	}
	for _, want := range []string{
		"`between(", "`local(", "`tagged(", fmt.Sprintf("may take 1,%03d nodes and make %d,000 elements", maxNodes-1000, maxMemory/1000),
	} {
		if !strings.Contains(string(page), want) {
			t.Errorf("docs/plugins.md lacks %s", want)
		}
	}
}

// A condition reads each variable and function; a verdict says what its rule does.
func TestConditions(t *testing.T) {
	t.Parallel()
	for condition, want := range map[string]bool{
		"":                                true,
		`hook == "accept"`:                true,
		`account in ["shop", "bank"]`:     true,
		`to startsWith "4670"`:            true,
		`from == "PMG" and from_ton == 5`: true,
		`text matches "(?i)\\bWIN\\b"`:    true,
		`len(text) > 8`:                   false,
		`tagged(tags, "vip")`:             true,
		`tagged(tags, "vi")`:              false,
		`priority > 2`:                    false,
		`alphabet == "ucs2" or binary`:    false,
		`between(arrived, "21:00", "08:00", "Europe/Stockholm")`: true,
		`between(arrived, "21:00", "08:00", "UTC")`:              false,
		`between(arrived, "20:30", "20:31", "UTC")`:              true,
		`between(arrived, "20:00", "20:30", "UTC")`:              false,
		`local(arrived, "Asia/Kolkata").Hour() == 2`:             true,
		`deliver_at.IsZero()`:                                    true,
	} {
		v, err := ask(t, sampleMessage(), Rule{If: condition, Do: plugin.Refuse})
		if err != nil || (v.Do == plugin.Refuse) != want {
			t.Errorf("%s: %+v, %v", condition, v, err)
		}
	}
}

// Rules follow each other: a later one sees the changes, the last verdict counts, and refuse or hold ends them.
func TestRules(t *testing.T) {
	t.Parallel()
	for want, rules := range map[string][]Rule{
		"  [] - - -": {{If: "false", Do: "refuse"}},
		"refuse rejected [a] - - -": {
			{Tags: []string{"a"}}, {Do: "refuse", Status: "rejected"}, {Tags: []string{"b"}},
		},
		"hold  [] - - -": {{Do: "delay", For: time.Hour}, {Do: "hold"}, {Do: "refuse"}},
		"  [a b] NEW +46700000001 NEW You win!": {
			{From: `"NEW"`, Tags: []string{"a"}},
			{If: `from == "NEW" and tagged(tags, "a")`, Text: `from + " " + text`, To: `"+" + to`, Tags: []string{"b"}},
		},
	} {
		if v, err := ask(t, sampleMessage(), rules...); err != nil || describe(v) != want {
			t.Errorf("%+v: %s, %v, want %s", rules, describe(v), err, want)
		}
	}
	v, err := ask(t, sampleMessage(), Rule{Do: plugin.Delay, For: 90 * time.Minute, Why: "night"}, Rule{Do: plugin.Pass})
	if err != nil || !v.Until.Equal(summerNight.Add(90*time.Minute)) || v.Why != "night" {
		t.Errorf("%+v, %v", v, err)
	}
}

// Rules see their changes, and the caller's message stays as it is, also when a later rule fails.
func TestMessageStays(t *testing.T) {
	t.Parallel()
	change := Rule{From: `"NEW"`, To: `"+1"`, Text: `"x"`, Tags: []string{"a"}}
	for _, rules := range [][]Rule{{change}, {change, {If: `text == "x" and int(from) == 1`}}} {
		p, problems := Compile(rules)
		m := sampleMessage()
		if v, err := p.Ask(context.Background(), &m); len(problems) > 0 || (err != nil) != (len(rules) > 1) || err != nil && v.From != nil {
			t.Errorf("%+v, %v, %v", v, err, problems)
		}
		if m != sampleMessage() {
			t.Errorf("it has become %+v", m)
		}
	}
}

// What cannot run is a problem of its rule, with the place.
func TestProblems(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rule         Rule
		option, want string
	}{
		{Rule{If: "too == 1"}, "if", `unknown name too (1:1): at "too == 1"`},
		{Rule{If: "to =="}, "if", `unexpected token EOF (1:5): at "="`},
		{Rule{If: "to == 'å'\nand täxt == 1"}, "if", `unknown name täxt (2:5): at "täxt == 1"`},
		{Rule{If: "to == 'a"}, "if", "literal not terminated (1:9): at its end"},
		{Rule{Text: "unknown + text + text + text"}, "text", `unknown name unknown (1:1): at "unknown + text + tex"…`},
		{Rule{Tags: []string{"a", "A"}}, "", `its tag "A" must be at most 64 small letters`},
		{Rule{If: "to"}, "if", "expected bool"},
		{Rule{If: "len(to) + 1"}, "if", "expected bool"},
		{Rule{From: "1"}, "from", "expected string"},
		{Rule{If: `between(arrived, "25:00", "08:00", "UTC")`}, "if", `"25:00" is not a time of day`},
		{Rule{If: `between(arrived, "21:00", "08:00", "Mars")`}, "if", `no time zone "Mars"`},
		{Rule{If: `between(arrived, "21:00", "08:00", "")`}, "if", `no time zone ""`},
		{Rule{If: `local(arrived, "Local").Hour() > 1`}, "if", `no time zone "Local"`},
		{Rule{If: `between("21:00", "08:00", "UTC")`}, "if", "not enough arguments"},
		{Rule{Do: "drop"}, "", "must be pass, refuse, delay or hold"},
		{Rule{Do: "refuse", Status: "ok"}, "", "must be one of rejected"},
		{Rule{Status: "rejected"}, "", "without being refuse"},
		{Rule{Why: strings.Repeat("x", plugin.MaxWhy+1)}, "", "at most 200"},
		{Rule{If: strings.Repeat("1 + ", 1000) + "1 == 2"}, "if", "exceeds maximum allowed nodes"},
	} {
		_, problems := Compile([]Rule{{}, c.rule})
		p := append(problems, Problem{})[0]
		if len(problems) != 1 || p.Rule != 1 || p.Option != c.option || !strings.Contains(p.Text, c.want) || strings.Contains(p.Text, "\n") {
			t.Errorf("%+v: %+v, want %s", c.rule, problems, c.want)
		}
	}
}

// An expression that would take all memory or all time, or whose values do not fit, fails.
func TestGreedy(t *testing.T) {
	t.Parallel()
	for _, condition := range []string{
		`len(map(1..1000000, #)) > 0`, `any(1..90000, any(1..90000, # < 0))`, `int(text) == 1`,
	} {
		if v, err := ask(t, sampleMessage(), Rule{If: condition, Do: plugin.Refuse}); err == nil {
			t.Errorf("%s: %+v", condition, v)
		}
	}
}

// Many goroutines ask the same rules.
func TestTogether(t *testing.T) {
	t.Parallel()
	p, _ := Compile([]Rule{{If: `to endsWith "7"`, Do: plugin.Refuse}})
	done := make(chan bool)
	for i := range 10 {
		go func() {
			right := true
			for range 100 {
				m := sampleMessage()
				m.To = fmt.Sprint("4670000000", i)
				v, err := p.Ask(context.Background(), &m)
				right = right && err == nil && (v.Do == plugin.Refuse) == (i == 7)
			}
			done <- right
		}()
	}
	for range 10 {
		if !testutil.Receive(t, "the end", done) {
			t.Error("a verdict is another message's")
		}
	}
}

// BenchmarkAsk measures a rule that reads sender, recipient and text.
func BenchmarkAsk(b *testing.B) {
	p, problems := Compile([]Rule{{If: `from == "BAD" or to startsWith "4799" or text contains "casino"`, Do: plugin.Refuse}})
	if len(problems) > 0 {
		b.Fatal(problems)
	}
	m := sampleMessage()
	b.ReportAllocs()
	for b.Loop() {
		if v, _, err := p.Try(&m); err != nil || v.Do != "" {
			b.Fatal(v, err)
		}
	}
}

// BenchmarkBetween measures a rule that asks for the time of day.
func BenchmarkBetween(b *testing.B) {
	p, _ := Compile([]Rule{{If: `between(arrived, "21:00", "08:00", "Europe/Stockholm")`, Tags: []string{"night"}}})
	m := sampleMessage()
	b.ReportAllocs()
	for b.Loop() {
		if v, _, err := p.Try(&m); err != nil || len(v.Tags) != 1 {
			b.Fatal(v, err)
		}
	}
}
