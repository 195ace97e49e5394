package own

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// Parameters stand in the text in the place of their names; those of a message before those of its batch.
func TestParameters(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, at)
	for body, want := range map[string]string{
		`{"to":"1","text":"{{a}} and {{ b }}{{a}}","parameters":{"a":"x","b":"{{a}}"}}`: "x and {{a}}x",
		`{"to":"1","text":"Hi {{a}}"}`:                                  `/parameters missing must have "a", which the text has`,
		`{"to":"1","text":"{a} }} {{a"}`:                                "{a} }} {{a",
		`{"to":"1","text":"\\{{a}} \\{{ {{a}}","parameters":{"a":"x"}}`: "{{a}} {{ x",
		`{"to":"1","text":"\\{{a}}"}`:                                   "{{a}}",
		`{"to":"1","text":"{{a}} {{a","parameters":{"a":""}}`:           " {{a",
		`{"to":"1","text":"a}} }}{{a}}}}","parameters":{"a":"1"}}`:      "a}} }}1}}",
		`{"to":"1","text":"none","parameters":{}}`:                      "none",
		`{"to":"1","text":"{{b}}","parameters":{"a":"1"}}`:              `/parameters missing must have "b", which the text has`,
		`{"to":"1","text":"{{}}","parameters":{"a":"1"}}`:               `/parameters missing must have "", which the text has`,
		`{"to":"1","text":"{{a}}","parameters":{"a":1}}`:                "/parameters/a wrong-type",
		`{"to":"1","text":"{{a}}","parameters":["a"]}`:                  "/parameters wrong-type",
		`{"to":"1","text":"` + strings.Repeat("{{a}}", 1000) + `","parameters":{"a":"` + strings.Repeat("y", 1000) + `"}}`: "/text too-long",
	} {
		m, p := new(Reader).Message([]byte(body), now)
		got := ""
		if p != nil && len(p.Errors) > 0 {
			got = fmt.Sprint(p.Errors[0].Pointer, " ", p.Errors[0].Code, " ", p.Errors[0].Detail)
		} else if m != nil {
			got = m.text
		}
		if !strings.HasPrefix(got, want) || p == nil && got != want {
			t.Errorf("%.80s: %s, want %s", body, got, want)
		}
	}
	batch, p := new(Reader).Batch([]byte(`{"text":"{{hi}} {{name}}","parameters":{"hi":"Hello","name":"you"},"messages":[{"to":"1"},{"to":"2","parameters":{"name":"Ann"}},{"to":"3","text":"{{x}}"}]}`), 10)
	if p != nil || batch.Len() != 3 {
		t.Fatalf("%+v %+v", batch, p)
	}
	if a, b, c := batch.Item(0, now), batch.Item(1, now), batch.Item(2, now); a.Message.text != "Hello you" || b.Message.text != "Hello Ann" || c.Problem == nil || c.Problem.Errors[0].Pointer != "/messages/2/parameters" {
		t.Errorf("%+v %+v %+v", a, b, c)
	}
	var many strings.Builder
	for i := range maxParameters + 1 {
		fmt.Fprintf(&many, `,"p%d":"1"`, i)
	}
	if _, p := new(Reader).Message([]byte(`{"to":"1","text":"x","parameters":{`+many.String()[1:]+`}}`), now); p == nil || p.Errors[0].Code != "too-many" {
		t.Errorf("%+v", p)
	}
}
