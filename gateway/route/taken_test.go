package route

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pmg/config"
	"pmg/sms"
)

const takenYAML = `
pdulog: {enabled: false}
accounts: [{system_id: client, password: secret, receives: [72]}, {system_id: other, password: secret, receives: [73]}]
connectors:
  - {name: clients, direction: in, address: "127.0.0.1:0"}
  - {name: a, direction: out, address: "127.0.0.1:1", system_id: pmg, password: secret, static: false}
  - {name: b, direction: out, address: "127.0.0.1:1", system_id: pmg, password: secret, static: false}
routes:
`

// A message that comes in is counted for the route that it takes, and for none if it leads nowhere. What is routed again, or only
// looked at, is not counted.
func TestTaken(t *testing.T) {
	t.Parallel()
	tb := newTable(t, takenYAML+"  - {destination: 46, to: b}\n  - {from: a, destination: 7, to: clients}\n  - {destination: 47, to: a}\n")
	m := submitted(tb)
	for range 3 {
		if tb.Choose(m) != tb.Route(m) {
			t.Error("another lane")
		}
	}
	tb.Ways(m)
	tb.Reroute(nil, m, true)
	tb.FailOver(tb.LaneOf(tb.Connector("b")), m)
	for dest, origin := range map[string]*sms.Origin{"71": tb.node.Origins.Of("", "a"), "48": m.Origin, "47": tb.node.Origins.Of("", "a")} {
		m.Origin = origin // nobody receives it; no route; back to where it comes from
		m.Set(sms.Address{Addr: []byte("1234")}, sms.Address{Addr: []byte(dest)}, nil)
		if tb.Choose(m) != nil {
			t.Errorf("%s goes somewhere", dest)
		}
	}
	if got := allTaken(tb); !slices.Equal(got, []int64{3, 0, 0}) {
		t.Errorf("%d", got)
	}
	if got := tb.Taken(2)[0]; got != (Taken{3, 0}) {
		t.Errorf("a day begins with %+v", got)
	}
	submits := submitted(tb)
	tb.Choose(submits)
	if got := tb.Taken(2)[0]; got != (Taken{4, 1}) {
		t.Errorf("%+v", got)
	}
}

func allTaken(tb *Table) (all []int64) {
	for _, n := range tb.Taken(1) {
		all = append(all, n.All)
	}
	return all
}

// Over a reload, a route goes on with its counter wherever it stands then; one that is written in another way begins anew. Of
// equal routes only the first is taken, and goes on.
func TestTakenAfterReload(t *testing.T) {
	t.Parallel()
	const one, two = "{destination: [46, 47], to: b}", "{to: [{connector: a, weight: 2}, b]}"
	for _, c := range []struct {
		after string
		want  []int64
	}{
		{one + "|" + two, []int64{2, 1}},
		{two + "|" + one, []int64{1, 2}},
		{"{destination: 9, to: a}|" + one + "|" + two, []int64{0, 2, 1}},
		{one + "|" + one + "|" + two, []int64{2, 0, 1}},
		{"{destination: [46, 48], to: b}|" + two, []int64{0, 1}},
		{"{destination: [46, 47], to: a}|" + two, []int64{0, 1}},
		{one + "|{to: [{connector: a, weight: 3}, b]}", []int64{2, 0}},
		{"{account: client, to: b}", []int64{0}},
	} {
		tb := newTable(t, takenYAML+"  - "+one+"\n  - "+one+"\n  - "+two+"\n")
		m := submitted(tb)
		tb.Choose(m)
		tb.Choose(m)
		m.Set(sms.Address{}, sms.Address{Addr: []byte("9")}, nil)
		tb.Choose(m)
		cfg, _, err := config.Parse([]byte(takenYAML+"  - "+strings.ReplaceAll(c.after, "|", "\n  - ")+"\n"), config.Options{Protocols: []string{"smpp"}})
		if err != nil {
			t.Fatal(err)
		}
		before := tb.routes.Load().table
		tb.Apply(cfg, nil)
		if got := allTaken(tb); !slices.Equal(got, c.want) {
			t.Errorf("%s: %d, not %d", c.after, got, c.want)
		}
		before.routes[0].count.taken.Add(1) // by a message that was on its way
		if got := allTaken(tb); c.want[0] == 2 && got[0] != 3 {
			t.Errorf("%s: %d, without one that was on its way", c.after, got)
		}
	}
}

// Configurations with many routes are compared without looking at each pair.
func BenchmarkContinues(b *testing.B) {
	routes := make([]config.Route, 10_000)
	for i := range routes {
		routes[i] = config.Route{Destination: []string{fmt.Sprint(i)}, To: []config.Target{{Connector: "a"}}}
	}
	before := newIndex(routes, nameOf)
	for b.Loop() {
		newIndex(routes, nameOf).continues(before)
	}
}
