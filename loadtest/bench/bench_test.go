package bench

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/metrics"
	"slices"
	"strings"
	"sync"
	"testing"

	"pmg/internal/testkit/testutil"
	"pmg/loadtest"
)

// build compiles a program of the module in a directory, and returns its path.
func build(t *testing.T, module, pkg string) (program string) {
	t.Helper()
	program = filepath.Join(t.TempDir(), filepath.Base(pkg))
	cmd := exec.Command("go", "build", "-pgo=off", "-o", program, pkg)
	cmd.Dir = module
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return program
}

// All measurements run for real, with few messages.
func TestMeasure(t *testing.T) {
	testutil.Long(t)
	o := Options{
		Architectures: []string{Pipeline, Classic}, Logs: []string{LogsNothing, LogsAll},
		Connections: []int{2}, Windows: []int{10}, Messages: 200, Rounds: 2,
	}
	pmg, pmgbench := build(t, "../..", "./cmd/pmg"), build(t, ".", "./cmd/pmgbench")
	o.Gateway, o.Echo = []string{pmg, "serve", "-c"}, []string{pmgbench, "echo"}
	o.Classic = o.Gateway // that it is measured, not what it is
	earlier := Point{Setting: Setting{Classic, LogsAll, 2, 10, "", ""}, Problems: []string{"measured anew"}}
	other := Point{Setting: Setting{Classic, LogsPDUs, 2, 10, "", ""}, Problems: []string{"kept"}}
	r := Results{Points: []Point{other, earlier}}
	if err := r.Matrix(context.Background(), o); err != nil {
		t.Fatal(err)
	}
	if len(r.Points) != 5 || !slices.Equal(r.Points[0].Problems, other.Problems) || r.Points[1].Setting != earlier.Setting {
		t.Fatalf("%d points: %+v", len(r.Points), r.Points)
	}
	for _, p := range r.Points[1:] {
		m := p.Median()
		if len(p.Problems) > 0 || len(p.Samples) != 2 || m[Throughput] <= 0 || m[CPU] <= 0 || m[Memory] <= 0 ||
			m[Goroutines] < 5 || m[Threads] < 2 || m[Load] <= 0 || m[P50] <= 0 || m[P50] > m[P999] {
			t.Errorf("%s: %v %v", p.Setting, p.Problems, m)
		}
		if p.Architecture == Pipeline && len(p.Stages) < 10 {
			t.Errorf("%s: stages %v", p.Setting, p.Stages)
		}
	}
	if c, err := Latency(context.Background(), o); err != nil || p50(c.Echo) <= 0 || p50(c.Gateway) <= 0 {
		t.Errorf("latency: %+v, %v", c, err)
	}
	backlogs, err := o.backlogs(context.Background(), 10, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range backlogs {
		if len(b.Dispatcher) != 2 || median(b.Dispatcher) <= 0 {
			t.Errorf("backlog: %+v", b)
		}
	}
	points, err := Stores(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	runs := 0.0 // of all: the runtime records one of eight, and some points have few
	for _, p := range points {
		m := p.Median()
		if len(p.Problems) > 0 || m[Throughput] <= 0 || m[Locks] < m[StoreLocks] || p.Store == Pebble && m[StoreLocks] <= 0 {
			t.Errorf("%s: %v %v", p.Setting, p.Problems, m)
		}
		runs += m[Runs]
	}
	if runs <= 0 {
		t.Error("no goroutine begins to run")
	}
	operated, err := Operate(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	allocations := 0.0 // of all: the runtime counts them when a span is full, and a part has few
	for _, s := range operated.Parts {
		if s[CPU] <= 0 || s[Written] <= 0 || s[Throughput] <= 0 {
			t.Errorf("operated: %v", s)
		}
		allocations += s[Allocations]
	}
	if len(operated.Parts) != operatedParts || allocations <= 0 {
		t.Errorf("operated: %d parts, %g allocations", len(operated.Parts), allocations)
	}
	points, err = Relay(context.Background(), o)
	if errors.Is(err, ErrNoHAProxy) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range points {
		if len(p.Problems) > 0 || p.Median()[CPU] <= 0 {
			t.Errorf("%s: %v %v", p.Setting, p.Problems, p.Median())
		}
	}
}

// The error for a gateway that does not start contains the gateway's message.
func TestChildFails(t *testing.T) {
	t.Parallel()
	o := Options{
		Gateway:       []string{"sh", "-c", "echo no such luck; exit 3"},
		Architectures: []string{Pipeline}, Logs: []string{LogsNothing},
		Connections: []int{1}, Windows: []int{1}, Messages: 100, Rounds: 1,
	}
	var r Results
	if err := r.Matrix(context.Background(), o); err != nil {
		t.Fatal(err)
	}
	if len(r.Points[0].Problems) != 1 || !strings.Contains(r.Points[0].Problems[0], "no such luck") {
		t.Errorf("problems: %q", r.Points[0].Problems)
	}
	if len(r.Faults()) != 1 || len(r.Checks()) != 0 {
		t.Errorf("faults %v, checks %v", r.Faults(), r.Checks())
	}
}

// The runtime records one of so many times that a goroutine begins to run.
func TestSwitchesRecorded(t *testing.T) {
	recorded := func() (n int64) {
		waits := []metrics.Sample{{Name: "/sched/latencies:seconds"}}
		metrics.Read(waits)
		for _, count := range waits[0].Value.Float64Histogram().Counts {
			n += int64(count)
		}
		return n * switchesRecorded
	}
	const turns = 100_000 // in each of which both goroutines wait once
	there, back := make(chan int), make(chan int)
	var other sync.WaitGroup
	other.Go(func() {
		for n := range there {
			back <- n
		}
	})
	before := recorded()
	for n := range turns {
		there <- n
		<-back
	}
	counted := recorded() - before
	close(there)
	other.Wait()
	if counted < turns*3/2 || counted > turns*3 {
		t.Errorf("%d switches counted, %d made", counted, 2*turns)
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	good := func() Options {
		return Options{Architectures: []string{Pipeline}, Logs: []string{LogsPDUs}, Connections: []int{1, 64}, Windows: []int{1, 10}, Messages: 1000, Rounds: 1}
	}
	for name, spoil := range map[string]func(*Options){
		"architecture": func(o *Options) { o.Architectures = []string{"modern"} },
		"logs":         func(o *Options) { o.Logs = []string{"some"} },
		"connections":  func(o *Options) { o.Connections = []int{0} },
		"rounds":       func(o *Options) { o.Rounds = 0 },
		"messages":     func(o *Options) { o.Messages = 0 },
	} {
		o := good()
		spoil(&o)
		if o.check() == nil {
			t.Errorf("wrong %s is accepted", name)
		}
	}
	o := good()
	if err := o.check(); err != nil {
		t.Error(err)
	}
	for _, want := range []struct {
		connections, window int
		messages            int64
		traffic             string
	}{
		{1, 1, 100, Submits}, {1, 10, 500, Submits}, {2, 10, 1000, Submits}, {64, 10, 1000, WithReceipts}, {64, 1, 100, HTTPKeyed},
	} {
		if n := o.messages(Setting{Connections: want.connections, Window: want.window, Traffic: want.traffic}); n != want.messages {
			t.Errorf("%+v: %d", want, n)
		}
	}
}

// of returns a point whose metrics have the same values in all rounds.
func of(s Setting, values map[Metric]float64) Point {
	p := Point{Setting: s, Samples: make([]Sample, 3)}
	for i := range p.Samples {
		for m, v := range values {
			p.Samples[i][m] = v
		}
	}
	return p
}

// results returns invented results: classic spends twice the CPU time, and has a
// goroutine per connection.
func results() *Results {
	r := &Results{Messages: 1000, Rounds: 3}
	for _, logs := range []string{LogsNothing, LogsPDUs, LogsAll} {
		for _, window := range []int{1, 10} {
			for _, connections := range []int{1, 2, 64} {
				r.Points = append(r.Points,
					of(Setting{Pipeline, logs, connections, window, "", ""}, map[Metric]float64{Throughput: 3000, CPU: 2, P50: 100, P99: 2000, Goroutines: 20, Memory: 20, PerLoad: 1, PerUsage: 1}),
					of(Setting{Classic, logs, connections, window, "", ""}, map[Metric]float64{Throughput: 2000, CPU: 4, P50: 120, P99: 900, Goroutines: float64(connections), Memory: 30, PerLoad: 1, PerUsage: 1}))
			}
		}
	}
	r.Relay = []Point{
		of(Setting{HAProxy, LogsNothing, 64, 10, "", ""}, map[Metric]float64{CPU: 1}),
		of(Setting{Pipeline, LogsNothing, 64, 10, "", ""}, map[Metric]float64{CPU: 2.1}),
		of(Setting{Pipeline, LogsPDUs, 64, 10, "", ""}, map[Metric]float64{CPU: 3.4}),
	}
	r.Echo = &EchoComparison{Echo: []loadtest.Latency{{P50: 10}}, Gateway: []loadtest.Latency{{P50: 15}}}
	r.Isolated = []Isolation{{Pipeline, []loadtest.Latency{{P99: 10}}, []loadtest.Latency{{P99: 30}}, []loadtest.Latency{{P99: 11}}}}
	r.Operated = &Operated{
		Setting: Setting{Pipeline, LogsOperated, 64, 10, Pebble, WithReceipts}, Messages: 600,
		Parts: []Sample{{CPU: 10, Written: 2000}, {CPU: 12, Written: 2600}},
	}
	r.Backlogs = []Backlog{{1000, []float64{0.1, 0.1}, []int64{900, 900}}, {1000000, []float64{0.15, 0.1}, []int64{1, 1}}}
	return r
}

func TestChecks(t *testing.T) {
	t.Parallel()
	failed := []string{}
	r := results()
	for _, c := range r.Checks() {
		if !c.Pass() {
			failed = append(failed, c.Target)
		}
	}
	want := []string{
		"CPU per message 64x10 none, pipeline / HAProxy",
		"CPU per message as operators run it, last quarter / first",
		"octets written per message as operators run it, last quarter",
		"p99 of others, client that does not read / alone",
		"dispatcher's work per message, backlog 1000000 / 1000",
	}
	if !slices.Equal(failed, want) {
		t.Errorf("failed: %q", failed)
	}
	var out bytes.Buffer
	if err := r.WriteText(&out); err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{"throughput 64x10 pdulog, pipeline / classic", "1.5", "≥ 1.3", "pass", "FAIL", "1x1: TCP echo", "to 1200"} {
		if !strings.Contains(out.String(), s) {
			t.Errorf("%q is missing in\n%s", s, out.String())
		}
	}
}

func TestMedian(t *testing.T) {
	t.Parallel()
	p := Point{Samples: []Sample{{Throughput: 30}, {Throughput: 10}, {Throughput: 20}}}
	if m := p.Median()[Throughput]; m != 20 {
		t.Errorf("median %v", m)
	}
	if s := p.Spread(Throughput); s != 0.5 {
		t.Errorf("spread %v", s)
	}
	if s := p.Spread(CPU); s != 0 {
		t.Errorf("spread of nothing %v", s)
	}
	if m := median([]float64{1, 4, 2, 3}); m != 2.5 {
		t.Errorf("median of four %v", m)
	}
}

func TestReport(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := results()
	if err := r.WriteReport(dir); err != nil {
		t.Fatal(err)
	}
	again, err := ReadResults(filepath.Join(dir, "results.json"))
	if err != nil {
		t.Fatal(err)
	}
	a, _ := json.Marshal(r)
	b, _ := json.Marshal(again)
	if !bytes.Equal(a, b) {
		t.Error("the results read are not those written")
	}
	page, err := os.ReadFile(filepath.Join(dir, "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(page), "<svg"); n != len(charts()) {
		t.Errorf("%d of %d charts in the page", n, len(charts()))
	}
	for _, s := range []string{"src=", "href=", "@import", "<?xml", "NaN"} {
		if strings.Contains(string(page), s) {
			t.Errorf("the page has %s in it", s)
		}
	}
	for _, c := range charts() {
		if png, err := os.ReadFile(filepath.Join(dir, c.Name+".png")); err != nil || !bytes.HasPrefix(png, []byte("\x89PNG")) {
			t.Errorf("%s: no image: %v", c.Name, err)
		}
	}
	file, err := os.Open(filepath.Join(dir, "results.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines, err := csv.NewReader(file).ReadAll()
	if want := 1 + 3*(len(r.Points)+len(r.Relay)); err != nil || len(lines) != want {
		t.Errorf("%d lines of CSV, want %d: %v", len(lines), want, err)
	}
}

// The tables say what the clients of a row have sent.
func TestStoresTables(t *testing.T) {
	t.Parallel()
	setting := Setting{Pipeline, LogsPDUs, 64, 1, Pebble, HTTPKeyed}
	points := []Point{of(setting, map[Metric]float64{Throughput: 1, StoreLocks: 1.5, Runs: 2.5})}
	if s := setting.String(); s != "pipeline pdulog 64x1 pebble http keys" {
		t.Errorf("setting %q", s)
	}
	for name, g := range map[string]grid{"all": storesGrid(points), "page": shortGrid(points)} {
		page := name == "page" // which has no columns for locks and goroutine switches
		row := map[string]string{}
		for i, head := range g.Head {
			row[head] = g.Rows[0][i]
		}
		if row["traffic"] != "http keys" || row["store"] != "pebble" || row["conns"] != "64" ||
			!page && (row["store lock"] != "1.50" || row["gor switch"] != "2.50") {
			t.Errorf("%s: %v", name, row)
		}
	}
}

// Charts without measured points are omitted.
func TestReportOfLittle(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := &Results{Points: []Point{of(Setting{Pipeline, LogsPDUs, 1, 1, "", ""}, map[Metric]float64{Throughput: 1, P50: 1, P99: 1})}}
	if err := r.WriteReport(dir); err != nil {
		t.Fatal(err)
	}
	images, _ := filepath.Glob(filepath.Join(dir, "*.png"))
	if len(images) != len(charts())/2 {
		t.Errorf("charts: %v", images)
	}
}

func TestMarkdownKeepsNotes(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "bench.md")
	r := results()
	if err := r.UpdateMarkdown(file, "bench"); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const note = "\n\nThe builder allocated.\n\n"
	noted := strings.Replace(string(page), notesBegin+"\n\n"+notesEnd, notesBegin+note+notesEnd, 1)
	if err := os.WriteFile(file, []byte(noted), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := r.UpdateMarkdown(file, "bench"); err != nil {
		t.Fatal(err)
	}
	if page, err = os.ReadFile(file); err != nil || string(page) != noted || !strings.Contains(noted, note) {
		t.Errorf("%v: got\n%s", err, page)
	}
	if !strings.Contains(noted, "](bench/throughput.png)") {
		t.Error("the charts are missing")
	}
}
