package convert

import (
	"strings"
	"testing"

	"pmg/connector"
	"pmg/gateway/roomtest"
	"pmg/sms"
)

func newDesk(t *testing.T, options string) *Converter {
	g := roomtest.New(t, roomtest.Operator(options))
	return New(g.Node, g.Table)
}

func newMessage(d *Converter, kind sms.Kind, dest string) *sms.Message {
	m := d.node.Messages.Get()
	m.ID, m.Kind = 7, kind
	m.Set(sms.Address{}, sms.Address{TON: 1, NPI: 1, Addr: []byte(dest)}, []byte("text"))
	m.SetNative(1, []byte("native"))
	return m
}

// Out rules change a copy, so that each attempt is sent the same, by whichever connector.
// Without rules there is no copy.
func TestOutgoing(t *testing.T) {
	d := newDesk(t, `rewrite: [{out: destination, add: "00"}, {out: source, default: PMG}]`)
	clients, operator := d.table.Connector("clients"), d.table.Connector("operator")
	l := &connector.Source{Connector: operator}
	m := newMessage(d, sms.Submit, "49170")
	for range 2 {
		c := d.outgoing(l, m, m)
		if c == m || string(c.Dest().Addr) != "0049170" || string(c.Source().Addr) != "PMG" || string(c.Text()) != "text" || string(c.Native(1)) != "native" || c.ID != 7 {
			t.Errorf("sent is %+v", c)
		}
		c.Release()
		if string(m.Dest().Addr) != "49170" || len(m.Source().Addr) != 0 {
			t.Errorf("the message has become %+v", m)
		}
	}
	if d.outgoing(&connector.Source{Connector: clients}, m, m) != m {
		t.Error("a connector without rules sends a copy")
	}
	if n := testing.AllocsPerRun(100, func() { d.outgoing(l, m, m).Release() }); n != 0 {
		t.Errorf("%g allocations", n)
	}
	long := newMessage(d, sms.Submit, strings.Repeat("4", 63))
	if c := d.outgoing(l, long, long); len(c.Dest().Addr) != 0 {
		t.Errorf("a destination that is too long is sent as %s", c.Dest().Addr)
	}
	l.Connector = newDesk(t, `rewrite: [{out: source, match: "(.*)", replace: "$1$1"}]`).table.Connector("operator")
	long.SetAddresses(sms.Address{Addr: []byte(strings.Repeat("4", 33))}, sms.Address{Addr: []byte("49170")})
	if c := d.outgoing(l, long, long); len(c.Dest().Addr) != 0 {
		t.Errorf("with a source that is too long, the destination is %s", c.Dest().Addr)
	}
}

// A message needs a sender, and a recipient whose country is known, when the rules of its connector have been applied.
func TestCheckLeaving(t *testing.T) {
	t.Parallel()
	f := func(options, from, to string, ton uint8, want sms.Code) {
		t.Helper()
		d := newDesk(t, options)
		m := newMessage(d, sms.Submit, to)
		m.SetAddresses(sms.Address{Addr: []byte(from)}, sms.Address{TON: ton, Addr: []byte(to)})
		if code := d.CheckLeaving(d.table.Connector("operator"), m); code != want {
			t.Errorf("%s: from %s to %s (%d): %s, want %s", options, from, to, ton, code, want)
		}
	}
	f("", "PMG", "46701234567", 0, sms.OK)
	f("", "", "46701234567", 1, sms.BadSource)
	f("", "PMG", "0701234567", 0, sms.BadDestination)
	f("", "PMG", "0701234567", 2, sms.OK) // its type says that it is national
	f("", "PMG", "012345", 0, sms.OK)     // a short number
	f("", "", "0701234567", 0, sms.BadSource)
	f(`rewrite: [{out: source, default: PMG}]`, "", "46701234567", 1, sms.OK)
	f(`rewrite: [{out: destination, match: "0(.*)", replace: "46$1", ton: 1}]`, "PMG", "0701234567", 0, sms.OK)
	f(`rewrite: [{out: destination, ton: 2}]`, "PMG", "0701234567", 0, sms.OK)
	f(`rewrite: [{out: destination, match: "0(.*)", replace: "46$1", ton: 1}]`, "", "0701234567", 0, sms.BadSource)
}

// In rules refuse what a list does not allow. They do not refuse receipts.
func TestRewriteIn(t *testing.T) {
	t.Parallel()
	d := newDesk(t, `rewrite: [{in: destination, strip: "00", ton: 2}, {in: destination, deny: ["49*"]}, {in: source, default: PMG}]`)
	for _, c := range []struct {
		kind         sms.Kind
		dest         string
		code         sms.Code
		source, want string
	}{
		{sms.MO, "0047", sms.OK, "PMG", "47"},
		{sms.MO, "0049", sms.BadDestination, "", "0049"},
		{sms.Submit, "49", sms.BadDestination, "", "49"},
		{sms.Receipt, "0049", sms.OK, "PMG", "49"},
		{sms.Receipt, "0047", sms.OK, "PMG", "47"},
	} {
		m := newMessage(d, c.kind, c.dest)
		code := d.RewriteIn(&connector.Source{Connector: d.table.Connector("operator")}, m)
		if code != c.code || string(m.Dest().Addr) != c.want || string(m.Source().Addr) != c.source || string(m.Text()) != "text" {
			t.Errorf("%d to %s: %s, %s to %s", c.kind, c.dest, code, m.Source().Addr, m.Dest().Addr)
		}
	}
}
