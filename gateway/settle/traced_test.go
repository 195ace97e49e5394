package settle

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"pmg/events"
	"pmg/gateway/keep"
	"pmg/gateway/roomtest"
	"pmg/sms"
	"pmg/store"
)

// A collector is a collector of OpenTelemetry.
type collector struct {
	mu    sync.Mutex
	spans []collected
}

// A collected is a span that it was sent.
type collected struct {
	TraceID, SpanID, ParentSpanID, Name string
	Kind                                int
	StartTimeUnixNano, EndTimeUnixNano  string
	Attributes                          []struct {
		Key   string
		Value struct{ StringValue, IntValue string }
	}
	Status struct {
		Code    int
		Message string
	}
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body struct {
		ResourceSpans []struct{ ScopeSpans []struct{ Spans []collected } }
	}
	b, err := io.ReadAll(r.Body)
	if err != nil || json.Unmarshal(b, &body) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, resource := range body.ResourceSpans {
		for _, scope := range resource.ScopeSpans {
			c.spans = append(c.spans, scope.Spans...)
		}
	}
}

// lines returns the spans in words, sorted: times are seconds since now by the wall clock, a hash is #, and ↑ is a call
// of another.
func (c *collector) lines() (lines []string) {
	names := map[string]string{"": "-"}
	for _, s := range c.spans {
		names[s.SpanID] = s.Name
	}
	for _, s := range c.spans {
		parent := names[s.ParentSpanID]
		if parent == "" {
			parent = "another"
		}
		line := fmt.Sprintf("%s of %s %s..%s", s.Name+[]string{1: "", 2: "", 3: "↑"}[s.Kind], parent, seconds(s.StartTimeUnixNano),
			seconds(s.EndTimeUnixNano))
		if s.Status.Code == 2 {
			line += " failed (" + s.Status.Message + ")"
		}
		for _, a := range s.Attributes {
			value := a.Value.StringValue + a.Value.IntValue
			if regexp.MustCompile("^[0-9a-f]{16}$").MatchString(value) && a.Key != "messaging.message.id" {
				value = "#"
			}
			line += " " + strings.TrimPrefix(strings.TrimPrefix(a.Key, "pmg."), "messaging.") + "=" + value
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return lines
}

func seconds(wall string) string {
	n, _ := strconv.ParseInt(wall, 10, 64)
	return fmt.Sprint((n - now - ahead) / second)
}

// newTraced makes a rig that traces with options. stop ends it, and returns the spans in words.
func newTraced(t *testing.T, options string) (r *rig, stop func() []string) {
	t.Helper()
	c := &collector{}
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	r = newRigWith(t, roomtest.Operator("")+fmt.Sprintf("telemetry: {otlp: %q, %s}\n", server.URL, options), store.NewMemory())
	r.node.Clock.WallClock = func() time.Time { return time.Unix(0, now+ahead+9*second) }
	if err := r.OpenEvents(); err != nil {
		t.Fatal(err)
	}
	return r, func() []string { r.close(); return c.lines() }
}

// What a collector is sent of messages: when each came, how long it waited, each attempt with its answer, and how it ended. A
// trace is where an operator looks for the SMSC, or the server, that is slow.
func TestTraced(t *testing.T) {
	t.Parallel()
	const (
		from   = " operation.type=send"
		about  = " source=# destination=# account=client connector=clients destination.name=operator"
		submit = "message.id=0000000000000046" + from
	)
	taken := sms.Answer{PeerID: []byte("17"), At: now + 4*second}
	for name, c := range map[string]struct {
		do   func(r *rig, m *sms.Message)
		want []string
	}{
		"taken by the second attempt": {
			func(r *rig, m *sms.Message) {
				r.Tried(r.lane, m, sms.Answer{Code: sms.QueueFull, Status: 20, At: now + 2*second}, now+second)
				m.Sends, m.Attempts = 2, 1
				r.Ended(r.lane, m, taken, now+3*second)
			},
			[]string{
				"send↑ of submit 1..2 failed (queue_full) destination.name=operator status=STATUS_20 attempt=1",
				"send↑ of submit 3..4 destination.name=operator attempt=2",
				"submit of - 0..4 " + submit + " state=sent attempts=2 sends=2" + about,
				"wait of submit 0..3",
			},
		},
		"refused": {
			func(r *rig, m *sms.Message) {
				r.Ended(r.lane, m, sms.Answer{Code: sms.BadDestination, Status: 11, At: now + 4*second}, now+3*second)
			},
			[]string{
				"send↑ of submit 3..4 failed (bad_destination) destination.name=operator status=STATUS_11 attempt=1",
				"submit of - 0..4 failed (rejected: bad_destination) " + submit + " state=rejected attempts=1 sends=1" + about +
					" status=STATUS_11",
				"wait of submit 0..3",
			},
		},
		"never sent, at a time that is not known": {
			func(r *rig, m *sms.Message) { m.Sends = 0; r.Ended(r.lane, m, sms.Answer{Code: sms.Expired}, 0) },
			[]string{
				"submit of - 0..9 failed (expired: expired) " + submit + " state=expired attempts=0 sends=0" + about,
				"wait of submit 0..9",
			},
		},
		"cut": {
			func(r *rig, m *sms.Message) {
				r.Forget(m, keep.Ending{State: events.Cut, Lane: store.Lane{Connector: "operator"}, Answer: sms.Answer{At: now + second}},
					nil)
			},
			[]string{"submit of - 0..1 " + submit + " state=cut attempts=0 sends=1" + about, "wait of submit 0..1"},
		},
		"joined": {
			func(r *rig, m *sms.Message) {
				r.Forget(m, keep.Ending{State: events.Joined, Answer: sms.Answer{At: now + second}}, nil)
			},
			[]string{
				"submit of - 0..1 " + submit + " state=joined attempts=0 sends=1" + strings.TrimSuffix(about, " destination.name=operator"),
				"wait of submit 0..1",
			},
		},
		"a part of a long message": {
			func(r *rig, m *sms.Message) {
				r.Ended(r.lane, m, taken, 0)
				m.ID, m.Offset = 71, 1
				r.Ended(r.lane, m, taken, 0)
			},
			[]string{
				"submit of - 0..4 " + submit + " state=sent attempts=0 sends=1" + about,
				"submit of submit 0..4 message.id=0000000000000047" + from + " state=sent attempts=0 sends=1" + about,
				"wait of submit 0..4",
				"wait of submit 0..4",
			},
		},
		"a receipt": {
			func(r *rig, m *sms.Message) {
				m.Kind, m.Flags, m.ID, m.Origin = sms.Receipt, sms.HasReport, 75, r.node.Origins.Of("", "operator")
				m.SetReport(sms.Address{}, sms.Address{Addr: []byte("1234")}, &sms.Report{Known: 70, State: sms.StateDelivered})
				r.Ended(r.table.ClientLane("client", nil), m, taken, 0)
			},
			[]string{
				"receipt of another 0..4 message.id=000000000000004b" + from +
					" state=sent attempts=0 sends=1 source= destination=# account= connector=operator destination.name=client",
				"wait of receipt 0..4",
			},
		},
		"a text from a mobile": {
			func(r *rig, m *sms.Message) { m.Kind = sms.MO; r.Ended(r.lane, m, taken, 0) },
			[]string{"mo of - 0..4 " + submit + " state=sent attempts=0 sends=1" + about, "wait of mo 0..4"},
		},
		"calls of a server": {
			func(r *rig, m *sms.Message) {
				r.Told(m, 2*time.Second, 503, "503 Service Unavailable")
				m.Sends = 2
				r.Told(m, time.Second, 0, "")
			},
			[]string{"webhook↑ of another 7..9 failed (503 Service Unavailable) attempt=1 http.response.status_code=503",
				"webhook↑ of another 8..9 attempt=2"},
		},
		"what was not sent, nor called, and attempts without number": {
			func(r *rig, m *sms.Message) {
				r.Tried(r.lane, m, sms.Answer{Code: sms.QueueFull, At: now}, 0)
				r.Told(m, 0, 200, "")
				m.Sends = 255
				r.Tried(r.lane, m, sms.Answer{Code: sms.QueueFull, At: now}, now)
				r.Told(m, time.Second, 200, "")
			},
			nil,
		},
	} {
		r, stop := newTraced(t, "one_in: 1")
		c.do(r, r.submitted(70, 0))
		if got := stop(); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
}

// Numbers are in traces if the operator says so, and nothing of a message that is not sampled.
func TestTracesOptions(t *testing.T) {
	t.Parallel()
	r, stop := newTraced(t, "one_in: 1, addresses: true")
	r.Ended(r.lane, r.submitted(70, 0), sms.Answer{At: now}, 0)
	if got := stop(); len(got) != 2 || !strings.Contains(got[0], "source=1234 destination=46700000001") {
		t.Errorf("%q", got)
	}
	r, stop = newTraced(t, "one_in: 1000000000, client_rate: 1")
	m := r.submitted(70, 0)
	r.Ended(r.lane, m, sms.Answer{At: now}, now)
	r.Tried(r.lane, m, sms.Answer{Code: sms.QueueFull, At: now}, now)
	r.Told(m, time.Second, 200, "")
	if r.Parent([]string{header}) == "" || r.Parent([]string{header}) != "" {
		t.Error("not one client's message is traced in a second")
	}
	if got := stop(); len(got) != 0 {
		t.Errorf("%q", got)
	}
}

// A number has one hash in all traces of a gateway, so that they can be compared, and another after a restart, so that it cannot
// be looked up in a table of all numbers.
func TestTracesHash(t *testing.T) {
	t.Parallel()
	r, stop := newTraced(t, "one_in: 1")
	other, stopOther := newTraced(t, "one_in: 1")
	one, two := r.Traces.number([]byte("1234")), r.Traces.number([]byte("1235"))
	if len(one) != 16 || one == two || one != r.Traces.number([]byte("1234")) || one == other.Traces.number([]byte("1234")) {
		t.Errorf("%s, %s", one, two)
	}
	stop()
	stopOther()
}

// Whoever looks for traces that are not there learns from the log that the collector does not take them.
func TestTracesDropped(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	r := newRigWith(t, roomtest.Operator("")+fmt.Sprintf("telemetry: {otlp: %q, one_in: 1}\n", server.URL), store.NewMemory())
	if err := r.OpenEvents(); err != nil {
		t.Fatal(err)
	}
	r.Ended(r.lane, r.submitted(70, 0), sms.Answer{At: now}, now)
	r.close()
	if s := r.log.String(); strings.Count(s, "traces are dropped") != 1 {
		t.Errorf("the log has %s", s)
	}
}
