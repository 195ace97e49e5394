package lists

import (
	"os"
	"strings"
	"testing"

	"pmg/sms"
)

// A number of opt_out_to and a sender are the same number in each of their forms, and the words of phones are taken in each of theirs.
func TestOptOutForms(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		asked, from sms.Address
		text        string
		alphabet    sms.Alphabet
		blocked     string // a number to which a message is refused then
		out         bool
	}{
		"+ and none":       {from: number1("46701740605"), asked: number1("46700000001"), text: "STOP", blocked: "46701740605", out: true},
		"+ in the octets":  {from: number1("+46701740605"), asked: number1("+46700000001"), text: "STOP", blocked: "0046701740605", out: true},
		"00":               {from: number0("0046701740605"), asked: number0("0046700000001"), text: "stop", blocked: "+46701740605", out: true},
		"national":         {from: sms.Address{TON: 2, Addr: []byte("701740605")}, asked: number1("46700000001"), text: "stop", blocked: "0701740605", out: true},
		"another":          {from: number1("46701740605"), asked: number1("46700000002"), text: "stop", blocked: "46701740605"},
		"Cyrillic coding":  {from: number1("46701740605"), asked: number1("46700000001"), text: "“STOP”"[3:7], alphabet: sms.Other, blocked: "46701740605", out: true},
		"blanks in UCS-2":  {from: number1("46701740605"), asked: number1("46700000001"), text: "\x00S\x00T\x00O\x00P" + strings.Repeat("\x00 ", 45), alphabet: sms.UCS2, blocked: "46701740605", out: true},
		"no-break, quotes": {from: number1("46701740605"), asked: number1("46700000001"), text: "\x20\x1c\x00S\x00T\x00O\x00P\x20\x1d\x00\xa0", alphabet: sms.UCS2, blocked: "46701740605", out: true},
		"two words":        {from: number1("46701740605"), asked: number1("46700000001"), text: "Opt  out!", blocked: "46701740605", out: true},
		"YES":              {from: number1("46701740605"), asked: number1("46700000001"), text: "yes", blocked: "46701740605"},
		"a mark alone":     {from: number1("46701740605"), asked: number1("46700000001"), text: "?", blocked: "46701740605"},
	} {
		p := newPlace(t, files())
		if err := p.apply(strings.Replace(usual, "DIR/optouts}", "DIR/optouts, opt_out_from: operator, opt_out_to: [\"+46700000001\"]}", 1)); err != nil {
			t.Fatal(err)
		}
		m := p.node.Messages.Get()
		m.Kind, m.Origin, m.Alphabet = sms.MO, p.node.Origins.Of("", "operator"), c.alphabet
		m.Set(c.from, c.asked, []byte(c.text))
		change := p.Asked(m, true)
		if change != nil {
			if code := change.Make(0xa1); code != sms.OK {
				t.Errorf("%s: %s", name, code)
			}
		}
		if out := strings.Contains(p.screen("acme", sms.Submit, "acme", c.blocked), "optouts"); (change != nil) != c.out || out != c.out {
			t.Errorf("%s: changed %t, out %t", name, change != nil, out)
		}
		m.Release()
	}
}

func number1(text string) sms.Address { return sms.Address{TON: 1, NPI: 1, Addr: []byte(text)} }
func number0(text string) sms.Address { return sms.Address{Addr: []byte(text)} }

// What an SMSC once wrote into the journal as a bare national number is found, and removed.
func TestOptOutBefore(t *testing.T) {
	t.Parallel()
	p := newPlace(t, files())
	if err := os.WriteFile(p.dir+"/optouts.changes", []byte("+701740605\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := p.apply(strings.Replace(usual, "DIR/optouts}", "DIR/optouts, opt_out_from: operator}", 1)); err != nil {
		t.Fatal(err)
	}
	national := sms.Address{TON: 2, Addr: []byte("701740605")}
	screened := func() bool {
		m := p.node.Messages.Get()
		defer m.Release()
		m.Origin = p.node.Origins.Of("acme", "clients")
		m.Set(sms.Address{Addr: []byte("acme")}, national, nil)
		return p.Screen(m, true).Code == sms.OptedOut
	}
	if !screened() {
		t.Fatal("it is sent to")
	}
	m := p.node.Messages.Get()
	defer m.Release()
	m.Kind, m.Origin = sms.MO, p.node.Origins.Of("", "operator")
	m.Set(national, sms.Address{Addr: []byte("12345")}, []byte("START"))
	if change := p.Asked(m, true); change == nil || change.Make(0xa1) != sms.OK || screened() {
		t.Error("it stays on the list")
	}
}
