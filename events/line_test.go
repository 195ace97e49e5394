package events

import (
	"testing"
	"time"

	"pmg/sms"
)

// What Printer writes, Line reads.
func TestReadLine(t *testing.T) {
	t.Parallel()
	var p Printer
	network, _ := sms.ReadNetwork("24001")
	e := sample()
	e.Network, e.Charge, e.Part, e.Parts = network, Charge{45_000, 30_003, 3}, 1, 4
	var l Line
	if !l.Read(p.Append(nil, e)) {
		t.Fatal("it is no line")
	}
	if l.Number != 7 || string(l.Kind) != "submit" || string(l.State) != "sent" || string(l.Reason) != "ok" || string(l.Account) != "acme" ||
		string(l.Connector) != "clients" || string(l.ToConnector) != "operator" || string(l.Network) != "24001" ||
		string(l.Destination) != "46700000001" || l.Price != 45_000 || l.Cost != 30_003 || l.Shorts != 3 || l.Part != 2 ||
		l.Accepted != e.Accepted/1000 || l.Ended != e.Ended/1000 {
		t.Errorf("%+v", l)
	}
	refund := BalanceEvent{Number: 8, ID: 7, Account: `a"b`, Network: network, Refund: 45_000, At: time.Unix(1, 0).UnixNano()}
	if !l.Read(p.AppendBalance(nil, &refund)) || l.Refund != 45_000 || l.Ended != 1e6 || string(l.Account) != Escape(`a"b`) || l.Shorts != 1 {
		t.Errorf("%+v", l)
	}
	for _, name := range []string{"", "acme", `a"`, `"a`, `\`, "Caf\u00e9", "\x01"} {
		if got := Unescape([]byte(Escape(name))); got != name {
			t.Errorf("%q: %q", name, got)
		}
	}
	for _, text := range []string{"", "{}", `{"number":0}`, `{"number":1`, `{"number":1} `, `{"number":1,}`, `{"number":1,"id":}`} {
		if l.Read([]byte(text)) {
			t.Errorf("%q is a line", text)
		}
	}
}

func FuzzLine(f *testing.F) {
	var p Printer
	f.Add(p.Append(nil, sample()))
	f.Add(p.AppendBalance(nil, &BalanceEvent{Number: 8, ID: 7, Account: "acme", Refund: 1, At: 1}))
	f.Fuzz(func(t *testing.T, b []byte) {
		var l Line
		if l.Read(b) && l.Number == 0 {
			t.Error("an event without a number")
		}
	})
}
