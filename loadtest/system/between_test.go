package system

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"pmg/admin"
	"pmg/internal/testkit/process"
	"pmg/internal/testkit/testutil"
	"pmg/loadtest"
)

// A site is what a gateway between a load and a sink has beside its account acme and its connectors clients and operator.
type site struct {
	accounts string // further rows
	clients  string // options of the connector "clients"
	operator string // options of the connector "operator"; with "{", the whole row
	more     string // further connectors, rows
	routes   string // rows
}

const betweenConfig = `
log: {format: json}
pdulog: {enabled: false}
store: {engine: memory}
admin: {address: "127.0.0.1:0"}
accounts:
  - {system_id: acme, password: s3cret}
%s
connectors:
  - {name: clients, direction: in, address: "127.0.0.1:0", %s}
  - %s
%s
routes:
%s`

// list returns rows as a list of YAML.
func list(rows string) (text string) {
	for row := range strings.Lines(rows) {
		if strings.TrimSpace(row) != "" {
			text += "  - " + strings.TrimSpace(row) + "\n"
		}
	}
	return text
}

// startSite starts a gateway.
func startSite(t *testing.T, s site) *process.Process {
	t.Helper()
	text := fmt.Sprintf(betweenConfig, list(s.accounts), s.clients, s.operator, list(s.more), list(s.routes))
	p := program(t).Serve(t, process.WriteConfig(t, text))
	p.Wait("serving")
	return p
}

// startBetween starts a sink, and a gateway that is connected to it.
func startBetween(t *testing.T, o loadtest.SinkOptions, s site) (*process.Process, *loadtest.Sink) {
	t.Helper()
	o.Listen = "127.0.0.1:0"
	sink, err := loadtest.StartSink(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sink.Close() })
	s.operator = fmt.Sprintf("{name: operator, direction: out, protocol: %s, address: %q, system_id: pmg, password: secret, %s}",
		cmp.Or(o.Protocol, "smpp"), sink.Addr(), cmp.Or(s.operator, "instances: 4, reconnect_delay: 20ms, throttle_pause: 5ms"))
	s.routes += "\n{from: operator, to: clients}\n{to: operator}"
	return startSite(t, s), sink
}

// run sends a load and waits until the sink has received all of it.
func run(t *testing.T, p *process.Process, sink *loadtest.Sink, edit func(*loadtest.LoadOptions)) (*loadtest.LoadResult, loadtest.Comparison) {
	t.Helper()
	o := loadtest.DefaultLoadOptions()
	o.To, o.SystemID, o.Password, o.Timeout = p.Listens("clients"), "acme", "s3cret", testutil.Patience
	edit(&o)
	ctx, cancel := context.WithTimeout(t.Context(), 3*testutil.Patience)
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

// counters returns what the gateway counts of the connector "operator".
func counters(t *testing.T, p *process.Process) (c admin.Connector) {
	t.Helper()
	var s admin.Status
	p.Ask("status", &s)
	for _, one := range s.Connectors {
		if one.Name == "operator" {
			return one
		}
	}
	t.Fatal("there is no operator")
	return c
}

// Nothing is lost or doubled, at any number of connections and any window.
func TestLoad(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ connections, window, messages int }{{1, 1, 300}, {2, 10, 5000}, {16, 10, 10000}, {64, 1, 5000}, {1, 1000, 5000}} {
		t.Run(fmt.Sprintf("%dx%d", c.connections, c.window), func(t *testing.T) {
			p, sink := startBetween(t, loadtest.SinkOptions{}, site{})
			_, compared := run(t, p, sink, func(o *loadtest.LoadOptions) {
				o.Connections, o.Window, o.Messages = c.connections, c.window, int64(c.messages)
			})
			if p := compared.Problems(); p != nil || compared.Delivered != int64(c.messages) {
				t.Errorf("%v, %+v", p, compared)
			}
			p.Settle()
		})
	}
}

// An SMSC that throttles now and then still gets every message.
func TestLoadThrottled(t *testing.T) {
	t.Parallel()
	p, sink := startBetween(t, loadtest.SinkOptions{Faults: loadtest.Faults{ThrottleEvery: 50}}, site{})
	_, compared := run(t, p, sink, func(o *loadtest.LoadOptions) { o.Connections, o.Messages = 4, 2000 })
	if p := compared.Problems(); p != nil {
		t.Errorf("%v, %+v", p, compared)
	}
	if counters(t, p).Retried == 0 {
		t.Error("nothing was throttled")
	}
}

// When an SMSC closes connections, no message is lost. Messages under way may arrive twice, at most a window for each lost connection.
func TestLoadDropped(t *testing.T) {
	t.Parallel()
	p, sink := startBetween(t, loadtest.SinkOptions{Faults: loadtest.Faults{DropEvery: 400}}, site{})
	_, compared := run(t, p, sink, func(o *loadtest.LoadOptions) { o.Connections, o.Messages = 4, 2000 })
	dropped := sink.Result().Dropped
	if compared.Missing != 0 || dropped == 0 || compared.Doubled > 10*dropped {
		t.Errorf("%d dropped, %+v", dropped, compared)
	}
}

