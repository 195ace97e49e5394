package e2e

import (
	"cmp"
	"context"
	"fmt"
	"testing"
	"time"

	"pmg/internal/testutil"
	"pmg/loadtest"
)

// loadSite starts a gateway between a load and a sink.
func loadSite(t *testing.T, o loadtest.SinkOptions, s site) (*gw, *loadtest.Sink) {
	t.Helper()
	o.Listen = "127.0.0.1:0"
	sink, err := loadtest.StartSink(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { sink.Close() })
	s.more += fmt.Sprintf("{name: sink, direction: out, protocol: %s, address: %q, instances: 4, system_id: pmg, password: secret, reconnect_delay: 20ms, throttle_pause: 5ms}\n",
		cmp.Or(o.Protocol, "smpp"), sink.Addr())
	s.routes += "\n{from: sink, to: clients}\n{to: sink}"
	g := start(t, s)
	g.online("sink", 4)
	return g, sink
}

// run sends a load and waits until the sink has received all of it.
func run(t *testing.T, g *gw, sink *loadtest.Sink, edit func(*loadtest.LoadOptions)) (*loadtest.LoadResult, loadtest.Comparison) {
	t.Helper()
	o := loadtest.DefaultLoadOptions()
	o.To, o.SystemID, o.Password, o.Timeout = g.addr("clients"), "acme", "s3cret", testutil.Patience
	edit(&o)
	ctx, cancel := context.WithTimeout(context.Background(), 3*testutil.Patience)
	defer cancel()
	result, err := loadtest.Load(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	if p := result.Problems(); p != nil {
		t.Errorf("load: %v", p)
	}
	if err := sink.Await(ctx, result.Accepted); err != nil {
		t.Error(err)
	}
	return result, loadtest.Compare(result, sink.Result())
}

// Nothing is lost or doubled, at any number of connections and any window.
func TestLoad(t *testing.T) {
	parallel(t)
	for _, c := range []struct{ connections, window, messages int }{{1, 1, 300}, {2, 10, 5000}, {16, 10, 10000}, {64, 1, 5000}, {1, 1000, 5000}} {
		t.Run(fmt.Sprintf("%dx%d", c.connections, c.window), func(t *testing.T) {
			g, sink := loadSite(t, loadtest.SinkOptions{}, site{})
			_, compared := run(t, g, sink, func(o *loadtest.LoadOptions) {
				o.Connections, o.Window, o.Messages = c.connections, c.window, int64(c.messages)
			})
			if p := compared.Problems(); p != nil || compared.Delivered != int64(c.messages) {
				t.Errorf("%v, %+v", p, compared)
			}
			testutil.Eventually(t, "nothing is pending", func() bool { return g.Pending() == 0 })
		})
	}
}

// An SMSC that throttles now and then still gets every message.
func TestLoadThrottled(t *testing.T) {
	parallel(t)
	g, sink := loadSite(t, loadtest.SinkOptions{Faults: loadtest.Faults{ThrottleEvery: 50}}, site{})
	_, compared := run(t, g, sink, func(o *loadtest.LoadOptions) { o.Connections, o.Messages = 4, 2000 })
	if p := compared.Problems(); p != nil {
		t.Errorf("%v, %+v", p, compared)
	}
	if g.stats("sink").Retried.Load() == 0 {
		t.Error("nothing was throttled")
	}
}

// When an SMSC closes connections, no message is lost. Messages under way may arrive twice,
// at most a window for each lost connection.
func TestLoadDropped(t *testing.T) {
	parallel(t)
	g, sink := loadSite(t, loadtest.SinkOptions{Faults: loadtest.Faults{DropEvery: 400}}, site{})
	_, compared := run(t, g, sink, func(o *loadtest.LoadOptions) { o.Connections, o.Messages = 4, 2000 })
	dropped := sink.Result().Dropped
	if compared.Missing != 0 || dropped == 0 || compared.Doubled > 10*dropped {
		t.Errorf("%d dropped, %+v", dropped, compared)
	}
}

// One session sends in the order of arrival.
func TestOrder(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	g := start(t, site{operator: operator, out: "window: 1"})
	s := operator.session()
	c := g.bind("transceiver")
	c.submit(1, 300)
	s.serve(1, 300)
	c.accepted(1, 300)
}

// Waiting messages are sent by priority, and then in the order of arrival.
func TestPriorities(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	g := start(t, site{operator: operator, out: "window: 100"})
	c := g.bind("transmitter")
	for i, priority := range []int{0, 1, 3, 2, 0, 1, 3, 2, 99} {
		c.submit(i, i, fmt.Sprint("priority_flag=", priority))
		c.accepted(i, i)
	}
	s := operator.session()
	for _, n := range []int{8, 2, 6, 3, 7, 1, 5, 0, 4} {
		s.serve(n, n)
	}
}

// A message with a delivery time waits for it, and does not delay others.
func TestScheduled(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	g := start(t, site{operator: operator})
	s := operator.session()
	c := g.bind("transmitter")
	began := time.Now()
	c.submit(1, 1, "schedule_delivery_time=000000000001000R")
	c.submit(2, 3)
	c.accepted(1, 3)
	s.serve(2, 3)
	s.serve(1, 1)
	if after := time.Since(began); after < time.Second {
		t.Errorf("sent after %s", after)
	}
}

// A message whose validity runs out while it waits is dropped and counted.
func TestExpired(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	g := start(t, site{operator: operator})
	c := g.bind("transmitter")
	c.submit(1, 1, "validity_period=000000000001000R")
	c.submit(2, 2)
	c.accepted(1, 2)
	time.Sleep(1100 * time.Millisecond)
	operator.session().serve(2, 2)
	if n := g.stats("operator").Expired.Load(); n != 1 {
		t.Errorf("%d expired", n)
	}
}

// Message ids are 16 hex digits and never repeat, not even after a restart.
func TestMessageIDs(t *testing.T) {
	parallel(t)
	last := ""
	for range 3 {
		g := start(t, site{operator: newSMSC(t)})
		c := g.bind("transmitter")
		c.submit(1, 100)
		for range 100 {
			id := field(c.want("submit_sm_resp", "status=0"), "message_id")
			if len(id) != 16 || id <= last {
				t.Fatalf("id %s after %s", id, last)
			}
			last = id
		}
		c.conn.Close()
		g.stop()
	}
}
