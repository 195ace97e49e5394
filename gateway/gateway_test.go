package gateway

import (
	"fmt"
	"slices"
	"testing"

	"github.com/rs/zerolog"

	"pmg/config"
	"pmg/connector"
	"pmg/protocols"
	"pmg/sms"
)

// now is any time.
const now = int64(1_800_000_000_000_000_000)

const second = int64(1_000_000_000)

// A driver is as much of a protocol as these tests need: none.
type driver struct{ protocols.Driver }

func (driver) Commands() []string                                    { return nil }
func (driver) NewSession(protocols.SessionOptions) protocols.Session { return nil }

// start makes a gateway of connectors "clients" and "operator", the latter with
// further options.
func start(t testing.TB, options string) (g *Gateway, clients, operator *connector.Connector) {
	t.Helper()
	cfg, _, err := config.Parse(fmt.Appendf(nil, `
pdulog: {enabled: false}
connectors:
  - {name: clients, direction: in, address: "127.0.0.1:0", window: 5}
  - {name: operator, direction: out, address: "127.0.0.1:1", system_id: pmg, password: secret, %s}
routes: [{to: operator}]
`, options), config.Options{Protocols: []string{"smpp"}})
	if err != nil {
		t.Fatal(err)
	}
	g, err = New(cfg, zerolog.Nop(), func(string, *config.Config) (protocols.Driver, error) { return driver{}, nil })
	if err != nil {
		t.Fatal(err)
	}
	return g, g.Connector("clients"), g.Connector("operator")
}

// accept makes a message the gateway's.
func accept(g *Gateway, from, to *connector.Connector, at int64) *sms.Message {
	m := g.Messages.Get()
	m.Arrived = at
	in := g.NewIntake(1)
	in.Accept(at, m, from, to, nil)
	in.Flush()
	return m
}

// Answers leave by their time, those for the same time in order.
func TestDelayed(t *testing.T) {
	var d Delayed[string]
	if _, ok := d.Due(now); ok || d.Next() != 0 {
		t.Error("an empty one has something")
	}
	for i, at := range []int64{3, 1, 2, 1, 3, 2} {
		d.Add(at, fmt.Sprint(at, "/", i))
	}
	d.Drop(func(s string) bool { return s == "2/2" || s == "1/3" }, func(s string) {})
	var got []string
	for at := int64(1); at < 4; at++ {
		if d.Next() != at {
			t.Errorf("next at %d, want %d", d.Next(), at)
		}
		for s, ok := d.Due(at); ok; s, ok = d.Due(at) {
			got = append(got, s)
		}
	}
	if want := []string{"1/1", "2/5", "3/0", "3/4"}; !slices.Equal(got, want) || d.Next() != 0 {
		t.Errorf("%v, want %v", got, want)
	}
}

// crowded runs a crowd of n before a full queue.
func crowded(t testing.TB, n int, options string) (g *Gateway, to *connector.Connector, c *Crowd[int]) {
	g, from, to := start(t, options)
	c = NewCrowd[int](g, to)
	to.Queued.Store(int64(to.Config().MaxQueue))
	for i := range n {
		m := g.Messages.Get()
		m.From = from.Name
		if !c.Wait(now+int64(i), m, i) {
			t.Fatal("may not wait")
		}
	}
	return g, to, c
}

// Who waits for room is let in in order and as far as there is room, or refused
// when it took too long.
func TestCrowd(t *testing.T) {
	_, to, c := crowded(t, 10, "max_queue: 3, queue_wait: 1s")
	var got []string
	letIn := func(at int64) {
		c.LetIn(at,
			func(m *sms.Message, i int) { to.Queued.Add(1); got = append(got, fmt.Sprint("in ", i)) },
			func(m *sms.Message, i int) { got = append(got, fmt.Sprint("refused ", i)) })
	}
	want := func(starved bool, want ...string) {
		t.Helper()
		if !slices.Equal(got, want) || to.Starved.Load() != starved {
			t.Errorf("%q, starved %t, want %q, %t", got, to.Starved.Load(), want, starved)
		}
		got = nil
	}
	letIn(now)
	want(true)
	to.Queued.Add(-2)
	letIn(now)
	want(true, "in 0", "in 1")
	letIn(now + second + 3)
	want(true, "refused 2", "refused 3")
	c.Drop(func(i int) bool { return i == 5 || i == 9 }, func(i int) { got = append(got, fmt.Sprint("dropped ", i)) })
	want(true, "dropped 5", "dropped 9")
	to.Queued.Add(-2)
	letIn(now + second + 4)
	want(true, "in 4", "in 6")
	to.Queued.Store(0)
	letIn(now)
	want(false, "in 7", "in 8")
}

// Where a full queue refuses, nobody waits.
func TestCrowdRefused(t *testing.T) {
	for _, options := range []string{"queue_full: refuse", "queue_wait: 0s"} {
		g, _, to := start(t, options)
		if NewCrowd[int](g, to).Wait(now, g.Messages.Get(), 1) || to.Starved.Load() {
			t.Errorf("%s: somebody waits", options)
		}
	}
}

// BenchmarkCrowd is one submit let in, and another that begins to wait, before a
// crowd of so many.
func BenchmarkCrowd(b *testing.B) {
	for _, n := range []int{10, 1000, 100_000} {
		b.Run(fmt.Sprintf("waiting=%d", n), func(b *testing.B) {
			g, to, c := crowded(b, n, "max_queue: 10")
			for b.Loop() {
				to.Queued.Add(-1)
				c.LetIn(now, func(m *sms.Message, _ int) { to.Queued.Add(1); m.Release() }, nil)
				c.Wait(now, g.Messages.Get(), 0)
			}
		})
	}
}
