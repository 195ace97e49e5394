package route

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pmg/config"
	"pmg/sms"
	"pmg/sms/prices"
)

// A route by cost takes the connector whose SMSC charges least for the number, and the next one when that has failed.
func TestCosts(t *testing.T) { // not parallel, because it counts allocations
	lists, files := map[string]*prices.List{}, map[string]string{}
	for name, rows := range map[string]string{
		"a": "for,price\n24001,0.05\n*,0.03\n", "b": "for,price\n24001,0.04\n+4670,0.02\n+45,0.1\n",
	} {
		file := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(file, []byte(rows), 0o600); err != nil {
			t.Fatal(err)
		}
		l, err := prices.ReadFile(file, prices.Options{Currency: "EUR"})
		if err != nil {
			t.Fatal(err)
		}
		lists[name], files[name] = l, file
	}
	tb := newTable(t, `
pdulog: {enabled: false}
prices:
  - {name: a, currency: EUR, file: `+files["a"]+`}
  - {name: b, currency: EUR, file: `+files["b"]+`}
accounts:
  - {system_id: one, password: secret}
connectors:
  - {name: clients, direction: in, address: "127.0.0.1:0"}
  - {name: a, direction: out, address: "127.0.0.1:1", system_id: pmg, password: secret, static: false, costs: a}
  - {name: b, direction: out, address: "127.0.0.1:1", system_id: pmg, password: secret, static: false, costs: b}
  - {name: c, direction: out, address: "127.0.0.1:1", system_id: pmg, password: secret, static: false}
routes:
  - {to: [c, a, b], policy: cost}
`)
	tb.Apply(tb.node.Config(), lists)
	to := func(number string, network sms.Network) (m *sms.Message, lane string) {
		m = submitted(tb)
		m.Network, m.Origin = network, tb.node.Origins.Of("one", "clients")
		m.Set(sms.Address{Addr: []byte("1234")}, sms.Address{TON: 1, Addr: []byte(number)}, nil)
		if l := tb.Route(m); l != nil {
			lane = l.Home().Name
		}
		return m, lane
	}
	of, _ := sms.ReadNetwork("24001")
	for _, c := range []struct {
		number  string
		network sms.Network
		down    string
		want    string
	}{
		{"46701234567", 0, "", "b"}, {"46711234567", 0, "", "a"}, {"46711234567", of, "", "b"}, {"46711234567", of, "b", "a"},
		{"46711234567", of, "ab", "c"}, {"46711234567", of, "abc", "b"},
	} {
		for _, name := range []string{"a", "b", "c"} {
			tb.Connector(name).Stats.Failing.Store(0)
		}
		for _, name := range c.down {
			down(tb, string(name))
		}
		m, lane := to(c.number, c.network)
		if lane != c.want {
			t.Errorf("%+v: %s", c, lane)
		}
		if n := testing.AllocsPerRun(100, func() { tb.Route(m) }); n != 0 {
			t.Errorf("%+v: %v allocations", c, n)
		}
	}
	for _, name := range []string{"a", "b", "c"} {
		tb.Connector(name).Stats.Failing.Store(0)
	}
	m, _ := to("46711234567", of)
	for _, want := range []string{"a", "c"} {
		lane := laneTo(tb, map[string]string{"a": "b", "c": "a"}[want])
		if s := tb.FailOver(lane, m); s == nil || s.Lane.Home().Name != want {
			t.Errorf("behind %s: %v", lane.Home().Name, s)
		}
	}
	if s := tb.FailOver(laneTo(tb, "c"), m); s != nil {
		t.Errorf("all have failed: %v", s)
	}
}

