package config

import (
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pmg/config/document"
	"pmg/config/option"
)

// missingLists holds the lists that a broken file of the table is completed with, if
// it does not have them.
var missingLists = map[string]string{
	"accounts": "accounts: [{system_id: load, password: secret}]\n",
	"connectors": `connectors:
  - {name: clients, direction: in, address: "127.0.0.1:2775"}
  - {name: operator, direction: out, address: "192.0.2.1:2776", system_id: pmg, password: secret}
`,
	"routes": "routes: [{to: operator}]\n",
}

// octetMark matches an octet that the table cannot show, in hex.
var octetMark = regexp.MustCompile(`⟪[0-9A-F]{2}⟫`)

func brokenFile(name, text string) string {
	text = strings.NewReplacer("→", "\t", "⟪BOM⟫", "\ufeff").Replace(text)
	text = octetMark.ReplaceAllStringFunc(text, func(mark string) string {
		n, _ := strconv.ParseUint(strings.Trim(mark, "⟪⟫"), 16, 8)
		return string([]byte{byte(n)})
	})
	if strings.HasSuffix(name, ", whole") {
		return text
	}
	for _, key := range []string{"accounts", "connectors", "routes"} {
		if !strings.Contains("\n"+text, "\n"+key+":") {
			text += missingLists[key]
		}
	}
	return text
}

// remedy matches the words of a message that say what to do.
var remedy = regexp.MustCompile(`\b(must|did you mean|write|add|begin|change|keep|give|let|make|move|name|only|pmg config|put|remove|replace|save|say|set|there are)\b`)

// U1, U10: every file that testdata/broken.txt lists is refused, and the message has
// the line, the problem and the remedy. "go test ./config -run Broken -update" writes
// the messages.
func TestBrokenFiles(t *testing.T) {
	t.Parallel()
	const table = "testdata/broken.txt"
	data, err := os.ReadFile(table)
	if err != nil {
		t.Fatal(err)
	}
	var fresh strings.Builder
	cases := strings.Split(string(data), "=== ")[1:]
	for _, c := range cases {
		name, rest, _ := strings.Cut(c, "\n")
		text, _, _ := strings.Cut(rest, "---\n")
		if i := strings.LastIndex(rest, "\n---\n"); i >= 0 {
			text = rest[:i+1] // a file may have a --- of its own
		}
		_, _, err := Parse([]byte(brokenFile(name, text)), speaksSMPP)
		problems, _ := err.(document.Problems)
		if len(problems) == 0 {
			t.Errorf("%s: can be used: %v", name, err)
			continue
		}
		for _, p := range problems {
			if p.File == "" || p.Line == 0 || p.Column == 0 || !remedy.MatchString(p.Message) {
				t.Errorf("%s: no file, line or remedy: %v", name, p)
			}
			if showsSecret(p.String()) {
				t.Errorf("%s: a password is shown: %v", name, p)
			}
		}
		fresh.WriteString("=== " + name + "\n" + text + "---\n" + err.Error() + "\n")
	}
	if len(cases) < 115 {
		t.Errorf("only %d files", len(cases))
	}
	golden(t, table, fresh.String())
}

// The line that a problem shows has none of the options that are secret.
func TestSecretLines(t *testing.T) {
	t.Parallel()
	keys := map[string]bool{}
	var walk func(typ reflect.Type)
	walk = func(typ reflect.Type) {
		for typ.Kind() == reflect.Slice || typ.Kind() == reflect.Pointer {
			typ = typ.Elem()
		}
		if typ.Kind() != reflect.Struct || option.IsSingle(typ) {
			return
		}
		for f := range option.All(typ) {
			if f.Tag.Get("secret") != "" {
				keys[option.Key(f)] = true
			}
			walk(f.Type)
		}
	}
	walk(reflect.TypeFor[Config]())
	if len(keys) < 8 {
		t.Errorf("secret options are %v", keys)
	}
	for key := range keys {
		for _, line := range []string{key + ": hush", "  - {a: b, " + key + ": [hush], c: d}", `"` + key + `" : "hush"`} {
			if shown := document.SourceLine([]string{line}, 1); strings.Contains(shown, "hush") {
				t.Errorf("%s", shown)
			}
		}
	}
}
