package history

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

// A gateway is what tests read: two connectors, the first of which leads to an SMSC.
type gateway struct{ Reading }

func two() *gateway {
	return &gateway{Reading{Memory: 1 << 20, Connectors: []Counts{{Name: "smsc", Out: true}, {Name: "clients"}}}}
}

func (g *gateway) read() Reading {
	l := g.Reading
	l.Connectors = append([]Counts(nil), g.Connectors...)
	return l
}

// last returns the last sample of a series.
func last(t *testing.T, r *Recorder, connector string) Sample {
	t.Helper()
	s := r.Series(connector)
	if s == nil || len(s.Samples) == 0 {
		t.Fatalf("no sample of %q", connector)
	}
	return s.Samples[len(s.Samples)-1]
}

// A sample is made every ten seconds while Run runs, and an hour of them is kept, each later than the one before.
func TestRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := two()
		r := New(OfConnectors, func() Reading {
			g.Connectors[0].Sent += 50
			return g.read()
		})
		ctx, stop := context.WithCancel(t.Context())
		go r.Run(ctx)
		time.Sleep(time.Second)
		if s := r.Series(""); len(s.Times) != 0 {
			t.Errorf("the first reading made %d samples", len(s.Times))
		}
		for _, c := range []struct {
			after time.Duration
			want  int
		}{{Period, 1}, {Period, 2}, {time.Hour - 2*Period, 360}, {time.Hour / 2, 360}} {
			time.Sleep(c.after)
			for _, name := range []string{"", "smsc", "clients"} {
				s := r.Series(name)
				if len(s.Times) != c.want || len(s.Samples) != c.want {
					t.Errorf("%q: %d times, %d samples, not %d", name, len(s.Times), len(s.Samples), c.want)
				}
				for i := 1; i < len(s.Times); i++ {
					if s.Times[i] != s.Times[i-1]+10 {
						t.Errorf("%d after %d", s.Times[i], s.Times[i-1])
					}
				}
				if now := time.Now().Unix(); s.Times[len(s.Times)-1] != now-1 {
					t.Errorf("the last is of %d, and it is %d", s.Times[len(s.Times)-1], now)
				}
			}
			if out := last(t, r, "")[Out]; out != 5 {
				t.Errorf("%v messages a second", out)
			}
		}
		stop()
		synctest.Wait()
		before := r.Series("").Times
		time.Sleep(time.Minute)
		if after := r.Series("").Times; after[len(after)-1] != before[len(before)-1] {
			t.Error("a sample was made after the end")
		}
	})
}

// The sums are what all connectors accept, what those to SMSCs send and have queued, and separately what waits for
// clients.
func TestWhole(t *testing.T) {
	t.Parallel()
	g, at := two(), time.Unix(1e9, 0)
	r := New(OfConnectors, g.read)
	r.Sample(at)
	smsc, clients := &g.Connectors[0], &g.Connectors[1]
	smsc.Accepted, smsc.Sent, smsc.Receipts, smsc.Waiting, smsc.Oldest = 10, 200, 40, 7, 3
	clients.Accepted, clients.Sent, clients.Refused, clients.Waiting, clients.Oldest = 300, 50, 20, 5, 2
	r.Sample(at.Add(10 * time.Second))
	if got := fmt.Sprint(last(t, r, "")); got != "[31 20 4 2 7 3 NaN NaN 5 1.048576e+06]" {
		t.Error(got)
	}
	if got := fmt.Sprint(last(t, r, "clients")); got != "[30 5 0 2 5 2 NaN NaN NaN NaN]" {
		t.Error(got)
	}
	g.Oldest = 9
	r.Sample(at.Add(20 * time.Second))
	if got := last(t, r, "")[Oldest]; got != 9 {
		t.Error(got)
	}
}

