package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/internal/testkit/testutil"
)

// A traceSpan is a span as a collector of OpenTelemetry is sent it.
type traceSpan struct {
	TraceID, SpanID, ParentSpanID, Name string
	StartTimeUnixNano, EndTimeUnixNano  string
	Attributes                          []struct {
		Key   string
		Value struct{ StringValue, IntValue string }
	}
	Status struct{ Code int }
}

// A collector is sent traces.
type collector struct {
	mu    sync.Mutex
	spans []traceSpan
	raw   strings.Builder
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b, err := io.ReadAll(r.Body)
	var body struct {
		ResourceSpans []struct{ ScopeSpans []struct{ Spans []traceSpan } }
	}
	if err != nil || r.URL.Path != "/v1/traces" || json.Unmarshal(b, &body) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.raw.Write(b)
	for _, resource := range body.ResourceSpans {
		for _, scope := range resource.ScopeSpans {
			c.spans = append(c.spans, scope.Spans...)
		}
	}
}

func (c *collector) named(name string) (all []traceSpan) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.spans {
		if s.Name == name {
			all = append(all, s)
		}
	}
	return all
}

// A collector is sent a trace of each message that is sampled, with neither numbers nor texts.
func TestTraces(t *testing.T) {
	parallel(t)
	c := &collector{}
	server := httptest.NewServer(c)
	defer server.Close()
	operator := newSMSC(t)
	g := start(t, site{operator: operator, store: vfs.NewMem(), out: "window: 1", top: fmt.Sprintf("telemetry: {otlp: %q, one_in: 1}\n", server.URL)})
	smsc, client := operator.session(), g.bind("transmitter")
	client.submitOne(1)
	smsc.serve(1, 1)
	client.submitOne(2)
	smsc.answer(0x0b, smsc.take(2, 2)...)
	testutil.Eventually(t, "the collector has two messages", func() bool {
		return len(c.named("submit")) == 2 && len(c.named("send")) == 2 && len(c.named("wait")) == 2
	})
	failed := 0
	for _, s := range c.named("submit") {
		if !regexp.MustCompile("^[0-9a-f]{32} [0-9a-f]{16} [0-9]{19} [0-9]{19}$").MatchString(s.TraceID+" "+s.SpanID+" "+s.StartTimeUnixNano+" "+s.EndTimeUnixNano) ||
			s.ParentSpanID != "" || s.EndTimeUnixNano < s.StartTimeUnixNano {
			t.Errorf("%+v", s)
		}
		if s.Status.Code == 2 {
			failed++
		}
		for _, child := range append(c.named("send"), c.named("wait")...) {
			if (child.TraceID == s.TraceID) != (child.ParentSpanID == s.SpanID) {
				t.Errorf("%+v is not in its trace", child)
			}
		}
	}
	if failed != 1 {
		t.Errorf("%d have failed", failed)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, secret := range []string{"46700000001", "secret text"} {
		if strings.Contains(c.raw.String(), secret) {
			t.Errorf("a trace has %s", secret)
		}
	}
	smsc.conn.Close()
}

// attribute returns an attribute of a span, empty if it has none.
func (s *traceSpan) attribute(key string) string {
	for _, a := range s.Attributes {
		if a.Key == key {
			return a.Value.StringValue + a.Value.IntValue
		}
	}
	return ""
}
