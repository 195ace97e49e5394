package editor

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pmg/config"
	"pmg/config/managed"
)

const main = `store: {engine: memory}
managed: {dir: managed}
connectors:
  - {name: clients, direction: in, address: "127.0.0.1:0"}
accounts: [{system_id: main, password: pa55word}]
routes: [{to: {account: main}}]
`

// A site is an editor of the files of a gateway, which has a configuration in force.
type site struct {
	*Editor
	t       *testing.T
	dir     string
	running *config.Config
	applied []string // objects of the changes that were put in force
	fail    error    // of the next one
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{t: t, dir: t.TempDir()}
	s.write("pmg.yaml", main)
	if err := os.Mkdir(filepath.Join(s.dir, "managed"), 0o700); err != nil {
		t.Fatal(err)
	}
	s.Editor = &Editor{
		Dir: managed.Open(filepath.Join(s.dir, "managed"), nil),
		Load: func(instead map[string][]byte) (*config.Config, error) {
			c, _, err := config.Load(filepath.Join(s.dir, "pmg.yaml"), config.Options{Instead: instead})
			return c, err
		},
		Running: func() *config.Config { return s.running },
		Apply: func(c *config.Config, meant string) error {
			if s.fail != nil {
				return s.fail
			}
			s.applied = append(s.applied, meant)
			s.running = c
			return nil
		},
	}
	var err error
	if s.running, err = s.Load(nil); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *site) write(file, text string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, file), []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// account returns an account of the configuration in force, nil if there is none.
func (s *site) account(name string) *config.Account {
	for i := range s.running.Accounts {
		if a := &s.running.Accounts[i]; a.SystemID == name {
			return a
		}
	}
	return nil
}

// contents returns a function that makes contents, whatever there was; "" removes the file.
func contents(text string) func([]byte) ([]byte, error) {
	return func([]byte) ([]byte, error) {
		if text == "" {
			return nil, nil
		}
		return []byte(text), nil
	}
}

// does carries out a request, which must not be refused.
func (s *site) does(r Request) Result {
	s.t.Helper()
	result, err := s.Do(r)
	if err != nil {
		s.t.Fatalf("%s: %v", r.File, err)
	}
	return result
}

// refuses checks that a request is refused with a status and words, and changes nothing.
func (s *site) refuses(r Request, status int, words string) *Refusal {
	s.t.Helper()
	before, _ := s.Dir.Read(r.File)
	applied := len(s.applied)
	_, err := s.Do(r)
	var refusal *Refusal
	if !errors.As(err, &refusal) || refusal.Status != status || !strings.Contains(err.Error(), words) {
		s.t.Errorf("%s: %v, want %d with %q", r.File, err, status, words)
		return &Refusal{}
	}
	if after, _ := s.Dir.Read(r.File); string(after) != string(before) || len(s.applied) != applied {
		s.t.Errorf("%s: it was changed: %q", r.File, after)
	}
	return refusal
}

const acme = "accounts/acme.yaml"

