package account

import (
	"testing"

	"pmg/config"
	"pmg/protocols"
	"pmg/sms/number"
)

// F4: a message that a route sends to an in connector belongs to one account.
func TestReceivers(t *testing.T) {
	t.Parallel()
	transmitter := []protocols.BindType{protocols.Transmitter}
	table := NewTable(&config.Config{
		Accounts: []config.Account{
			{SystemID: "a", Receives: []string{"+4670", "72000"}},
			{SystemID: "b", Receives: []string{"46701", "ACME"}},
			{SystemID: "c", Receives: []string{"=123", "=+4670299"}},
			{SystemID: "mt", Bind: transmitter, Receives: []string{"99"}},
			{SystemID: "rest", Connectors: []string{"several", "one"}, Receives: []string{""}},
			{SystemID: "alone", Connectors: []string{"private"}, Receives: []string{"1"}},
		},
		Connectors: []config.Connector{
			{Name: "several", Direction: config.In},
			{Name: "two", Direction: config.In},
			{Name: "smsc", Direction: config.Out},
		},
	}, NewRegistry())
	for _, c := range []struct{ connector, dest, want string }{
		{"several", "46702", "a"},
		{"several", "123", "c"}, // P19h: the whole address, and not another short code that begins so
		{"several", "1234", "rest"},
		{"several", "4670299", "c"},
		{"several", "+46702990", "a"},
		{"several", "+46702", "a"},
		{"several", "46701", "b"},
		{"several", "467012", "b"},
		{"several", "72000", "a"},
		{"several", "ACME", "b"},
		{"several", "99", "rest"},
		{"several", "", "rest"},
		{"two", "46702", "a"},
		{"two", "99", ""},
		{"two", "", ""},
	} {
		got := ""
		if a := table.Receivers(c.connector).Find(number.Read(c.dest)); a != nil {
			got = a.SystemID
		}
		if got != c.want {
			t.Errorf("%s on %s is for %q, want %q", c.dest, c.connector, got, c.want)
		}
	}
	if table.Receivers("smsc") != nil || table.Receivers("none") != nil {
		t.Error("a connector that no client logs in on has receivers")
	}
}

// The only account that may receive on a connector gets everything.
func TestOnlyReceiver(t *testing.T) {
	table := newTable(NewRegistry(),
		config.Account{SystemID: "a", Receives: []string{"1"}},
		config.Account{SystemID: "mt", Bind: []protocols.BindType{protocols.Transmitter}})
	dest := number.Read("4670")
	if a := table.Receivers("clients").Find(dest); a == nil || a.SystemID != "a" {
		t.Errorf("it is for %v", a)
	}
	several := newTable(NewRegistry(), config.Account{SystemID: "a", Receives: []string{"46"}}, config.Account{SystemID: "b"}).Receivers("clients")
	if n := testing.AllocsPerRun(100, func() { several.Find(dest) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
