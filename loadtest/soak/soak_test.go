package soak

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"runtime/pprof"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"pmg/config"
	"pmg/gateway"
	"pmg/internal/testkit/testutil"
	"pmg/loadtest"
	"pmg/protocols"
	"pmg/protocols/smpp"
	"pmg/stages"
)

var duration = flag.Duration("for", 2*time.Second, "how long to send load")

const (
	sessions = 4  // to the SMSC
	window   = 10 // of each

	fullDestination = "4699" // for which the SMSC has no room, ever
)

// smsc returns the faults of the SMSC, which occur now and then during the whole
// test. It never has room for one destination.
func smsc() loadtest.Faults {
	return loadtest.Faults{
		ThrottleEvery: 97, DropEvery: 1499, UnbindEvery: 499, TwiceEvery: 307, CloseBindEvery: 5,
		LateEvery: 997, Late: 3 * time.Second, FullTo: fullDestination,
	}
}

const yaml = `
log: {level: error}
pdulog: {dir: %q, max_size: 64MiB, keep: 2}
limits: {pdu_timeout: 500ms, unsent: 64KiB}
accounts:
  - {system_id: load, password: secret}
  - {system_id: again, password: secret}
  - {system_id: full, password: secret}
connectors:
  - {name: clients,  direction: in,  address: "127.0.0.1:0", window: 100}
  - {name: operator, direction: out, address: %q, instances: %d, window: %d, max_queue: 200, queue_wait: 60s,
     system_id: pmg, password: secret, reconnect_delay: 20ms, throttle_pause: 5ms, retry: [20ms, 40ms, 80ms, 160ms, 320ms],
     response_timeout: 2s}
routes:
  - {to: operator}
`

func TestSoak(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0") // Go's own poller stays open from its first use on
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	before := take()
	sink, err := loadtest.StartSink(loadtest.SinkOptions{Listen: "127.0.0.1:0", Delay: time.Millisecond, Faults: smsc()})
	if err != nil {
		t.Fatal(err)
	}
	defer sink.Close()
	text := fmt.Sprintf(yaml, t.TempDir(), sink.Addr(), sessions, window)
	cfg, _, err := config.Parse([]byte(text), config.Options{Protocols: []string{"smpp"}})
	if err != nil {
		t.Fatal(err)
	}
	g, err := gateway.New(cfg, zerolog.New(zerolog.NewTestWriter(t)).Level(zerolog.ErrorLevel), newDriver)
	if err != nil {
		t.Fatal(err)
	}
	e, err := stages.Start(g)
	if err != nil {
		t.Fatal(err)
	}
	clients := e.Addresses(g.Table.Connector("clients"))[0].String()

	faults := startFaults(clients)
	again := startReconnecters(clients, sink)
	refused := startFull(clients)
	watching := startWatch(t, e)
	load, err := loadtest.Load(t.Context(), options(clients, "load", func(o *loadtest.LoadOptions) {
		o.Connections, o.Window, o.Duration = 32, 10, *duration
	}))
	if err != nil {
		t.Fatal(err)
	}
	watching()
	broken := faults.stop()
	reconnects, accepted := again.stop(t)
	full := refused.stop(t)
	ctx, cancel := context.WithTimeout(t.Context(), testutil.Patience)
	defer cancel()
	if err := sink.Await(ctx, load.Accepted+accepted); err != nil {
		t.Error(err)
	}
	stats := g.Table.Connector("operator").Stats
	testutil.Eventually(t, "nothing is pending", func() bool { return g.Pending() == 0 })
	failed := stats.Failed.Load()
	e.Drain(ctx)
	testutil.Eventually(t, "no session is left", func() bool { return g.Sessions.Count() == 0 })
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
	if err := sink.Close(); err != nil {
		t.Error(err)
	}

	r := sink.Result()
	c := loadtest.Compare(load, r)
	t.Logf("%d messages sent and %d by %d clients that reconnect, %d delivered, %d missing, %d doubled, %d of %d given up for the full destination",
		c.Sent, accepted, reconnects, c.Delivered, c.Missing, c.Doubled, failed, full)
	t.Logf("the SMSC throttled %d times, dropped %d connections, unbound %d, closed %d after the login, answered %d twice and %d late; %d clients misbehaved",
		r.Throttled, r.Dropped, r.Unbinds, r.BindsClosed, r.Twice, r.Late, broken)
	for _, problem := range load.Problems() {
		t.Error(problem)
	}
	again.check(t, r)
	if c.Missing != 0 {
		t.Errorf("%d messages are missing", c.Missing)
	}
	if failed != full {
		t.Errorf("%d messages were given up, %d were for the destination that is full", failed, full)
	}
	// A lost connection leaves the outcome of up to a window of messages unknown, and a
	// late answer that of one; those are sent again. An unbind leaves none unknown.
	if most := r.Dropped*window + r.Late; c.Doubled > most {
		t.Errorf("%d messages arrived twice, more than %d", c.Doubled, most)
	}
	if n := e.Counters().Jobs; n != 0 {
		t.Errorf("%d jobs are left", n)
	}
	left(t, before)
}

// left fails the test if goroutines or descriptors are left, and logs them.
func left(t *testing.T, before usage) {
	var now usage
	for end := time.Now().Add(testutil.Patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if now = take(); now.goroutines <= before.goroutines && now.descriptors <= before.descriptors {
			return
		}
	}
	t.Errorf("%d goroutines and %d descriptors are left; before there were %d and %d",
		now.goroutines, now.descriptors, before.goroutines, before.descriptors)
	var stacks strings.Builder
	_ = pprof.Lookup("goroutine").WriteTo(&stacks, 1)
	t.Logf("goroutines:\n%s", &stacks)
	files, _ := os.ReadDir("/proc/self/fd")
	for _, f := range files {
		to, _ := os.Readlink("/proc/self/fd/" + f.Name())
		t.Logf("descriptor %s is %s", f.Name(), to)
	}
}

// options returns the options of a load by an account.
func options(to, account string, edit func(*loadtest.LoadOptions)) loadtest.LoadOptions {
	o := loadtest.DefaultLoadOptions()
	o.To, o.SystemID, o.Timeout, o.Retry = to, account, testutil.Patience, 5*time.Millisecond
	edit(&o)
	return o
}

func newDriver(_ string, c *config.Config) (protocols.Driver, error) {
	return smpp.New(smpp.Options{MaxPDU: int(c.Limits.MaxPDU)}), nil
}
