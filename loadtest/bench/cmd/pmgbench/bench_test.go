package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pmg/internal/testkit/documents"
	"pmg/loadtest/bench"
)

// Earlier results can be shown again without measuring.
func TestBenchFromResults(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	point := bench.Point{Setting: bench.Setting{Architecture: bench.Pipeline, Logs: bench.LogsNothing, Connections: 64, Window: 10}}
	point.Samples = []bench.Sample{{bench.Throughput: 12345, bench.P50: 1, bench.P99: 2}}
	earlier := &bench.Results{Messages: 1000, Rounds: 1, Points: []bench.Point{point}}
	file := filepath.Join(dir, "earlier.json")
	if err := writeFile(file, earlier.WriteJSON); err != nil {
		t.Fatal(err)
	}
	page, csv := filepath.Join(dir, "bench.md"), filepath.Join(dir, "bench.csv")
	out := runBench(t, "--from", file, "--report", filepath.Join(dir, "charts"), "--markdown", page, "--csv", csv)
	if !strings.Contains(out, "12345") {
		t.Errorf("printed: %s", out)
	}
	for name, want := range map[string]string{page: "](charts/throughput.png)", csv: "pipeline,none,64,10,,,1,12345", filepath.Join(dir, "charts", "index.html"): "<svg"} {
		if b, err := os.ReadFile(name); err != nil || !strings.Contains(string(b), want) {
			t.Errorf("%s: %v, without %q", name, err, want)
		}
	}
}

// Results of one machine are not completed on another, and a failure leaves files unchanged.
func TestBenchThatFailsWritesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	elsewhere := &bench.Results{Machine: bench.Machine{CPU: "abacus"}}
	file, page := filepath.Join(dir, "earlier.json"), filepath.Join(dir, "bench.md")
	if err := writeFile(file, elsewhere.WriteJSON); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		"another machine": {"--from", file, "--latency", "--markdown", page},
		"cannot log":      {"--logs", "everything", "--markdown", page},
		"cannot read":     {"--from", filepath.Join(dir, "none.json"), "--markdown", page},
	} {
		cmd := newRootCommand()
		cmd.SetArgs(args)
		cmd.SetOut(&bytes.Buffer{})
		cmd.SetErr(&bytes.Buffer{})
		if err := cmd.Execute(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", args, err)
		}
		if _, err := os.Stat(page); err == nil {
			t.Errorf("%v: a page was written", args)
		}
	}
}

func runBench(t *testing.T, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	cmd := newRootCommand()
	cmd.SetArgs(args)
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	if err := cmd.Execute(); err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	return out.String()
}

// The commands in documents exist, with the flags that stand there.
func TestDocumentsCommands(t *testing.T) {
	t.Parallel()
	documents.CheckCommands(t, "../../../..", newRootCommand)
}
