package convert

import (
	"testing"

	"pmg/connector"
	"pmg/gateway/roomtest"
	"pmg/protocols"
	"pmg/protocols/smpp"
	"pmg/protocols/ucp"
	"pmg/sms"
)

// A message that loses nothing on its way to another protocol, and one that always loses the
// same, cost no allocation; without a native part there is no copy either.
func TestCrossingDoesNotAllocate(t *testing.T) {
	g := roomtest.With(t, `
pdulog: {enabled: false}
accounts: [{system_id: client, password: secret}]
connectors:
  - {name: clients, direction: in, address: "127.0.0.1:0"}
  - {name: operator, direction: out, address: "127.0.0.1:1", protocol: ucp, system_id: pmg, password: secret}
routes: [{to: operator}]
`, func(protocol string) protocols.Driver {
		if protocol == "ucp" {
			return ucp.New(ucp.Options{})
		}
		return smpp.New(smpp.Options{})
	})
	d := New(g.Node, g.Table)
	operator := d.table.Connector("operator")
	lane := d.table.LaneOf(operator)
	f := func(native []byte, copied bool, lost int64) {
		t.Helper()
		m := &sms.Message{Origin: &sms.Origin{}}
		m.Set(sms.Address{Addr: []byte("1234")}, sms.Address{TON: 1, NPI: 1, Addr: []byte("46700000001")}, []byte("hello"))
		m.SetNative(protocols.SMPP, native)
		link := &connector.Link{Source: connector.Source{Connector: operator}}
		var total int64
		n := testing.AllocsPerRun(100, func() {
			if d.Cross(lane, m) != sms.OK || d.Refuses(&connector.Slot{Link: link, Message: m}) != sms.OK {
				t.Fatal("refused")
			}
			out := d.crossing(operator, m)
			if copied != (out != m) {
				t.Fatal("copied")
			}
			if copied {
				out.Release()
			}
		})
		for _, count := range operator.Stats.FieldsLost.Counts() {
			total += count
		}
		if n != 0 || total != lost {
			t.Errorf("%v allocations, %d fields lost, want %d", n, total, lost)
		}
	}
	f(nil, false, 0)
	f(append([]byte{0, 0, 0, 0, 0, 3}, "WAP"...), true, 101) // AllocsPerRun calls once more
}
