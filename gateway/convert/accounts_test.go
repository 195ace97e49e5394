package convert

import (
	"strings"
	"testing"

	"pmg/connector"
	"pmg/protocols"
	"pmg/sms"
	"pmg/sms/rewrite"
)

// source returns where messages of an account on clients come from, or go to.
func (r *rig) source(t *testing.T) *connector.Source {
	return &connector.Source{Connector: r.Table.Connector("clients"), Account: r.Client(t, "client")}
}

// The rules of an account change what it submits. Its receipts have the addresses that it wrote: those are kept if it asked for
// any, and they differ.
func TestRewriteInOfAccount(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rules  string
		kind   sms.Kind
		notify sms.Notify
		keeps  bool
		dest   string
	}{
		"without rules": {"", sms.Submit, sms.NotifySuccess, false, "46700000001"},
		"asks": {
			`rewrite: [{in: destination, strip: "46", add: "47"}]`, sms.Submit, sms.NotifySuccess, true, "47700000001",
		},
		"does not ask":            {`rewrite: [{in: destination, strip: "46", add: "47"}]`, sms.Submit, 0, false, "47700000001"},
		"asks, nothing to change": {`rewrite: [{in: destination, strip: "45"}]`, sms.Submit, sms.NotifySuccess, false, "46700000001"},
		"not a submit": {
			`rewrite: [{in: destination, strip: "46", add: "47"}]`, sms.MO, sms.NotifySuccess, false, "47700000001",
		},
	} {
		r := newRig(t, c.rules, "")
		m := r.message(c.kind, sms.Default, "text")
		m.Notify = c.notify
		code := r.RewriteIn(r.source(t), m)
		s, kept := m.Submitted()
		if code != sms.OK || string(m.Dest().Addr) != c.dest || kept != c.keeps {
			t.Errorf("%s: %s, to %s, kept %t", name, code, m.Dest().Addr, kept)
		}
		if kept && (string(s.Dest.Addr) != "46700000001" || string(s.Source.Addr) != "1234") {
			t.Errorf("%s: %s, to %s, kept %t %+v", name, code, m.Dest().Addr, kept, s)
		}
	}
}

// The rules of an account that receives change what it is sent, but not the receipts of its own messages, by whose addresses it
// finds them.
func TestOutgoingOfAccount(t *testing.T) {
	t.Parallel()
	const rules = `rewrite: [{out: source, add: "00"}]`
	for name, c := range map[string]struct {
		kind  sms.Kind
		known uint64
		want  string
	}{
		"MO":              {sms.MO, 0, "001234"},
		"its receipt":     {sms.Receipt, 7, "1234"},
		"another receipt": {sms.Receipt, 0, "001234"},
	} {
		r := newRig(t, rules, "")
		m := r.message(c.kind, sms.Default, "text")
		if c.kind == sms.Receipt {
			m.SetReport(m.Source(), m.Dest(), &sms.Report{Known: c.known, ID: []byte("7")})
		}
		m.SetNative(protocols.SMPP, nil)
		if out := r.Leaving(r.source(t), m); string(out.Source().Addr) != c.want || string(m.Source().Addr) != "1234" {
			t.Errorf("%s: leaves from %s, and is from %s", name, out.Source().Addr, m.Source().Addr)
		}
	}
	// A receipt that goes on to an SMSC has the addresses that the rules of its connector make.
	r := newRig(t, "", `rewrite: [{out: source, add: "00"}]`)
	m := r.message(sms.Receipt, sms.Default, "")
	m.SetReport(m.Source(), m.Dest(), &sms.Report{Known: 7, ID: []byte("7")})
	m.SetNative(protocols.SMPP, nil)
	if out := r.Leaving(&connector.Source{Connector: r.operator}, m); string(out.Source().Addr) != "001234" {
		t.Errorf("a receipt leaves by an SMSC from %s", out.Source().Addr)
	}
}

// An operation's addresses are changed by the rules as those of messages are. So a client finds its messages by the
// numbers that it wrote.
func TestRewriteOperation(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rules, dest, source, want string
	}{
		"without rules":  {"", "0046", "1234", "0046"},
		"rules":          {`rewrite: [{in: destination, strip: "00"}, {in: source, add: "9"}]`, "0046", "91234", "46"},
		"no destination": {`rewrite: [{in: destination, strip: "00"}, {in: source, add: "9"}]`, "", "91234", ""},
		"refused":        {`rewrite: [{in: source, add: "9"}, {in: destination, deny: ["00*"]}]`, "0046", "91234", "0046"},
	} {
		r := newRig(t, c.rules, "")
		o := &protocols.Operation{Source: sms.Address{Addr: []byte("1234")}}
		if c.dest != "" {
			o.Dest = sms.Address{Addr: []byte(c.dest)}
		}
		r.RewriteOperation(&connector.Link{Source: *r.source(t)}, o)
		if string(o.Source.Addr) != c.source || string(o.Dest.Addr) != c.want || (o.Dest.Addr == nil) != (c.dest == "") {
			t.Errorf("%s: from %s to %q", name, o.Source.Addr, o.Dest.Addr)
		}
	}
}

// pmg explain shows what each rule does.
func TestTell(t *testing.T) {
	t.Parallel()
	r := newRig(t, `rewrite: [{in: destination, strip: "46"}, {in: source, add: "9"}]`, "")
	n := 0
	r.Tell = func(rewrite.Step) { n++ }
	r.RewriteIn(r.source(t), r.message(sms.Submit, sms.Default, "text"))
	if n != 2 {
		t.Errorf("%d rules are told of, want 2", n)
	}
}

// The rules of the connector come first when a message comes in, and last when it leaves; the first refusal is the answer.
func TestBothRules(t *testing.T) {
	t.Parallel()
	r := newRig(t, `rewrite: [{in: destination, deny: ["46*"]}]`, "")
	from := r.source(t)
	from.Connector = newRig(t, "", `rewrite: [{in: source, deny: ["12*"]}]`).operator
	if code := r.RewriteIn(from, r.message(sms.Submit, sms.Default, "text")); code != sms.BadSource {
		t.Errorf("refused with %s, want that of the connector", code)
	}
	from.Connector = newRig(t, "", `rewrite: [{in: destination, strip: "46"}]`).operator
	m := r.message(sms.Submit, sms.Default, "text")
	if code := r.RewriteIn(from, m); code != sms.OK || !strings.HasPrefix(string(m.Dest().Addr), "7") {
		t.Errorf("%s to %s", code, m.Dest().Addr)
	}
}
