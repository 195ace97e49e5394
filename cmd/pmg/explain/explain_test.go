package explain

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"pmg/config"
	"pmg/internal/testutil"
)

func load(t *testing.T, more string) *config.Config {
	t.Helper()
	b, err := os.ReadFile("testdata/pmg.yaml")
	if err != nil {
		t.Fatal(err)
	}
	c, _, err := config.Parse(append(b, more...), config.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Each kind of answer reads as in testdata/answers.txt.
func TestAnswers(t *testing.T) {
	t.Parallel()
	c, parks := load(t, ""), load(t, "no_route: park\n")
	var b strings.Builder
	for _, q := range []struct {
		name string
		c    *config.Config
		q    Question
	}{
		{"one target, and a rule that changes only types", c, Question{Account: "acme", From: "name", To: "4612"}},
		{"a source that becomes too long", c, Question{Account: "acme", From: "xxxxxxxxxxxxxxxx", To: "4612"}},
		{"shares", c, Question{Account: "acme", From: "12345", To: "467"}},
		{"an address that becomes too long on its way out", c, Question{Account: "acme", From: "12345", To: "46712345"}},
		{"a list that allows", c, Question{Account: "other", From: "PMG", To: "46812"}},
		{"a list that refuses", c, Question{Account: "other", From: "PMG", To: "46712"}},
		{"no route", c, Question{Account: "acme", From: "1", To: "33"}},
		{"no route, parked", parks, Question{Account: "acme", From: "1", To: "33"}},
		{"from an SMSC, and back to it", c, Question{Connector: "two", From: "49170", To: "91"}},
		{"from an SMSC, and only back to it", c, Question{Connector: "two", From: "49170", To: "81"}},
		{"from an SMSC, no route", c, Question{Connector: "two", From: "49170", To: "7"}},
		{"to an account on two connectors", c, Question{Connector: "two", From: "49170", To: "12"}},
		{"to an in connector where none receives that", c, Question{Connector: "two", From: "49170", To: "22"}},
		{"all of the extension table", c, Question{Account: "acme", From: "PMG", To: "3", Text: strings.Repeat("€", 80)}},
		{"one more", c, Question{Connector: "one", From: "PMG", To: "3", Text: strings.Repeat("€", 81)}},
		{"not in GSM 7-bit", c, Question{Connector: "one", From: "PMG", To: "3", Text: strings.Repeat("ж", 70)}},
		{"surrogates are not cut", c, Question{Connector: "one", From: "PMG", To: "3", Text: "a" + strings.Repeat("😀", 67)}},
		{"too long", c, Question{Connector: "one", From: "PMG", To: "3", Text: strings.Repeat("a", 255*153+1)}},
		{"not UTF-8", c, Question{Connector: "one", From: "PMG", To: "3", Text: "a\xff"}},
		{"texts of several forms", c, Question{Account: "acme", From: "1", To: "77", Text: "Grüße, señor ¿qué?"}},
		{"texts with what few have", c, Question{Account: "acme", From: "1", To: "77", Text: "İstanbul’da ğ"}},
		{"references of 16 bits", c, Question{Connector: "one", From: "1", To: "78", Text: strings.Repeat("a", 161)}},
		{"a long one in tables of a language", c, Question{Account: "acme", From: "1", To: "77", Text: strings.Repeat("İstanbul'da ğ ", 20)}},
	} {
		a, err := Ask(q.c, q.q)
		if err != nil {
			t.Fatalf("%s: %v", q.name, err)
		}
		fmt.Fprintf(&b, "# %s\n%s\n", q.name, a)
	}
	testutil.Fresh(t, "testdata/answers.txt", b.String(), "go test ./cmd/pmg/explain -update")
}

// A question that has no answer is refused with what to do.
func TestQuestions(t *testing.T) {
	t.Parallel()
	c := load(t, "")
	for want, q := range map[string]Question{
		`cannot explain a message without its origin: name the client with --account (there are: acme, other), or an SMSC with --connector`:         {To: "1"},
		`cannot explain a message without a destination: name one with --to`:                                                                        {Account: "acme"},
		`cannot explain: the configuration has no account "nobody"`:                                                                                 {Account: "nobody", To: "1"},
		`cannot explain: the configuration has no connector "three"`:                                                                                {Connector: "three", To: "1"},
		`cannot explain: account other may not log in on connector clients`:                                                                         {Connector: "clients", Account: "other", To: "1"},
		`cannot explain: messages that arrive on connector one come from an SMSC and have no account: leave out --account, or name an in connector`: {Connector: "one", Account: "acme", To: "1"},
		`cannot explain address "` + strings.Repeat("1", 65) + `": it must have at most 64 characters`:                                              {Account: "acme", To: strings.Repeat("1", 65)},
	} {
		if _, err := Ask(c, q); err == nil || err.Error() != want {
			t.Errorf("%+v: %v, not %s", q, err, want)
		}
	}
}

// A route is written so that it can be found in the configuration.
func TestRouteText(t *testing.T) {
	for want, r := range map[string]config.Route{
		"for any message": {},
		"{account: acme, from: operator, source: 12, keyword: STOP}": {Account: "acme", From: "operator", Source: "12", Keyword: []string{"STOP"}},
		"{keyword: [STOP, JOIN]}":                                    {Keyword: []string{"STOP", "JOIN"}},
		"{destination: [1, 2, 3, 4, 5, and 2 more]}":                 {Destination: []string{"1", "2", "3", "4", "5", "6", "7"}},
	} {
		if got := routeText(&r); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
