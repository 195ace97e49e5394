package expression

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"

	"pmg/plugin"
)

// bomb makes a value that contains itself n times over, by a chain of variables.
func bomb(first, next string, n int) string {
	var b strings.Builder
	b.WriteString("let v0 = " + first + "; ")
	for i := range n {
		b.WriteString("let v" + string(rune('a'+i)) + " = " + strings.ReplaceAll(next, "V", map[bool]string{true: "v0", false: "v" + string(rune('a'+i-1))}[i == 0]) + "; ")
	}
	return b.String()
}

func last(n int) string { return "v" + string(rune('a'+n-1)) }

// greedy are conditions that want more work or memory than any message is worth, with a text of 60,000 octets.
func greedy() []string {
	return []string{
		`let s = split(text, ""); any(s, let c = #; count(s, # == c) > 100000)`,
		`let s = split(text, ""); all(s, let c = #; any(s, # != c) or len(filter(s, # == c)) > 0)`,
		`reduce(1..30000, #acc + text, "") != ""`,
		`let a = 1..1000; all(a, all(a, all(a, # > 0)))`,
		`let a = 1..1000; none(a, let x = #; none(a, # + x < 0 or one(a, # == x)))`,
		`let a = 1..2000; len(filter(a, len(filter(a, len(text) < 0)) > 0)) > 0`,
		`let a = 1..2000; sum(map(a, sum(map(a, # * 2)))) < 0`,
		`let a = 1..2000; sum(map(filter(a, # > 0), sum(a))) < 0`,
		`let a = 1..2000; count(a, sum(a) < 0) > 0`,
		`let a = 1..2000; findIndex(a, findLast(a, # < 0) != nil) == 3`,
		`let a = 1..2000; len(sortBy(a, len(sortBy(a, -#)))) < 0`,
		`let a = 1..2000; len(groupBy(a, len(groupBy(a, #)))) < 0`,
		`len(repeat(text, 1000000)) > 0`,
		`len(repeat(repeat(repeat(text, 1000), 1000), 1000)) > 0`,
		`len(join(map(1..50000, text), text)) > 0`,
		`len(join(split(text, ""), text)) > 0`,
		`len(replace(text, "", text)) > 0`,
		`len(replace(replace(text, "a", "aaaaaaaaaaaaaaaaaaaaaaaa"), "a", text)) > 0`,
		`len(uniq(split(text, ""))) < 0 or len(uniq(map(1..50000, #))) < 0`,
		`any(1..1000, len(sort(split(text, ""))) < 0)`,
		`any(1..50000, text matches "(a+)+$" and text matches "(.*a){10}b")`,
		`text matches "(.*)(.*)(.*)(.*)(.*)(.*)(.*)(.*)(.*)[^a]x{900}y"`,
		`let p = "(a{900})*b"; text matches p`,
		`any(1..50000, text matches string(#) + text)`,
		`any(1..50000, text contains text[1:] + "b")`,
		`any(1..90000, lower(text) == upper(text))`,
		`any(1..90000, text[1:] == text[2:])`,
		`any(1..90000, [text] == [text[1:]] or text in split(text, ""))`,
		`any(1..90000, len(text) < 0)`,
		`any(1..90000, len(arrived.Format(text)) < 0)`,
		`any(1..90000, tagged(text, "a" + string(#)))`,
		`any(1..90000, indexOf(text, "ab") > 0 or lastIndexOf(text, "ab") > 0)`,
		`any(1..90000, text startsWith text[:59999] + "b")`,
		`any(1..90000, (text < text[1:] + "") != (text < text))`,
		`len(toJSON(reduce(1..50000, [#acc], []))) > 0`,
		`any(1..5000, len(fromJSON("[" + repeat("[],", 10000) + "1]")) < 0)`,
		`any(1..5000, len(fromBase64(toBase64(text))) < 0)`,
		`any(1..5000, len(concat(1..10000, 1..9)) < 0)`,
		`any(1..5000, len(reverse(split(text, "a"))) < 0)`,
		`any(split(text, ""), len(string(local(arrived, ["UTC", "Europe/Paris"][len(#)])) ) < 0)`,
		`any(1..90000, timezone("Europe/Paris") == nil)`,
		bomb("text", "V + V", 20) + `len(` + last(20) + `) < 0`,
		bomb("[text, text]", "[V, V, V, V]", 20) + `len(toJSON(` + last(20) + `)) < 0`,
		bomb("[1]", "[V, V, V, V]", 20) + `len(string(` + last(20) + `)) < 0`,
		bomb("[1]", "[V, V, V, V]", 20) + `len(flatten(` + last(20) + `)) < 0`,
		bomb("[1]", "[V, V, V, V]", 20) + last(20) + ` == [` + last(20) + `]`,
		bomb("[1]", "concat(V, V, V, V)", 20) + `len(` + last(20) + `) < 0`,
		bomb(`{"a": 1}`, `{"a": V, "b": V}`, 24) + `toJSON(` + last(24) + `) == ""`,
		bomb("[1]", "[V, V, V, V]", 20) + `max(` + last(20) + `) < 0`,
		bomb("[1]", "[V, V, V, V]", 20) + last(20) + ` in [` + last(20) + `]`,
	}
}

