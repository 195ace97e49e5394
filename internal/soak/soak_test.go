package soak

import (
	"context"
	"flag"
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"pmg/classic"
	"pmg/config"
	"pmg/gateway"
	"pmg/loadtest"
	"pmg/protocols"
	"pmg/protocols/smpp"
	"pmg/stages"
)

var duration = flag.Duration("for", 2*time.Second, "how long to send load to each architecture")

const (
	patience = 60 * time.Second
	sessions = 4  // to the SMS centre
	window   = 10 // of each
)

const yaml = `
log: {level: error}
pdulog: {dir: %q, max_size: 64MiB, keep: 2}
limits: {pdu_timeout: 500ms, unsent: 64KiB}
accounts:
  - {system_id: load, password: secret}
connectors:
  - {name: clients,  direction: in,  address: "127.0.0.1:0", window: 100, bind_timeout: 1s}
  - {name: operator, direction: out, address: %q, instances: %d, window: %d, max_queue: 200, queue_wait: 60s,
     system_id: pmg, password: secret, reconnect_delay: 20ms, throttle_pause: 5ms}
routes:
  - {to: operator}
`

func TestSoak(t *testing.T) {
	for name, start := range map[string]func(*gateway.Gateway) (gateway.Engine, error){
		config.Pipeline: func(g *gateway.Gateway) (gateway.Engine, error) { return stages.Start(g) },
		config.Classic:  func(g *gateway.Gateway) (gateway.Engine, error) { return classic.Start(g) },
	} {
		t.Run(name, func(t *testing.T) { soak(t, start) })
	}
}

func soak(t *testing.T, start func(*gateway.Gateway) (gateway.Engine, error)) {
	before := take()
	sink, err := loadtest.StartSink(loadtest.SinkOptions{
		Listen: "127.0.0.1:0", Delay: time.Millisecond, ThrottleEvery: 97, DropEvery: 499,
	})
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
	e, err := start(g)
	if err != nil {
		t.Fatal(err)
	}
	clients := e.Addresses(g.Connector("clients"))[0].String()

	faults := startFaults(clients)
	watching := startWatch(t, e)
	o := loadtest.DefaultLoadOptions()
	o.To, o.Connections, o.Window, o.Duration, o.Timeout = clients, 32, 10, *duration, patience
	load, err := loadtest.Load(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := sink.Await(ctx, load.Accepted); err != nil {
		t.Error(err)
	}
	watching()
	broken := faults.stop()
	e.Drain(ctx)
	eventually(t, "no session is left", func() bool { return g.Sessions() == 0 })
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
	t.Logf("%d messages sent, %d delivered, %d missing, %d doubled; %d throttled, %d connections dropped by the SMS centre, %d by clients",
		c.Sent, c.Delivered, c.Missing, c.Doubled, r.Throttled, r.Dropped, broken)
	for _, problem := range load.Problems() {
		t.Error(problem)
	}
	if c.Missing != 0 {
		t.Errorf("%d messages are missing", c.Missing)
	}
	// A lost connection leaves up to a window of messages unknown; they are sent again.
	if most := r.Dropped * window; c.Doubled > most {
		t.Errorf("%d messages came twice, more than %d", c.Doubled, most)
	}
	if n := e.Counters().Jobs; n != 0 {
		t.Errorf("%d jobs are left", n)
	}
	eventually(t, "no goroutine and no descriptor is left", func() bool {
		now := take()
		return now.goroutines <= before.goroutines && now.descriptors <= before.descriptors
	})
}

func newDriver(_ string, c *config.Config) (protocols.Driver, error) {
	return smpp.New(smpp.Options{MaxPDU: int(c.Limits.MaxPDU)}), nil
}

// usage is what must not grow.
type usage struct {
	goroutines, descriptors int
	heap                    uint64
}

func take() usage {
	u := usage{goroutines: runtime.NumGoroutine()}
	if files, err := os.ReadDir("/proc/self/fd"); err == nil { // where there is such a thing
		u.descriptors = len(files)
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	u.heap = m.HeapInuse
	return u
}

// startWatch looks at what is used while the load lasts, tells it now and then,
// and in the end compares the last third with the first.
func startWatch(t *testing.T, e gateway.Engine) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	began := time.Now()
	var first, last uint64 // most heap in use
	go func() {
		defer close(ended)
		tick := time.NewTicker(200 * time.Millisecond)
		defer tick.Stop()
		told := began
		for {
			select {
			case <-done:
				return
			case now := <-tick.C:
				u, part := take(), now.Sub(began)
				switch {
				case part < *duration/3:
					first = max(first, u.heap)
				case part > 2*(*duration)/3:
					last = max(last, u.heap)
				}
				if now.Sub(told) >= 10*time.Second {
					told = now
					t.Logf("%4.0f s: heap %d MiB, goroutines %d, descriptors %d, jobs %d",
						part.Seconds(), u.heap>>20, u.goroutines, u.descriptors, e.Counters().Jobs)
				}
			}
		}
	}()
	return func() {
		close(done)
		<-ended
		if most := 2*first + 64<<20; last > most {
			t.Errorf("heap has grown from %d MiB to %d MiB", first>>20, last>>20)
		}
	}
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}
