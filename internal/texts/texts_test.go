package texts

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/text/feature/plural"
)

// in returns the printer of a language that the catalogue must have.
func in(t *testing.T, c *Catalogue, tag string) Printer {
	t.Helper()
	p, ok := c.In(tag)
	if !ok {
		t.Fatalf("there is no %s", tag)
	}
	return p
}

// with returns the shipped catalogue with further files, which must be right.
func with(t *testing.T, files map[string]string) *Catalogue {
	t.Helper()
	c, wrong := withFiles(files)
	if len(wrong) > 0 {
		t.Fatal(wrong)
	}
	return c
}

func withFiles(files map[string]string) (*Catalogue, []Problem) {
	all := map[string][]byte{}
	for name, text := range files {
		all[name] = []byte(text)
	}
	return Shipped().With(all)
}

// A text is written in its language, with the arguments in its places and the plural form of their count. What a language lacks is
// written in the next wider one, and in the end in English, without the remark in the key.
func TestTexts(t *testing.T) {
	t.Parallel()
	c := with(t, map[string]string{
		"de-AT.json": `{"Inbox": "Eingang"}`, "fr.json": `{"%s taken by %s": "%[2]s a pris %[1]s"}`,
		"pl.json": `{"%d short messages": {"one": "%d SMS-a", "few": "%d SMS-y", "many": "%d SMS-ów", "other": "%d SMS-u"}}`,
	})
	for i, one := range []struct {
		tag, key, want string
		args           []any
	}{
		{"de", "Inbox", "Posteingang", nil},
		{"de-AT", "Inbox", "Eingang", nil},
		{"de-AT", "Send", "Senden", nil},
		{"es", "To|a day", "Hasta", nil},
		{"fr", "To|a day", "To", nil},
		{"fr", "no key of ours", "no key of ours", nil},
		{"fr", "%s taken by %s", "b a pris a", []any{"a", "b"}},
		{"fr", "%d short messages", "1 short message", []any{1}},
		{"en", "%d short messages", "1,234 short messages", []any{1234}},
		{"en", "The file may have %s recipients at most.", "The file may have 10000 recipients at most.", []any{10000}},
		{"pl", "%d short messages", "1 SMS-a", []any{1}},
		{"pl", "%d short messages", "22 SMS-y", []any{22}},
		{"pl", "%d short messages", "12 SMS-ów", []any{uint64(12)}},
		{"es", "%d events were given up.", "Se abandonó 1 evento.", []any{int64(1)}},
		{"es", "%d events were given up.", "Se abandonaron 1,000,000 eventos.", []any{1_000_000}},
		{"de", "%s at most", "höchstens %s", []any{"%s"}},
		{"de", "Line %s: %s", "Zeile 1: %s", []any{1}},
		{"de", "100 % of %x %d", "100 % of %x %d", nil},
	} {
		if got := in(t, c, one.tag).Text(one.key, one.args...); got != one.want {
			t.Errorf("%d: %q, not %q", i, got, one.want)
		}
	}
	if got := (Printer{}).Text("From|the sender"); got != "From" || (Printer{}).Tag() != "en" {
		t.Error(got)
	}
	if got := Say("%s is on the list.", "1").In(in(t, c, "de")); got != "1 steht auf der Liste." || (Message{}).In(in(t, c, "de")) != "" {
		t.Error(got)
	}
}

// A language is chosen by the header of a browser. One that is hostile, too long or of other languages means English.
func TestChoose(t *testing.T) {
	t.Parallel()
	c := with(t, map[string]string{"de-AT.json": `{"Inbox": "Eingang"}`, "pt-BR.json": `{"Inbox": "Entrada"}`})
	for header, want := range map[string]string{
		"": "en", "de": "de", "de-CH, en;q=0.5": "de", "de-AT": "de-AT", "es-MX,es;q=0.9": "es", "fr;q=0.9, es;q=0.1": "es", "fr, ja": "en",
		"en-GB,de;q=0.9": "en", "pt": "pt-BR", "*": "en", "DE": "de", "de;q=0": "en", "de;q=x": "en", "\x00\xff": "en", "----": "en", ";;;,,,": "en",
		"de-" + strings.Repeat("a-", 100): "en", strings.Repeat("de,", 4000): "en", strings.Repeat("x", 10_000): "en",
		"de," + strings.Repeat("-", 400): "en",
	} {
		if got := c.Choose(header).Tag(); got != want {
			t.Errorf("%.40q: %s, not %s", header, got, want)
		}
	}
	if _, ok := c.In("fr"); ok {
		t.Error("there is a language that nobody has made")
	}
	if got := fmt.Sprint(c.Languages()); got != "[{en English} {de Deutsch} {de-AT de-AT} {es Español} {pt-BR pt-BR}]" {
		t.Error(got)
	}
}

// Whatever header comes, a language is chosen.
func FuzzChoose(f *testing.F) {
	c := Shipped()
	f.Add("de-CH, en;q=0.5")
	f.Add("x-a,*;q=1,zh-Hant-u-co-phonebk")
	f.Fuzz(func(t *testing.T, header string) {
		if tag := c.Choose(header).Tag(); tag != "en" && tag != "de" && tag != "es" {
			t.Error(tag)
		}
	})
}