// A file is made, changed and removed. Each result says what a reload would print, and each change is put in force and has its
// number. Nothing is written that is as it was.
func TestDo(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	first := contents("system_id: acme\npassword: s3cret-1\n")
	if r := s.does(Request{File: acme, Make: first, Dry: true}); !r.Created || r.Number != 0 || len(r.Changes) == 0 || len(s.applied) > 0 {
		t.Errorf("a dry run: %+v, %q", r, s.applied)
	}
	made := s.does(Request{File: acme, Make: first, By: "ann", Comment: "new"})
	if !made.Created || made.Number != 1 || made.Tag == "" || !strings.Contains(strings.Join(made.Changes, "\n"), "acme") {
		t.Errorf("%+v", made)
	}
	if s.account("acme") == nil || strings.Join(s.applied, " ") != "accounts/acme" {
		t.Errorf("%q were put in force", s.applied)
	}
	if all, err := s.Dir.History("", 0, 10); err != nil || len(all) != 1 || all[0].By != "ann" || all[0].Comment != "new" {
		t.Errorf("%+v, %v", all, err)
	}
	if r := s.does(Request{File: acme, Make: first}); r.Created || r.Number != 0 || len(r.Changes) > 0 || r.Tag != made.Tag || len(s.applied) != 1 {
		t.Errorf("what is as it was: %+v, %q", r, s.applied)
	}
	changed := s.does(Request{File: acme, Match: made.Tag, Make: contents("system_id: acme\npassword: s3cret-1\nrate: 7\n")})
	if changed.Created || changed.Number != 2 || !strings.Contains(strings.Join(changed.Changes, "\n"), "rate") {
		t.Errorf("%+v", changed)
	}
	gone := s.does(Request{File: acme, Match: Exists, Make: contents("")})
	if gone.Created || gone.Tag != "" || s.account("acme") != nil {
		t.Errorf("%+v", gone)
	}
	back, err := Revert(s.Dir, gone.Number)
	if err != nil || back.File != acme || back.Comment != "revert of change 3" {
		t.Fatalf("%+v, %v", back, err)
	}
	if r := s.does(back); !r.Created || r.Tag != changed.Tag || s.account("acme").Rate != 7 {
		t.Errorf("%+v", r)
	}
	var refusal *Refusal
	if _, err := Revert(s.Dir, 99); !errors.As(err, &refusal) || refusal.Status != http.StatusNotFound {
		t.Error(err)
	}
}

// A change of a file that is not as its author thinks is refused, and the refusal has the tag of what there is.
func TestExpected(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	text := contents("system_id: acme\npassword: s3cret-1\n")
	for _, match := range []string{Exists, "0123"} {
		if r := s.refuses(Request{File: acme, Match: match, Make: text}, http.StatusPreconditionFailed, "it does not exist"); r.Tag != "" {
			t.Errorf("%q: %q", match, r.Tag)
		}
	}
	tag := s.does(Request{File: acme, Match: Missing, Make: text}).Tag
	other := contents("system_id: acme\npassword: s3cret-2\n")
	if r := s.refuses(Request{File: acme, Match: Missing, Make: other}, http.StatusPreconditionFailed, "it exists"); r.Tag != tag {
		t.Errorf("%q, not %q", r.Tag, tag)
	}
	if r := s.refuses(Request{File: acme, Match: "0123", Make: other}, http.StatusPreconditionFailed, "it has changed since"); r.Tag != tag {
		t.Errorf("%q, not %q", r.Tag, tag)
	}
	s.does(Request{File: acme, Match: tag, Make: other})
}

// What the configuration cannot have is refused, with the problems, and so is what others define or must make.
func TestRefused(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	text := contents("system_id: acme\npassword: s3cret-1\n")
	s.refuses(Request{File: "accounts/../acme.yaml", Make: text}, http.StatusBadRequest, "a name has letters")
	s.refuses(Request{File: "accounts/main.yaml", Make: text}, http.StatusConflict, "defines it, so it is changed there")
	r := s.refuses(Request{File: acme, Make: contents("system_id: acme\npassword: s3cret-1\nrat: 7\n")}, http.StatusUnprocessableEntity, "cannot be used:\n")
	if len(r.Problems) != 1 || !strings.Contains(r.Problems.Error(), "rat") {
		t.Errorf("%+v", r)
	}
	large := "system_id: acme\npassword: s3cret-1\n#"
	s.refuses(Request{File: acme, Make: contents(large + strings.Repeat("x", managed.MaxOptions+1-len(large)))}, http.StatusRequestEntityTooLarge, "more than 65536 octets")
	s.does(Request{File: acme, Make: contents(large + strings.Repeat("x", managed.MaxOptions-len(large)))})

	failed := errors.New("no idea")
	if _, err := s.Do(Request{File: acme, Make: func([]byte) ([]byte, error) { return nil, failed }}); !errors.Is(err, failed) {
		t.Error(err)
	}
	s.Dir = managed.Open(filepath.Join(s.dir, "none", "managed"), nil)
	s.refuses(Request{File: acme, Make: text}, http.StatusServiceUnavailable, "cannot lock")
}