// A counter that goes back gives 0, as does what a connector has counted before the first reading at it. A connector that is gone
// takes its samples along.
func TestCountersGoBack(t *testing.T) {
	t.Parallel()
	g, at := two(), time.Unix(1e9, 0)
	r := New(OfConnectors, g.read)
	g.Connectors[0].Sent, g.Connectors[0].Answers[3] = 1000, 1000
	r.Sample(at)
	g.Connectors[0] = Counts{Name: "smsc", Out: true, Sent: 10}
	r.Sample(at.Add(10 * time.Second))
	if s := last(t, r, "smsc"); s[Out] != 0 || s.Known(Median) {
		t.Error(s)
	}
	g.Connectors = append(g.Connectors, Counts{Name: "new", Out: true, Sent: 1e6})
	g.Connectors[0].Sent += 30
	r.Sample(at.Add(20 * time.Second))
	if s := last(t, r, ""); s[Out] != 3 || len(r.Series("new").Samples) != 0 {
		t.Error(s, r.Series("new"))
	}
	g.Connectors[2].Sent += 100
	r.Sample(at.Add(30 * time.Second))
	if s := last(t, r, "new"); s[Out] != 10 || len(r.Series("new").Times) != 1 {
		t.Error(s, r.Series("new"))
	}
	g.Connectors = g.Connectors[:1]
	r.Sample(at.Add(40 * time.Second))
	if r.Series("new") != nil || r.Series("other") != nil || len(r.Series("smsc").Samples) != 4 {
		t.Error("the samples are not those of the connectors that there are")
	}
}

// The times of samples grow though the clock is set back.
func TestClockSetBack(t *testing.T) {
	t.Parallel()
	r, at := New(OfConnectors, two().read), time.Now()
	r.Sample(at)
	r.Sample(at.Add(Period))
	r.times[0] = at.Add(time.Hour).Unix() // the sample before was made by the clock of that time
	r.Sample(at.Add(2 * Period))
	if s := r.Series(""); len(s.Times) != 2 || s.Times[1] != s.Times[0]+1 {
		t.Error(s.Times)
	}
}

// Quantiles are near those of the answers: a bucket is twice as wide as the one before.
func TestQuantiles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		buckets map[int]int64
		want    string
	}{
		{nil, "NaN NaN"},
		{map[int]int64{0: 10}, "5e-07 9.5e-07"},                  // up to 1 µs
		{map[int]int64{10: 100}, "0.000768 0.0009984"},           // 512 to 1024 µs
		{map[int]int64{10: 90, 15: 10}, "0.0007964444 0.024576"}, // 16 to 32 ms
		{map[int]int64{27: 1}, "67.108864 67.108864"},            // above all bounds
	} {
		var a Answers
		for i, n := range c.buckets {
			a[i] = n
		}
		if got := fmt.Sprint(a.quantile(0.5), a.quantile(0.95)); got != c.want {
			t.Errorf("%v: %s, not %s", c.buckets, got, c.want)
		}
	}
}

// docs/web.md describes each figure.
func TestDocument(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("../../docs/web.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range Names() {
		if !bytes.Contains(b, []byte("`"+name+"`")) {
			t.Errorf("docs/web.md does not have %s", name)
		}
	}
}

// JSON has a list for each figure, as long as that of the times, with null for what is not known.
func TestJSON(t *testing.T) {
	t.Parallel()
	g, at := two(), time.Unix(1e9, 0)
	r := New(OfConnectors, g.read)
	want := func(connector, want string) {
		t.Helper()
		b, err := json.Marshal(r.Series(connector))
		if err != nil || string(b) != want {
			t.Errorf("%v\n%s\n%s", err, b, want)
		}
	}
	r.Sample(at)
	want("", `{"answer_median_seconds":[],"answer_p95_seconds":[],"in":[],"memory_octets":[],"oldest_seconds":[],"out":[],"period_seconds":10,"receipts":[],"refused":[],"time":[],"waiting":[],"waiting_for_clients":[]}`)
	g.Connectors[0].Sent, g.Connectors[0].Waiting = 15, 123456
	r.Sample(at.Add(Period))
	want("smsc", `{"answer_median_seconds":[null],"answer_p95_seconds":[null],"connector":"smsc","in":[0],"oldest_seconds":[0],"out":[1.5],"period_seconds":10,"receipts":[0],`+
		`"refused":[0],"time":[1000000010],"waiting":[123456]}`)
}
