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
		`{"to":"1","text":"{{a}}"}`:                                                                                        "{{a}}",
		`{"to":"1","text":"{{a}} {{a","parameters":{"a":""}}`:                                                              " {{a",
		`{"to":"1","text":"a}} }}{{a}}}}","parameters":{"a":"1"}}`:                                                         "a}} }}1}}",
		`{"to":"1","text":"none","parameters":{}}`:                                                                         "none",
		`{"to":"1","text":"{{b}}","parameters":{"a":"1"}}`:                                                                 `/parameters missing must have "b", which the text has`,
		`{"to":"1","text":"{{}}","parameters":{"a":"1"}}`:                                                                  `/parameters missing must have "", which the text has`,
		`{"to":"1","text":"{{a}}","parameters":{"a":1}}`:                                                                   "/parameters/a wrong-type",
		`{"to":"1","text":"{{a}}","parameters":["a"]}`:                                                                     "/parameters wrong-type",
		`{"to":"1","text":"` + strings.Repeat("{{a}}", 1000) + `","parameters":{"a":"` + strings.Repeat("y", 1000) + `"}}`: "/text too-long",
	} {
		m, p := ReadMessage([]byte(body), now)
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
	items, p := ReadBatch([]byte(`{"text":"{{hi}} {{name}}","parameters":{"hi":"Hello","name":"you"},"messages":[{"to":"1"},{"to":"2","parameters":{"name":"Ann"}},{"to":"3","text":"{{x}}"}]}`), now, 10)
	if p != nil || len(items) != 3 || items[0].Message.text != "Hello you" || items[1].Message.text != "Hello Ann" || items[2].Problem == nil || items[2].Problem.Errors[0].Pointer != "/messages/2/parameters" {
		t.Errorf("%+v %+v", items, p)
	}
	var many strings.Builder
	for i := range maxParameters + 1 {
		fmt.Fprintf(&many, `,"p%d":"1"`, i)
	}
	if _, p := ReadMessage([]byte(`{"to":"1","text":"x","parameters":{`+many.String()[1:]+`}}`), now); p == nil || p.Errors[0].Code != "too-many" {
		t.Errorf("%+v", p)
	}
}