// F9, F12, H10: an SMSC that unbinds in the middle of a window answers accepted messages after the unbind. None of those is sent again.
// Messages that were not written yet are not lost, although on_unknown: fail forbids to send an unanswered message again.
func TestUnbindMidWindow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		delay    time.Duration
		operator string
	}{
		{"resend", 0, ""},
		{"fail", 0, "on_unknown: fail"},
		{"answers after a while", 5 * time.Millisecond, "on_unknown: fail"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p, sink := startBetween(t, loadtest.SinkOptions{Delay: c.delay, Faults: loadtest.Faults{UnbindEvery: 100}},
				site{operator: "instances: 2, reconnect_delay: 20ms, " + c.operator})
			_, compared := run(t, p, sink, func(o *loadtest.LoadOptions) { o.Connections, o.Messages = 4, 1000 })
			p.Settle()
			seen := sink.Result()
			if p := compared.Problems(); p != nil {
				t.Errorf("%v after %d unbinds", p, seen.Unbinds)
			}
			if n := counters(t, p).Failed; n != 0 {
				t.Errorf("%d messages were given up after %d unbinds", n, seen.Unbinds)
			}
			if seen.Unbinds < 5 {
				t.Errorf("%d unbinds", seen.Unbinds)
			}
		})
	}
}

// F13, H7: after an SMSC has closed right after a login, the gateway waits for reconnect_delay, and the connector is shown as failing.
func TestClosesAfterBind(t *testing.T) {
	t.Parallel()
	sink, err := loadtest.StartSink(loadtest.SinkOptions{Listen: "127.0.0.1:0", Faults: loadtest.Faults{CloseBindEvery: 1}})
	if err != nil {
		t.Fatal(err)
	}
	defer sink.Close()
	began := time.Now()
	p := startSite(t, site{
		operator: fmt.Sprintf("{name: operator, direction: out, address: %q, instances: 2, system_id: pmg, password: secret, reconnect_delay: 10s}", sink.Addr()),
		routes:   "{to: operator}",
	})
	o := loadtest.DefaultLoadOptions()
	o.To, o.SystemID, o.Password, o.Messages = p.Listens("clients"), "acme", "s3cret", 20 // so that there is always something to send
	if r, err := loadtest.Load(t.Context(), o); err != nil || r.Accepted != 20 {
		t.Fatalf("%v, %+v", err, r)
	}
	testutil.Eventually(t, "the SMSC has closed a connection", func() bool { return sink.Result().BindsClosed >= 2 })
	for range 100 {
		p.Status()
	}
	most := 6 + 2*int(time.Since(began)/(10*time.Second)) // a slow machine takes longer than one delay
	if n := int(sink.Result().Binds); n > most {
		t.Errorf("%d logins, more than %d", n, most)
	}
	if n := strings.Count(p.Log(), `"message":"session lost: `); n > most || n == 0 {
		t.Errorf("%d lines of lost sessions", n)
	}
	if counters(t, p).Failing == 0 {
		t.Error("the connector is not shown as failing")
	}
}

// H8: an SMSC that closes at a certain message gets it only a few times. Other messages in the same window are not given up: each of
// them arrives.
func TestClosesAtAMessage(t *testing.T) {
	t.Parallel()
	p, sink := startBetween(t, loadtest.SinkOptions{Faults: loadtest.Faults{CloseText: "#000000000100"}},
		site{operator: "reconnect_delay: 20ms, retry: [10ms, 20ms, 40ms]"})
	o := loadtest.DefaultLoadOptions()
	o.To, o.SystemID, o.Password, o.Timeout, o.Messages = p.Listens("clients"), "acme", "s3cret", testutil.Patience, 300
	load, err := loadtest.Load(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), testutil.Patience)
	defer cancel()
	if err := sink.Await(ctx, load.Accepted-1); err != nil {
		t.Error(err)
	}
	p.Settle()
	seen := sink.Result()
	if seen.Unique != load.Accepted-1 {
		t.Errorf("%d of %d other messages came", seen.Unique, load.Accepted-1)
	}
	// Two sessions end before the message is sent alone. From then on each end of a session counts as an attempt.
	if seen.Dropped > 2+4 {
		t.Errorf("the message was sent %d times, 6 are allowed", seen.Dropped)
	}
	if n := counters(t, p).Failed; n != 1 {
		t.Errorf("%d messages were given up", n)
	}
}

// F18, H9: an SMSC that answers after the response timeout gets each message once or twice; the late answer counts.
func TestLateAnswers(t *testing.T) {
	t.Parallel()
	const messages = 20
	p, sink := startBetween(t, loadtest.SinkOptions{Delay: 700 * time.Millisecond},
		site{operator: "reconnect_delay: 20ms, response_timeout: 200ms, enquire_interval: 0s, retry: {lost: [5s, repeat]}"})
	run(t, p, sink, func(o *loadtest.LoadOptions) { o.Messages = messages })
	p.Settle()
	if n := counters(t, p).Sent; n != messages {
		t.Errorf("%d of %d messages were sent", n, messages)
	}
	if n := sink.Result().Submits; n > 2*messages {
		t.Errorf("%d submits of %d messages", n, messages)
	}
}