// The shipped texts have the places and the links of their keys, and their files are sorted.
func TestShipped(t *testing.T) {
	t.Parallel()
	c := Shipped()
	for _, tag := range []string{"de", "en", "es"} {
		data, err := shippedFiles.ReadFile("languages/" + tag + ".json")
		if err != nil {
			t.Fatal(err)
		}
		if _, _, wrong := c.check(tag+".json", data); len(wrong) > 0 {
			t.Error(tag, wrong)
		}
		at := -1
		for _, key := range c.Only(tag) {
			next := strings.Index(string(data), fmt.Sprintf("\n %q: ", key))
			if next <= at {
				t.Errorf("%s.json: %q is not at its place", tag, key)
			}
			at = next
		}
	}
	if n := len(c.Only("de")); n < 400 || n != len(c.Only("es")) || c.Only("fr") != nil || len(c.Keys()) != n {
		t.Error(n)
	}
	for _, key := range c.Only("en") {
		for _, w := range c.all {
			if f := w.texts[key]; len(places(key)) == 0 || f[plural.Other] == "" {
				t.Errorf("%s: %q", w.tag, key)
			}
		}
	}
}

// A file of all texts is read as it was written, and has those of English for a new language.
func TestFile(t *testing.T) {
	t.Parallel()
	c := Shipped()
	for _, tag := range []string{"de", "en", "es"} {
		data, ok := c.File(tag)
		again, wrong := c.With(map[string][]byte{tag + ".json": data})
		if got, _ := again.File(tag); !ok || len(wrong) > 0 || string(got) != string(data) || len(again.Only(tag)) != len(c.Keys()) {
			t.Errorf("%s: %v, %v", tag, ok, wrong)
		}
		shipped, err := shippedFiles.ReadFile("languages/" + tag + ".json")
		if err != nil || tag != "en" && string(data) != string(shipped) {
			t.Errorf("%s.json is not as it is written: %v", tag, err)
		}
	}
	data, _ := c.File("en")
	for _, text := range []string{`"To|a day": "To"`, `"one": "%d short message"`, `English|the name of the language itself": "English"`} {
		if !strings.Contains(string(data), text) {
			t.Errorf("without %s", text)
		}
	}
	if _, ok := c.File("fr"); ok {
		t.Error("there is a file of no language")
	}
}

// What is wrong with a file is said with the key and a proposal, and nothing of the file is taken.
func TestProblems(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"Inbx": "Eingang"}`:                                `"Inbx" is no text of the pages: did you mean "Inbox"?`,
		`{"Address for a link": "a"}`:                        `did you mean "Address for a link if you forget your password"?`,
		`{"nothing like it": "a"}`:                           `"nothing like it" is no text of the pages`,
		`{"` + strings.Repeat("x", 5000) + `": "a"}`:         `no text of the pages begins with "xxxx`,
		`{"Inbox": ""}`:                                      `the text of "Inbox" must not be empty`,
		`{"Inbox": "a\u0000"}`:                               `must not have control characters`,
		`{"Inbox": "` + strings.Repeat("x", 5000) + `"}`:     `must have 4000 octets at most`,
		`{"Inbox": "%s"}`:                                    `must have the places of the key`,
		`{"%s taken by %s": "%s taken"}`:                     `must have the places of the key: %s %s`,
		`{"%s taken by %s": "%s %s %s"}`:                     `must have the places of the key`,
		`{"%d short messages": "%s"}`:                        `must have the places of the key`,
		`{"%d short messages": {"one": "%d", "some": "%d"}}`: `has a plural form "some"`,
		`{"%d short messages": {"one": "%d"}}`:               `must not be empty`,
		`{"%d short messages": {"one": 1}}`:                  `must have a text as its form one`,
		`{"Inbox": {"one": "a", "other": "b"}}`:              `must be one, because the key has no count`,
		`{"Programs log in with a key: [the API].": "a"}`:    `must have as many parts in brackets`,
		`{"Programs log in with a key: [the API].": "[a"}`:   `must have as many parts in brackets`,
		`{"Inbox": 1}`:                                       `must be a text, or an object`,
		`{"Inbox": "a", "Inbox": "b"}`:                       `cannot be read`,
		`{"Inbox": "a"`:                                      `cannot be read`,
		`{"Inbox": "a"} {}`:                                  `cannot be read: has something behind its object`,
		`[]`:                                                 `cannot be read: must be an object`,
		``:                                                   `cannot be read`,
		"{\"Inbox\": \"\xff\"}":                              `cannot be read`,
		strings.Repeat(`{"a":`, 100_000):                     `cannot be read`,
	} {
		c, wrong := withFiles(map[string]string{"de.json": text})
		if len(wrong) != 1 || wrong[0].File != "de.json" || !strings.Contains(wrong[0].Text, want) {
			t.Errorf("%.60q: %v, not %q", text, wrong, want)
		}
		if got := in(t, c, "de").Text("Inbox"); got != "Posteingang" {
			t.Error(got)
		}
	}
	for _, name := range []string{"german.txt", "nothing-at-all.json", "DE.json", "de_AT.json", "und.json", ".json", "../de.json", "de.json.json"} {
		if _, wrong := withFiles(map[string]string{name: "{}"}); len(wrong) != 1 || !strings.Contains(wrong[0].Text, "must have the name") {
			t.Errorf("%s: %v", name, wrong)
		}
	}
	many := `{"0": "a"`
	for i := range 100 {
		many += fmt.Sprintf(`, "unknown %d": "a"`, i)
	}
	if _, wrong := withFiles(map[string]string{"de.json": many + "}"}); len(wrong) != mostProblems+1 {
		t.Error(len(wrong))
	}
	for tag, want := range map[string]bool{"de": true, "pt-BR": true, "DE": false, "": false, "und": false, "german": false, "de/../x": false} {
		if IsLanguage(tag) != want {
			t.Error(tag)
		}
	}
}
