package e2e

import (
	"testing"
	"time"

	"pmg/internal/testutil"
	"pmg/loadtest"
)

// sendAll sends messages by 4 clients, waits until the sink has received every message that
// the gateway accepted, and returns the comparison.
func sendAll(t *testing.T, g *gw, sink *loadtest.Sink, messages int64) loadtest.Comparison {
	t.Helper()
	_, compared := run(t, g, sink, func(o *loadtest.LoadOptions) { o.Connections, o.Messages = 4, messages })
	testutil.Eventually(t, "nothing is pending", func() bool { return g.Pending() == 0 })
	return compared
}

// F9, F12, H10: an SMSC that unbinds in the middle of a window answers accepted messages
// after the unbind. None of those is sent again. Messages that were not written yet are not
// lost, although on_unknown: fail forbids to send an unanswered message again.
func TestF9UnbindMidWindow(t *testing.T) {
	parallel(t)
	for _, c := range []struct {
		name  string
		delay time.Duration
		out   string
	}{
		{"resend", 0, ""},
		{"fail", 0, "on_unknown: fail"},
		{"answers after a while", 5 * time.Millisecond, "on_unknown: fail"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			sink := startSink(t, loadtest.SinkOptions{Delay: c.delay, Faults: loadtest.Faults{UnbindEvery: 100}})
			g := start(t, site{more: sinkRow("operator", sink, "instances: 2, "+c.out), routes: "{to: operator}"})
			compared := sendAll(t, g, sink, 1000)
			seen := sink.Result()
			if p := compared.Problems(); p != nil {
				t.Errorf("%v after %d unbinds", p, seen.Unbinds)
			}
			if n := g.stats("operator").Failed.Load(); n != 0 {
				t.Errorf("%d messages were given up after %d unbinds", n, seen.Unbinds)
			}
			if seen.Unbinds < 5 {
				t.Errorf("%d unbinds", seen.Unbinds)
			}
		})
	}
}
