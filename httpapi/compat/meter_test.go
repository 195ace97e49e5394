package compat

import (
	"testing"
	"time"

	"pmg/config"
	"pmg/connector"
)

// A meter knows what was counted a minute ago and five, and before it has looked for so long, since the start.
func TestMeter(t *testing.T) {
	t.Parallel()
	const second = int64(time.Second)
	out, in := &connector.Connector{Stats: connector.NewStats(config.Out, 0)}, &connector.Connector{Stats: connector.NewStats(config.In, 0)}
	out.SetConfig(&config.Connector{Direction: config.Out})
	in.SetConfig(&config.Connector{Direction: config.In})
	all := []*connector.Connector{out, in}
	now := 1000 * second
	m := newMeter(now)
	want := func(ago time.Duration, sent int64, seconds float64) {
		t.Helper()
		if f, passed := m.before(now, ago, out); f.sent != sent || passed != seconds {
			t.Errorf("%s ago: %+v, %v s; want %d, %v s", ago, f, passed, sent, seconds)
		}
	}
	want(time.Minute, 0, 1)
	now += 5 * second
	want(time.Minute, 0, 5)
	for range 100 { // one message a second
		now += 10 * second
		out.Stats.Sent.Add(10)
		in.Stats.Sent.Add(10)
		m.take(now, all)
	}
	want(time.Minute, 940, 60)
	want(5*time.Minute, 700, 300)
	now += 3 * second
	want(time.Minute, 940, 63)
	if f, _ := m.before(now, time.Minute, in); f != (flow{}) || len(m.at) != readings || len(m.read) != readings {
		t.Errorf("of the connector for clients: %+v; %d readings", f, len(m.at))
	}
}
