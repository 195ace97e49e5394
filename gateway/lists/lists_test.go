package lists

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"pmg/config"
	"pmg/gateway/keep"
	"pmg/gateway/node"
	"pmg/internal/testkit/testutil"
	"pmg/sms"
	"pmg/sms/numbers"
)

// A place is lists with their log, and a directory of files.
type place struct {
	*Lists
	t   *testing.T
	dir string
	log *testutil.Log
}

func newPlace(t *testing.T, files map[string]string) *place {
	t.Helper()
	p := &place{t: t, dir: t.TempDir(), log: &testutil.Log{}}
	for name, text := range files {
		p.put(name, text)
	}
	n := node.New(config.Default(), zerolog.New(p.log))
	p.Lists = New(n, keep.New(n))
	return p
}

func (p *place) put(name, text string) {
	p.t.Helper()
	if err := os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// configured returns a configuration.
func (p *place) configured(yaml string) *config.Config {
	p.t.Helper()
	cfg, _, err := config.Parse([]byte(strings.ReplaceAll(yaml, "DIR", p.dir)+`
connectors:
  - {name: clients, direction: in, address: ":0", allow: [home]}
  - {name: operator, direction: out, address: "h:1", system_id: pmg, block: [spam]}
`), config.Options{})
	if err != nil {
		p.t.Fatal(err)
	}
	return cfg
}

const usual = `
accounts: [{system_id: acme, password: secret, block: [optouts], senders: [registered]}, {system_id: other, password: secret}]
lists:
  - {name: optouts, file: DIR/optouts}
  - {name: registered, file: DIR/registered}
  - {name: home, file: DIR/home}
  - {name: spam, file: DIR/spam}`

func files() map[string]string {
	return map[string]string{"optouts": "46701\n", "registered": "ACME\n", "home": "46*\n", "spam": "888*\n"}
}

func (p *place) apply(yaml string) error {
	p.t.Helper()
	o, err := p.Open(p.configured(yaml))
	if err == nil {
		p.Apply(o)
	}
	return err
}

// screen returns why a message is refused.
func (p *place) screen(account string, kind sms.Kind, from, to string) string {
	m := p.node.Messages.Get()
	defer m.Release()
	m.Kind, m.Origin = kind, p.node.Origins.Of(account, map[bool]string{true: "operator", false: "clients"}[kind == sms.MO])
	m.Set(sms.Address{Addr: []byte(from)}, sms.Address{Addr: []byte(to)}, nil)
	r := p.Screen(m, true)
	if (r.Code == sms.OK) != (r.Why == "") {
		p.t.Errorf("%v", r)
	}
	return r.Why
}

func TestScreen(t *testing.T) {
	t.Parallel()
	p := newPlace(t, files())
	if p.Screens() || p.screen("acme", sms.Submit, "x", "46701") != "" {
		t.Error("without lists")
	}
	if err := p.apply(usual); err != nil || !p.Screens() {
		t.Fatal(err)
	}
	for _, c := range []struct {
		account  string
		kind     sms.Kind
		from, to string
		want     string
	}{
		{"acme", sms.Submit, "acme", "46702", ""},
		{"acme", sms.Submit, "acme", "46701", "its recipient is on list optouts (block)"},
		{"acme", sms.Submit, "Acme2", "46702", "its sender is on none of the lists of senders"},
		{"acme", sms.Submit, "acme", "47", "its recipient is on none of the lists of allow"},
		{"other", sms.Submit, "x", "46701", ""},
		{"", sms.MO, "46701", "8884", ""},
		{"", sms.MO, "8881", "46701", "its sender is on list spam (block)"},
	} {
		if got := p.screen(c.account, c.kind, c.from, c.to); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
	hits := map[string]int64{}
	for _, s := range p.Status() {
		hits[s.Name] = s.Hits
	}
	if hits["optouts"] != 1 || hits["registered"] != 2 || hits["home"] != 2 || hits["spam"] != 1 {
		t.Error(hits)
	}
}

// A configuration that cannot be opened leaves the lists in force. One that can keeps those that both have.
func TestReload(t *testing.T) {
	t.Parallel()
	p := newPlace(t, files())
	if err := p.apply(usual); err != nil {
		t.Fatal(err)
	}
	p.screen("acme", sms.Submit, "acme", "46701")
	p.put("more", "4*6\n")
	renamed := strings.NewReplacer("DIR/spam", "DIR/more")
	if err := p.apply(renamed.Replace(usual)); err == nil || !strings.Contains(err.Error(), "cannot open list spam") ||
		!strings.Contains(err.Error(), "more:1:") {
		t.Fatal(err)
	}
	if p.screen("", sms.MO, "8881", "1") == "" {
		t.Error("the list of before is not in force")
	}
	p.put("more", "777\n")
	if err := p.apply(renamed.Replace(usual)); err != nil {
		t.Fatal(err)
	}
	if p.screen("", sms.MO, "8881", "1") != "" || p.screen("", sms.MO, "777", "1") == "" {
		t.Error("the other list is not in force")
	}
	if s := p.Status()[0]; s.Hits != 1 {
		t.Errorf("%+v: the count begins again", s)
	}
}

// A file that changes is read again; one that is wrong is a problem, and logged once.
func TestRefresh(t *testing.T) {
	t.Parallel()
	p := newPlace(t, files())
	if err := p.apply(usual); err != nil {
		t.Fatal(err)
	}
	now := time.Now().UnixNano()
	refresh := func(n int) {
		for range n {
			now += int64(time.Second)
			p.Refresh(now)
		}
	}
	p.put("optouts", "46701\n46702\n46703\n")
	refresh(3)
	if p.screen("acme", sms.Submit, "acme", "46703") == "" || !strings.Contains(p.log.String(), "was read again") {
		t.Error(p.log.String())
	}
	p.put("optouts", "cut")
	refresh(5)
	problems := p.Problems()
	if len(problems) != 1 || !strings.Contains(problems[0], "list optouts") || strings.Count(p.log.String(), "has a problem") != 1 ||
		p.screen("acme", sms.Submit, "acme", "46703") == "" {
		t.Error(problems, p.log.String())
	}
	if err := errors.Join(os.Remove(p.dir+"/optouts"), os.Rename(p.dir+"/spam", p.dir+"/optouts")); err != nil {
		t.Fatal(err)
	}
	refresh(3)
	if problems := p.Problems(); len(problems) != 1 || !strings.Contains(problems[0], "list spam") {
		t.Error(problems)
	}
}

// A text that is one of the words adds its sender to the list, or removes it, on disk. Other texts do not.
func TestOptOut(t *testing.T) {
	t.Parallel()
	p := newPlace(t, files())
	if err := p.apply(strings.Replace(usual, "DIR/optouts}", "DIR/optouts, opt_out_from: operator, opt_out_to: [\"12345\"], "+
		"stop: [Stop, arrêt]}", 1)); err != nil {
		t.Fatal(err)
	}
	send := func(connector, to, text string, a sms.Alphabet) sms.Code {
		m := p.node.Messages.Get()
		defer m.Release()
		m.Kind, m.Origin, m.Alphabet = sms.MO, p.node.Origins.Of("", connector), a
		m.Set(sms.Address{Addr: []byte("46799")}, sms.Address{Addr: []byte(to)}, []byte(text))
		change := p.Asked(m, true)
		if change == nil {
			return sms.Unsupported
		}
		return change.Make(0xa1)
	}
	for _, c := range []struct {
		connector, to, text string
		alphabet            sms.Alphabet
		code                sms.Code
		out                 bool
	}{
		{"operator", "12345", "stop it", sms.Default, sms.Unsupported, false},
		{"operator", "12346", "stop", sms.Default, sms.Unsupported, false},
		{"beside", "12345", "stop", sms.Default, sms.Unsupported, false},
		{"operator", "12345", strings.Repeat("stop", 30), sms.Default, sms.Unsupported, false},
		{"operator", "12345", " stop.\n", sms.Default, sms.OK, true},
		{"operator", "12345", "STOP", sms.Default, sms.OK, true},
		{"operator", "12345", "Start", sms.Default, sms.OK, false},
		{"operator", "12345", "\x00a\x00r\x00r\x00\xea\x00t", sms.UCS2, sms.OK, true},
	} {
		if code := send(c.connector, c.to, c.text, c.alphabet); code != c.code {
			t.Errorf("%q: %s", c.text, code)
		}
		if out := p.screen("acme", sms.Submit, "acme", "46799") != ""; out != c.out {
			t.Errorf("%q: out is %t", c.text, out)
		}
	}
	r, err := p.Register("optouts")
	if err != nil {
		t.Fatal(err)
	}
	all, err := r.Recent()
	for i := range all {
		if c := &all[i]; c.Entry != "46799" || c.On != (i != 1) || (c.Source == numbers.Stop) != c.On || c.Who != "operator" || c.ID != sms.FormatID(0xa1) || c.At.IsZero() {
			t.Errorf("%d: %+v", i, c)
		}
	}
	if s := p.Status()[0]; err != nil || len(all) != 3 || s.LastStop == 0 || s.Messages != 7 {
		t.Errorf("%v, %v, %+v", all, err, s)
	}
	if err := errors.Join(os.Remove(p.dir+"/optouts.changes"), os.Mkdir(p.dir+"/optouts.changes", 0o700)); err != nil {
		t.Fatal(err)
	}
	if code := send("operator", "12345", "start", sms.Default); code != sms.TemporaryFailure || !strings.Contains(p.log.String(), "opt-out") {
		t.Errorf("%s: %s", code, p.log.String())
	}
}