// Whatever rules want, they end for want of steps or of elements, with little more memory than what is charged for.
func TestBounds(t *testing.T) {
	m := sampleMessage()
	m.Text = strings.Repeat("a", longText)
	for _, condition := range greedy() {
		c, err := compile(condition, options()...)
		if err != nil {
			t.Errorf("%s: %v", condition, err)
			continue
		}
		p := &Plugin{rules: []compiled{{rule: &Rule{Do: plugin.Refuse}, when: c}}}
		p.runs.New = newRun
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		v, err := p.Ask(context.Background(), &m)
		runtime.ReadMemStats(&after)
		if taken := after.TotalAlloc - before.TotalAlloc; taken > 200<<20 {
			t.Errorf("%s: it takes %d MB", condition, taken>>20)
		}
		if err == nil || !errors.Is(err, errSteps) && !strings.Contains(err.Error(), "memory budget") {
			t.Errorf("%s: %+v, %v", condition, v, err)
		}
	}
}

// What is usual decides immediately, and a long loop elsewhere, both as ever.
func TestTry(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		condition string
		octets    int
		done, met bool
	}{
		{`from == "BAD" or to startsWith "4670"`, 60_000, true, true},
		{`text contains "casino" or lower(text) contains "aaa"`, 160, true, true},
		{`any(["casino", "aaa"], text contains #)`, 160, true, true},
		{`text matches "(?i)\\b(casino|poker|A+)\\b"`, 160, true, true},
		{`len(filter(split(text, ""), # == "a")) == 160`, 160, false, true},
		{`len(filter(map(split(text, ""), # + "b"), # == "ab")) == 1500`, 1500, false, true},
		{`let s = split(text, ""); count(s, # == "a") > 1000`, 60_000, false, true},
		{`text matches "(?i)\\b(casino|poker|A+)\\b"`, 60_000, false, true},
		{`tagged(tags, "vip") and between(arrived, "21:00", "08:00", "Europe/Stockholm")`, 60_000, true, true},
	} {
		p, problems := Compile([]Rule{{If: c.condition, Do: plugin.Refuse}})
		if len(problems) > 0 {
			t.Errorf("%s: %v", c.condition, problems)
			continue
		}
		m := sampleMessage()
		m.Text = strings.Repeat("a", c.octets)
		v, done, err := p.Try(&m)
		if done != c.done || err != nil {
			t.Errorf("%s, %d octets: done %t, %v", c.condition, c.octets, done, err)
		}
		if v, err = p.Ask(context.Background(), &m); err != nil || (v.Do == plugin.Refuse) != c.met {
			t.Errorf("%s, %d octets: %+v, %v", c.condition, c.octets, v, err)
		}
	}
}

// A rule that no message can pay for is a problem, one that some cannot is named.
func TestGreedyRules(t *testing.T) {
	t.Parallel()
	p, problems := Compile([]Rule{{If: `text contains "a"`}, {If: greedy()[0]}, {Text: `join(map(1..1000, text), "")`}})
	if len(problems) > 0 {
		t.Error(problems)
	}
	if g := p.Greedy(); len(g) != 2 || g[0].Rule != 1 || g[0].Option != "if" || g[1].Rule != 2 || g[1].Option != "text" {
		t.Errorf("%+v", g)
	}
	for _, condition := range []string{`reduce(1..30000, #acc + text, "") != ""`, `let a = 1..1000; all(a, all(a, all(a, # > 0)))`} {
		if _, problems := Compile([]Rule{{If: condition}}); len(problems) != 1 || !strings.Contains(problems[0].Text, "steps") {
			t.Errorf("%s: %+v", condition, problems)
		}
	}
	if _, problems := Compile([]Rule{{If: `len(toJSON($env)) > 0`}}); len(problems) != 1 {
		t.Errorf("the environment: %+v", problems)
	}
}
