package telemetry

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"testing"
)

func TestSampler(t *testing.T) {
	for _, c := range []struct{ oneIn, min, max int }{{1, 100000, 100000}, {1000, 60, 140}, {2, 49000, 51000}, {1 << 40, 0, 1}} {
		n, s := 0, OneIn(c.oneIn)
		for id := range uint64(100000) {
			if s.Takes(id) {
				n++
			}
		}
		if n < c.min || n > c.max {
			t.Errorf("one in %d takes %d of 100,000", c.oneIn, n)
		}
	}
}

func TestSamplerAllocates(t *testing.T) {
	s, id, taken := OneIn(1000), uint64(0), 0
	n := testing.AllocsPerRun(100000, func() {
		if id++; s.Takes(id) {
			taken++
		}
	})
	if n != 0 || taken == 0 {
		t.Errorf("%v allocations, %d taken", n, taken)
	}
}

func TestExporter(t *testing.T) {
	bodies := make(chan []byte, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		if r.Header.Get("Content-Type") != "application/json" || r.Header.Get("Authorization") != "Bearer x" || r.URL.Path != "/v1/traces" {
			t.Errorf("headers %v", r.Header)
		}
		bodies <- b
	}))
	defer server.Close()
	e := Start(Options{URL: server.URL + "/", Authorization: "Bearer x", Service: "pmg"})
	e.Add([]Span{{Trace: TraceOf(7), ID: [8]byte{1}, Name: "message", Kind: Server, Begin: 1 << 60, End: 1<<60 + 5, Failed: true, Error: "expired",
		Attributes: []Attribute{Number("attempts", 3), Text("text", "")}}})
	e.Close()
	if e.Sent.Load() != 1 || e.Dropped.Load() != 0 {
		t.Errorf("%d sent, %d dropped", e.Sent.Load(), e.Dropped.Load())
	}
	b := <-bodies
	var body struct {
		ResourceSpans []struct {
			ScopeSpans []struct{ Spans []map[string]any }
		}
	}
	if err := json.Unmarshal(b, &body); err != nil {
		t.Fatal(err)
	}
	s := body.ResourceSpans[0].ScopeSpans[0].Spans[0]
	if !regexp.MustCompile(`^[0-9a-f]{32}$`).MatchString(s["traceId"].(string)) || s["spanId"] != "0100000000000000" || s["startTimeUnixNano"] != "1152921504606846976" || s["kind"] != 2.0 {
		t.Errorf("%s", b)
	}
	if !regexp.MustCompile(`\{"key":"attempts","value":\{"intValue":"3"\}\},\{"key":"text","value":\{"stringValue":""\}\}`).Match(b) {
		t.Errorf("%s", b)
	}
}

func TestExporterDrops(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) }))
	defer server.Close()
	e := Start(Options{URL: server.URL})
	e.Add(make([]Span, 3))
	e.Close()
	if e.Dropped.Load() != 3 || e.Errors.Load() != 1 {
		t.Errorf("%d dropped, %d errors", e.Dropped.Load(), e.Errors.Load())
	}
	full := &Exporter{queue: make(chan []Span, 1)}
	full.Add(make([]Span, 1))
	full.Add(make([]Span, 2))
	if full.Dropped.Load() != 2 {
		t.Errorf("%d dropped", full.Dropped.Load())
	}
}
