package draft

import (
	"bytes"
	"strings"
	"testing"
	"unicode"

	"github.com/goccy/go-yaml/parser"

	"pmg/config"
)

// withPassword returns a configuration with a password, which also stands in a comment.
func withPassword(password string) []byte {
	d := Draft{Title: "Made by a test."}
	e := &Entry{From: "group " + password}
	e.Set("system_id", "shop")
	e.Set("password", password)
	e.Tell("the password is %s", password)
	d.Accounts = append(d.Accounts, e)
	return d.Bytes()
}

var passwords = []string{
	": #{x", `"`, `\`, `'`, "- a", "a: b", "{", "[", "*a", "&a", "!a", "%a", "@a", "`a", "|", ">", "yes", "null", "~", "0123", "1e3", "#", " a ", "\t", "a\nb: c", "\r\n",
	"\x00", "\x7f", "ä", "€", "😀", "\u2028", "\u0085", "\ufeff", "a\n  - x: y", "---", "...", "$HOME", "a\\n",
}

// A value is read as it was written, whatever characters it has.
func TestValues(t *testing.T) {
	t.Parallel()
	for _, password := range passwords {
		c, _, err := config.Parse(withPassword(password), config.Options{})
		if err != nil && strings.Contains(err.Error(), "control characters") && strings.ContainsFunc(password, unicode.IsControl) {
			continue
		}
		if err != nil {
			t.Errorf("%q: %v\n%s", password, err, withPassword(password))
		} else if c.Accounts[0].Password != password {
			t.Errorf("%q is read as %q", password, c.Accounts[0].Password)
		}
	}
	if c, _, err := config.Parse(withPassword("caf\xe9"), config.Options{}); err != nil || c.Accounts[0].Password != "café" {
		t.Errorf("Latin-1: %v", err)
	}
}

func FuzzValues(f *testing.F) {
	for _, password := range passwords {
		f.Add(password)
	}
	f.Fuzz(func(t *testing.T, password string) {
		b := withPassword(password)
		if _, err := parser.ParseBytes(b, 0); err != nil {
			t.Fatalf("%q: %v\n%s", password, err, b)
		}
		c, _, err := config.Parse(b, config.Options{})
		if strings.Contains(password, "${") || password == "" || strings.HasPrefix(password, "$") {
			return // a reference, no password, or a hash
		}
		if err != nil && strings.Contains(err.Error(), "control characters") {
			return
		}
		if err != nil || c.Accounts[0].Password != utf8Of(password) {
			t.Fatalf("%q: %v\n%s", password, err, b)
		}
	})
}

// Each sort of value is written as the configuration has it.
func TestForms(t *testing.T) {
	t.Parallel()
	d := Draft{Title: "Made by a test."}
	d.Section("admin").Set("address", "127.0.0.1:2780")
	d.Section("").Set("no_route", Word("park"))
	e := &Entry{}
	e.Set("name", "one")
	e.Set("direction", Word("out"))
	e.Set("address", "h:1")
	e.Set("system_id", "a")
	e.Set("window", 3)
	e.Set("tls", false)
	e.Set("networks", []string{"192.0.2.0/24"})
	e.Add("rewrite", Flow{{"out", Word("source")}, {"ton", Word("1")}})
	e.Add("rewrite", Flow{{"out", Word("destination")}, {"strip", "00"}})
	e.Decide("%s", strings.Repeat("word ", 60))
	d.Connectors = append(d.Connectors, e)
	d.Decide("one")
	d.Tell("two")
	c, _, err := config.Parse(d.Bytes(), config.Options{})
	if err != nil {
		t.Fatalf("%v\n%s", err, d.Bytes())
	}
	one := c.Connectors[0]
	if one.Window != 3 || len(one.Rewrite) != 2 || one.Rewrite[1].Strip != "00" || len(one.Networks) != 1 || c.NoRoute != config.Park || d.Decisions() != 2 {
		t.Errorf("%+v, %d", one, d.Decisions())
	}
	for line := range bytes.Lines(d.Bytes()) {
		if len(line) > width+20 {
			t.Errorf("a line of %d: %s", len(line), line)
		}
	}
}

// Names are those that connectors may have, each once.
func TestName(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for _, row := range [][2]string{
		{"one", "one"}, {"ONE", "ONE-2"}, {"a b;c", "a-b-c"}, {"", "unnamed"}, {"é", "unnamed-2"}, {"-x-", "x"}, {strings.Repeat("n", 99), strings.Repeat("n", 58)},
	} {
		if got := Name(row[0], names); got != row[1] {
			t.Errorf("%q: %q, want %q", row[0], got, row[1])
		}
	}
}
