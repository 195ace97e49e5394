package gateway

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"pmg/connector"
)

// A listening is an engine that listens for connectors, and counts jobs that are alive.
type listening struct {
	Engine
	jobs int64
	deaf string // the connector that does not listen
}

func (e listening) Counters() Counters { return Counters{Jobs: e.jobs} }

func (e listening) Addresses(c *connector.Connector) []netip.AddrPort {
	if c.Name == e.deaf {
		return nil
	}
	return []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:1")}
}

// A gateway is not ready while clients cannot log in, are not read, or are refused their messages, nor while no route
// works. One of several SMSCs may be down: an operator hears of that if a route has no other.
func TestNotReady(t *testing.T) {
	t.Parallel()
	g := newTrio(t, "", "a, destination: 1}, {from: a, to: clients}, {to: [b, c]")
	limit := int64(g.Node.Config().Limits.MemoryLimit())
	full := map[bool]func(){false: func() { g.Node.Memory.Add(-limit) }, true: func() { g.Node.Memory.Add(limit) }}
	as := func(names ...string) map[bool]func() {
		change := func(down bool) func() {
			return func() {
				for _, n := range names {
					g.down(n, down)
				}
			}
		}
		return map[bool]func(){false: change(false), true: change(true)}
	}
	nothing := map[bool]func(){false: func() {}, true: func() {}}
	for name, c := range map[string]struct {
		now      map[bool]func()
		engine   listening
		problems []string
		want     []string
	}{
		"all works":      {now: nothing, engine: listening{jobs: int64(g.Node.Config().Limits.MaxJobs), deaf: "a"}},
		"many jobs":      {now: nothing, engine: listening{jobs: 1 << 40}, want: []string{"no client is read: "}},
		"deaf":           {now: nothing, engine: listening{deaf: "clients"}, want: []string{"connector clients does not listen"}},
		"memory":         {now: full, want: []string{"no message is accepted: messages take "}},
		"a is down":      {now: as("a"), problems: []string{"route of destination 1 "}},
		"b is down":      {now: as("b")},
		"b, c are down":  {now: as("b", "c"), problems: []string{"route of all messages "}},
		"no route works": {now: as("a", "b", "c"), want: []string{"route of destination 1 ", "route of all messages "}},
	} {
		c.now[true]()
		if got := g.NotReady(c.engine); !slices.EqualFunc(got, c.want, strings.HasPrefix) {
			t.Errorf("%s: not ready: %q, want %q", name, got, c.want)
		}
		if got := g.Problems(); !slices.EqualFunc(got, c.problems, strings.HasPrefix) {
			t.Errorf("%s: problems: %q, want %q", name, got, c.problems)
		}
		c.now[false]()
	}
	g.Sessions.LimitDescriptors(10)
	for g.Sessions.Admit(g.Table.Connector("clients"), netip.MustParseAddrPort("192.0.2.1:1")) {
	}
	if got := g.NotReady(listening{}); len(got) != 1 || !strings.HasPrefix(got[0], "no more clients are accepted: 2 are connected") {
		t.Errorf("without descriptors: %q", got)
	}
	g.Node.Drain()
	if got := g.NotReady(listening{}); !slices.Equal(got, []string{"stopping"}) {
		t.Errorf("while it stops: %q", got)
	}
}