// A change that cannot be put in force is taken back. Without a gateway it is written only, and compared with the files.
func TestApply(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	text := contents("system_id: acme\npassword: s3cret-1\n")
	s.fail = errors.New("no room")
	if _, err := s.Do(Request{File: acme, Make: text}); !errors.Is(err, s.fail) || !strings.Contains(err.Error(), "which stays unchanged") {
		t.Error(err)
	}
	if data, err := s.Dir.Read(acme); data != nil || err != nil {
		t.Errorf("%q, %v", data, err)
	}
	s.Running, s.Apply = nil, nil
	if r := s.does(Request{File: acme, Make: text}); r.Number == 0 || len(r.Changes) == 0 {
		t.Errorf("%+v", r)
	}
	s.write("managed/"+acme, "rat: 7\n")
	if _, err := s.Do(Request{File: acme, Make: text}); err == nil || !strings.Contains(err.Error(), "rat") {
		t.Errorf("a file that nobody can read is replaced: %v", err)
	}
}

// The rows of a list are read as the gateway reads them. Those that look cut off are refused; with force they are taken.
func TestRows(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	const rows = "lists/stop.txt"
	four := contents("46700000001\n46700000002\n46700000003\n46700000004\n")
	if r := s.does(Request{File: rows, Make: four}); len(r.Changes) == 0 || r.Changes[0] != rows+": 0 lines -> 4 lines" {
		t.Errorf("%+v", r)
	}
	if r := s.does(Request{File: "lists/stop.yaml", Make: contents("name: stop\n")}); len(r.Notes) != 1 || !strings.HasPrefix(r.Notes[0], "lists/stop.yaml is not used") {
		t.Errorf("%+v", r)
	}
	s.refuses(Request{File: rows, Make: contents("46700000001\n46700000002\n4670000000")}, http.StatusUnprocessableEntity, "its last line has no end")
	s.refuses(Request{File: rows, Make: contents("46700000001\n467000000010000000000000\n46700000003\n")}, http.StatusUnprocessableEntity, rows)
	s.refuses(Request{File: rows, Make: contents("46700000001\n")}, http.StatusConflict, "3 of 4 lines would go")
	s.does(Request{File: rows, Make: contents("46700000001\n46700000002\n")}) // a half
	s.does(Request{File: rows, Make: four})
	s.does(Request{File: rows, Make: contents("46700000001\n"), Force: true})
	s.does(Request{File: "lists/stop.yaml", Make: contents("")})
	s.does(Request{File: rows, Make: contents("")})
}

// Prices are read in the currency and the columns of their list.
func TestPrices(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	const rows = "prices/std.csv"
	s.does(Request{File: rows, Make: contents("prefix,price\n46,0.05\n")})
	s.does(Request{File: "prices/std.yaml", Make: contents("name: std\ncurrency: EUR\ncolumns: [prefix, price]\n")})
	s.does(Request{File: rows, Make: contents("46,0.05\n47,0.06\n")})
	s.refuses(Request{File: rows, Make: contents("46,much\n")}, http.StatusUnprocessableEntity, rows)
}

// A result says what goes with options that go, if that is easily missed.
func TestLosses(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	const before = "system_id: acme\npassword: s3cret-1\nwebhook: https://example.net/\nrate: 5\n" +
		`keys: [{name: a, hash: "sha256:HASH"}, {name: b, hash: "sha256:HASH2"}]` + "\n"
	hash := strings.NewReplacer("HASH2", strings.Repeat("b", 64), "HASH", strings.Repeat("a", 64))
	s.does(Request{File: acme, Make: contents(hash.Replace(before))})
	cut := strings.Replace(before, `, {name: b, hash: "sha256:HASH2"}`, "", 1)
	if r := s.does(Request{File: acme, Dry: true, Make: contents(hash.Replace(cut))}); strings.Join(r.Notes, "|") != "1 keys go: who uses them is refused" {
		t.Errorf("%q", r.Notes)
	}
	want := "keys go: who uses them is refused|webhook goes: its events wait for nobody"
	if r := s.does(Request{File: acme, Make: contents("system_id: acme\npassword: s3cret-1\n")}); strings.Join(r.Notes, "|") != want {
		t.Errorf("%q", r.Notes)
	}
	if r := s.does(Request{File: acme, Make: contents("")}); len(r.Notes) > 0 {
		t.Errorf("%q", r.Notes)
	}
}