// The best target that is up gets the messages, the first one of those that are about as good; each of the others gets a few.
func TestPickBest(t *testing.T) {
	t.Parallel()
	route := config.Route{Policy: config.Quality, To: []config.Target{{Connector: "a"}, {Connector: "b"}, {Connector: "c"}}}
	r, _ := newIndex([]config.Route{route}, nameOf).Route(&Traits{})
	if !r.best {
		t.Fatal("the policy is another")
	}
	const times = 32 * 100
	for _, c := range []struct {
		a, b, c int
		up      string
		tried   uint16
		most    string // "": none
	}{
		{1000, 1000, 1000, "abc", 0, "a"},
		{500, 900, 919, "abc", 0, "b"},
		{500, 900, 920, "abc", 0, "c"},
		{500, 900, 950, "ab", 0, "b"},
		{500, 900, 950, "abc", 6, "a"},
		{500, 900, 950, "", 0, ""},
		{500, 900, 950, "abc", 7, ""},
	} {
		quality, got := map[string]int{"a": c.a, "b": c.b, "c": c.c}, map[string]int{}
		for range times {
			i, ok := r.PickBest(c.tried, 0, func(to string) bool { return strings.Contains(c.up, to) }, func(to string) int { return quality[to] })
			if ok {
				got[r.Targets[i].To]++
			}
		}
		for _, to := range []string{"a", "b", "c"} {
			isOpen := strings.Contains(c.up, to) && c.tried>>(to[0]-'a')&1 == 0
			few := got[to] > 0 && got[to] <= times/32
			if to == c.most && got[to] < times*31/32 || to != c.most && isOpen != few || !isOpen && got[to] > 0 {
				t.Errorf("%+v: %v", c, got)
			}
		}
	}
	for n := range uint64(200) { // the parts of a message leave by the same one
		all := map[int]bool{}
		for range 3 {
			i, _ := r.PickBest(0, n+1, everyone, func(string) int { return 7 })
			all[i] = true
		}
		if len(all) != 1 {
			t.Errorf("parts of message %d leave by %v", n, all)
		}
	}
}

// The cheapest target that is up gets the messages, if it delivers as much as it must; then a few go to one that does not.
func TestPickCheapest(t *testing.T) {
	t.Parallel()
	to := []config.Target{{Connector: "a"}, {Connector: "b"}, {Connector: "c"}}
	all := newIndex([]config.Route{{Policy: config.Cost, To: to}, {Policy: config.Cost, LeastDelivered: 90, To: to}}, nameOf)
	const times = 32 * 100
	for _, c := range []struct {
		route     int
		cost      [3]int64
		delivered [3]int
		up        string
		tried     uint16
		most, few string // "": none
	}{
		{0, [3]int64{5, 3, 4}, [3]int{}, "abc", 0, "b", ""},
		{0, [3]int64{3, 3, 4}, [3]int{}, "abc", 0, "a", ""},
		{0, [3]int64{noCost, 0, 4}, [3]int{}, "abc", 2, "c", ""},
		{0, [3]int64{noCost, 9, noCost}, [3]int{}, "ac", 0, "a", ""},
		{0, [3]int64{1, 2, 3}, [3]int{}, "", 0, "", ""},
		{0, [3]int64{1, 2, 3}, [3]int{}, "abc", 7, "", ""},
		{1, [3]int64{5, 3, 4}, [3]int{900, 899, 950}, "abc", 0, "c", "b"},
		{1, [3]int64{5, 3, 4}, [3]int{900, 899, 950}, "ab", 0, "a", "b"},
		{1, [3]int64{5, 3, 4}, [3]int{500, 899, 0}, "abc", 0, "b", ""},
		{1, [3]int64{noCost, 3, 4}, [3]int{1000, 1, 2}, "abc", 0, "a", "b"},
	} {
		r, got := &all.routes[c.route], map[string]int{}
		for range times {
			i, ok := r.PickCheapest(
				c.tried, 0, func(to string) bool { return strings.Contains(c.up, to) },
				func(to string) int64 { return c.cost[to[0]-'a'] }, func(to string) int { return c.delivered[to[0]-'a'] },
			)
			if ok {
				got[r.Targets[i].To]++
			}
		}
		for _, to := range []string{"a", "b", "c"} {
			switch n := got[to]; {
			case to == c.most && n < times*31/32, to == c.few && (n == 0 || n > times/31), to != c.most && to != c.few && n > 0:
				t.Errorf("%+v: %v", c, got)
			}
		}
	}
}
