package settle

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pmg/gateway/roomtest"
	"pmg/sms"
	"pmg/sms/prices"
)

// The event of a message that an SMSC with costs has accepted says what it costs: a price of each short message, those that the
// account was charged for, or those that its text takes. Others cost nothing.
func TestCosts(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "costs.csv")
	if err := os.WriteFile(path, []byte("+46701,0.02\n+46700,0.03\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	list, err := prices.ReadFile(path, prices.Options{Currency: "EUR"})
	if err != nil {
		t.Fatal(err)
	}
	yaml := roomtest.Operator("costs: telia") + "prices: [{name: telia, currency: EUR, file: " + path + "}]\n"
	r := newRigWith(t, yaml, onDisk(t))
	r.table.Apply(r.node.Config(), map[string]*prices.List{"telia": list})
	r.withEvents()
	taken := sms.Answer{PeerID: []byte("17"), At: now + 2*second}
	want := map[string]string{}
	end := func(cost string, a sms.Answer, as func(m *sms.Message)) {
		m := r.submitted(uint64(100+len(want)), 0)
		as(m)
		want[sms.FormatID(m.ID)] = cost
		r.Ended(r.lane, m, a, now+second)
		m.Release()
	}
	to := func(number string, length int) func(m *sms.Message) {
		return func(m *sms.Message) {
			m.Set(sms.Address{Addr: []byte("1234")}, sms.Address{TON: 1, NPI: 1, Addr: []byte(number)}, []byte(strings.Repeat("x", length)))
		}
	}
	end("0.03 <nil>", taken, to("46700000001", 11))
	end("0.02 <nil>", taken, to("46701000001", 11))
	end("0.09 3", taken, to("46700000001", 400))
	end("<nil> <nil>", taken, to("33100000001", 11))
	end("<nil> <nil>", sms.Answer{Code: sms.BadDestination, Status: 11, At: now + 2*second}, to("46700000001", 11))
	end("0.12 4", taken, func(m *sms.Message) { to("46700000001", 11)(m); sms.SetPrice(m, 400, 4) })
	end("0.03 <nil>", taken, func(m *sms.Message) { to("46700000001", 11)(m); m.Part, m.Parts = 1, 3 })
	r.close()
	got := r.events()
	for id, cost := range want {
		if e := got[id]; fmt.Sprint(e["cost"], " ", e["short_messages"]) != cost {
			t.Errorf("%s: %v, not %s", id, e, cost)
		}
	}
}