// Rows and the options by which they are read are put in force together: both are written, or none of them.
func TestRowsWithOptions(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	const options, rows = "prices/std.yaml", "prices/std.csv"
	ask := func(columns, text string) Request {
		return Request{File: options, Make: contents("name: std\ncurrency: EUR\n" + columns), Rows: &Rows{Data: []byte(text)}}
	}
	read := func(file string) string {
		b, err := s.Dir.Read(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	s.fail = errors.New("no room")
	if _, err := s.Do(ask("", "*,0.05\n")); !errors.Is(err, s.fail) || read(options) != "" || read(rows) != "" {
		t.Errorf("%v: %q %q", err, read(options), read(rows))
	}
	s.fail = nil
	if r := s.does(ask("", "*,0.05\n")); r.Number != 2 || !r.Created || r.Changes[0] != rows+": 0 lines -> 1 lines" {
		t.Errorf("%+v", r)
	}
	if r := s.does(ask("", "*,0.05\n")); r.Number != 0 || len(r.Changes) != 0 {
		t.Errorf("twice: %+v", r)
	}
	if r := s.does(ask("", "*,0.06\n")); r.Number != 3 || read(rows) != "*,0.06\n" {
		t.Errorf("rows alone: %+v", r)
	}
	s.refuses(ask("columns: [ignore, for, price]\n", "*,0.07\n"), http.StatusUnprocessableEntity, rows)
	stale := ask("", "*,0.08\n")
	stale.Rows.Match = managed.Tag([]byte("*,0.05\n"))
	s.refuses(stale, http.StatusPreconditionFailed, rows+": it has changed since")
	s.fail = errors.New("no room")
	if _, err := s.Do(ask("columns: [ignore, for, price]\n", "a,*,0.07\n")); !errors.Is(err, s.fail) || read(rows) != "*,0.06\n" || strings.Contains(read(options), "columns") {
		t.Errorf("%v: %q %q", err, read(options), read(rows))
	}
	s.fail = nil
	if r := s.does(ask("columns: [ignore, for, price]\n", "a,*,0.07\n")); r.Number != 5 || read(rows) != "a,*,0.07\n" || !strings.Contains(read(options), "columns") {
		t.Errorf("%+v", r)
	}
}

// A template is added, changed and removed by its name; the others, and what else the account has, stay.
func TestTemplates(t *testing.T) {
	t.Parallel()
	file := []byte("system_id: shop\npassword: secret\n")
	for _, c := range []struct {
		change func([]byte) ([]byte, error)
		want   string // name=text of all
	}{
		{SettingTemplate("shop", "late", "We are late.\n\"{name}\": # no comment"), "late=We are late.\n\"{name}\": # no comment"},
		{SettingTemplate("shop", "open", "yes"), "late=We are late.\n\"{name}\": # no comment;open=yes"},
		{SettingTemplate("shop", "late", "no"), "late=no;open=yes"},
		{RemovingTemplate("shop", "other"), ""},
		{RemovingTemplate("shop", "late"), "open=yes"},
		{RemovingTemplate("shop", "open"), " "},
	} {
		next, err := c.change(file)
		if c.want == "" {
			if err == nil {
				t.Error("a template that is not there is removed")
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		file = next
		o, err := ReadOptions(file)
		if err != nil || o["system_id"] != "shop" || o["password"] == nil {
			t.Fatalf("%v, %v", o, err)
		}
		var got []string
		for _, one := range o.list("templates") {
			one, _ := one.(map[string]any)
			got = append(got, fmt.Sprintf("%s=%s", one["name"], one["text"]))
		}
		if strings.Join(got, ";") != strings.TrimSpace(c.want) {
			t.Errorf("%q, not %q", got, c.want)
		}
	}
}
