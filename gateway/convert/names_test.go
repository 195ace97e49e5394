package convert

import (
	"testing"

	"pmg/connector"
	"pmg/protocols"
	"pmg/sms"
)

// A message whose rules have given it a name that its peer's protocol cannot write is refused, also where that is the
// protocol that it came by. It does not leave without a sender.
func TestNamesThatCannotLeave(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]sms.Code{
		"Shop": sms.OK, "Café": sms.OK, "0123456789": sms.OK, "+46701": sms.OK,
		"Жук": sms.BadSource, "Ça va": sms.OK, "日本": sms.BadSource, "a`b": sms.BadSource, "A name that is long": sms.BadSource,
	} {
		r := newRig(t, "", "")
		beside := r.Ground.Table.Connector("beside")
		m := r.message(sms.Submit, sms.Default, "text")
		source := sms.Address{TON: 5, Addr: []byte(name)}
		if name[0] <= '9' {
			source.TON = 0
		}
		m.SetAddresses(source, sms.Address{TON: 1, NPI: 1, Addr: []byte("46700000001")}) // as rules do
		m.SetNative(protocols.UCP, nil)
		if got := r.Cross(r.Ground.Table.LaneOf(beside), m); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// What rules of the connector itself make such a name of has no recipient, so that the peer refuses it.
func TestNamesOfOutRules(t *testing.T) {
	t.Parallel()
	for set, dest := range map[string]string{"Shop": "46700000001", "Жук": ""} {
		r := newRig(t, "", `rewrite: [{out: source, set: "`+set+`", ton: 5}]`)
		m := r.message(sms.Submit, sms.Default, "text")
		m.SetNative(protocols.SMPP, nil)
		out := r.Leaving(&connector.Source{Connector: r.operator}, m)
		if string(out.Dest().Addr) != dest || string(out.Source().Addr) != set {
			t.Errorf("%s leaves from %s to %q", set, out.Source().Addr, out.Dest().Addr)
		}
	}
}
