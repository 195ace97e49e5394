package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pmg/internal/console"
	"pmg/loadtest"
	"pmg/loadtest/bench"
	"pmg/loadtest/progress"
)

// benchFlags holds the flags of pmgbench.
type benchFlags struct {
	bench.Options
	gateway string          // the pmg to measure; "": the one in the directory of this program
	wanted  map[string]bool // the measurements to make, by name

	all, quick, asJSON          bool
	from, csv, report, markdown string // files and a directory
}

// A measurement is asked for by a flag of its name; the matrix, which has no help, by none of them.
type measurement struct {
	name, help string
	run        func() error
}

// measurements returns all measurements, which add to the results.
func (f *benchFlags) measurements(ctx context.Context, r *bench.Results) []measurement {
	return []measurement{
		{"matrix", "", func() error { return r.Matrix(ctx, f.Options) }},
		{"relay", "compare with HAProxy, 64 and 2 connections",
			func() (err error) { r.Relay, err = bench.Relay(ctx, f.Options); return err }},
		{"stores", "compare messages in memory with messages on disk before they are answered",
			func() (err error) { r.Stores, err = bench.Stores(ctx, f.Options); return err }},
		{"operated", "measure the quarters of one long run as operators run a gateway: 12 times --messages",
			func() (err error) { r.Operated, err = bench.Operate(ctx, f.Options); return err }},
		{"latency", "compare one connection's latency with a TCP echo",
			func() (err error) { r.Echo, err = bench.Latency(ctx, f.Options); return err }},
		{"isolation", "measure latency beside clients and SMSCs that misbehave",
			func() (err error) { r.Isolated, err = bench.Isolate(ctx, f.Options); return err }},
		{"backlog", "measure the dispatcher's work when many messages wait",
			func() (err error) { r.Backlogs, err = bench.Backlogs(ctx, f.Options); return err }},
	}
}

func newRootCommand() *cobra.Command {
	var f benchFlags
	cmd := &cobra.Command{
		Use:           "pmgbench",
		Short:         "Measure the architectures against each other, a TCP relay and an echo",
		Version:       version,
		SilenceUsage:  true,
		SilenceErrors: true,
		Long: `Runs the gateway as a process of its own between a load and a sink, over
connections x window x logs x architecture, and prints a table: messages a second
through to the sink, latency of answers, CPU time per message, throughput by load
(threads that run or wait for a core) and by cores used, peak memory, goroutines,
threads, and context switches, goroutine switches, allocations, mutex acquisitions and
handle-count changes per message. Figures are medians over the rounds, ±% is half the range.
Then it prints which of the project's targets are reached. The full matrix takes
about 15 minutes, --quick less than one.

--relay, --stores, --operated, --latency, --isolation and --backlog are other measurements,
which are made instead of the matrix (several may be given; --all makes all of them and the
matrix): CPU time compared with HAProxy relaying the same traffic; messages in memory and
messages that are on disk before they are answered, also with a receipt for each, immediately or
half a second late, and by HTTP with idempotency keys; a long run as operators run a gateway,
with disk, pdu log, events, statistics and receipts, of which each quarter is a line; latency on one connection and that of a TCP echo server, each
on another processor than its client; latency of other clients beside a client that does
not read and an SMSC that does not answer; the dispatcher's work per message while a
million messages wait and while a thousand do, which takes 1 GB of memory.

--from reads earlier results instead of measuring. Measurements that are asked for in
addition are made again, on the same machine, with as many rounds and messages, and
replace those of the file; for the matrix, --connections, --windows, --logs and
--architectures select the settings. --report writes index.html with charts, the charts
as PNG files, results.json and results.csv; --markdown writes the page docs/bench.md and
keeps its notes.

The pipeline is measured as pmg serve runs it, or what --gateway names. The architecture
classic, two goroutines for each connection and locks, was frozen at an earlier revision:
make bench builds it from there, as pmgbench-classic beside pmgbench.

Load and sink share one core, like those of pmgload. GOMAXPROCS, if it is set,
applies to them and to the gateway. A target that is missed is reported and is not an
error: the exit status is 1 only when a run failed or lost messages.`,
		Example: `  pmgbench --quick
  pmgbench --connections 1,64 --windows 10 --logs none,pdulog --messages 20000 --csv bench.csv
  pmgbench --relay --latency
  pmgbench --protocol ucp --connections 64 --windows 10 --logs pdulog
  pmgbench --all --report docs/bench --markdown docs/bench.md
  pmgbench --from docs/bench/results.json --report docs/bench --markdown docs/bench.md`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.quick {
				f.applyQuick(cmd)
			}
			return f.run(cmd)
		},
	}
	f.addTo(cmd)
	cmd.AddCommand(newEchoCommand())
	return cmd
}

// addTo defines the flags.
func (f *benchFlags) addTo(cmd *cobra.Command) {
	s := cmd.Flags()
	s.StringVar(&f.gateway, "gateway", "", "the `pmg` that runs the pipeline (default: the one in the directory of pmgbench)")
	s.StringVar(&f.Protocol, "protocol", "smpp", "the protocol of clients and SMSC: smpp or ucp; the results do not name it")
	s.StringSliceVar(&f.Architectures, "architectures", []string{bench.Pipeline, bench.Classic}, "the architectures to compare")
	s.StringSliceVar(
		&f.Logs, "logs", []string{bench.LogsNothing, bench.LogsPDUs, bench.LogsAll},
		"the amounts to log: none, pdulog, or debug with pdu log",
	)
	s.IntSliceVar(&f.Connections, "connections", []int{1, 2, 4, 16, 64, 256}, "how many connections")
	s.IntSliceVar(&f.Windows, "windows", []int{1, 10}, "submits unanswered on each, on either side of the gateway")
	s.Int64Var(&f.Messages, "messages", 200_000, "messages in a run; fewer where connections x windows is below 20")
	s.IntVar(&f.Rounds, "rounds", 3, "how often each setting is measured")
	s.IntVar(&f.SMSCSessions, "smsc-sessions", 0, "sessions from the gateway to the sink; 0: as many as connections")
	for _, m := range f.measurements(cmd.Context(), nil) {
		if m.help != "" {
			s.Bool(m.name, false, m.help)
		}
	}
	s.BoolVar(&f.all, "all", false, "measure everything")
	s.BoolVar(&f.quick, "quick", false, "measure fewer settings: under a minute for the matrix")
	s.BoolVar(&f.asJSON, "json", false, "print the results as JSON")
	s.StringVar(&f.from, "from", "", "read earlier results from this JSON `file`")
	s.StringVar(&f.csv, "csv", "", "write one line per run to this `file`")
	s.StringVar(&f.report, "report", "", "write a page with charts, and the results, to this `directory`")
	s.StringVar(&f.markdown, "markdown", "", "write the results as a page to this `file`")
	for _, published := range []string{"from", "report", "markdown"} { // these are of SMPP
		cmd.MarkFlagsMutuallyExclusive("protocol", published)
	}
}

// applyQuick reduces the options that were not given.
func (f *benchFlags) applyQuick(cmd *cobra.Command) {
	given := cmd.Flags().Changed
	if !given("connections") {
		f.Connections = []int{1, 64}
	}
	if !given("logs") {
		f.Logs = []string{bench.LogsNothing, bench.LogsPDUs}
	}
	if !given("messages") {
		f.Messages = 50_000
	}
	if !given("rounds") {
		f.Rounds = 1
	}
}

func (f *benchFlags) run(cmd *cobra.Command) error {
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("cannot find this program: %w", err)
	}
	gateway := cmp.Or(f.gateway, filepath.Join(filepath.Dir(program), "pmg"))
	f.Gateway, f.Echo = []string{gateway, "serve", "-c"}, []string{program, "echo"}
	f.Classic = []string{program + "-classic", "serve", "--architecture", bench.Classic, "-c"}
	results := &bench.Results{}
	if f.from != "" {
		if results, err = bench.ReadResults(f.from); err != nil {
			return err
		}
	}
	f.wanted = map[string]bool{}
	for _, m := range f.measurements(cmd.Context(), nil) {
		if one, _ := cmd.Flags().GetBool(m.name); one || f.all {
			f.wanted[m.name] = true
		}
	}
	given := cmd.Flags().Changed
	chosen := given("connections") || given("windows") || given("logs") || given("architectures")
	if f.from == "" && len(f.wanted) == 0 || f.from != "" && chosen {
		f.wanted["matrix"] = true
	}
	measures := len(f.wanted) > 0
	switch {
	case f.from == "":
		results.Began, results.Version, results.Machine = time.Now().UTC(), version, bench.ThisMachine()
		results.Messages, results.Rounds = f.Messages, f.Rounds
	case measures && results.Machine != bench.ThisMachine():
		return fmt.Errorf("cannot add to %s: its results are of another machine", f.from)
	default:
		f.Messages, f.Rounds = results.Messages, results.Rounds
		if measures && !strings.HasSuffix(results.Version, version) {
			results.Version += ", in part " + version
		}
	}
	ctx, stop := console.Interruptible(cmd.Context())
	defer stop()
	err = f.measure(ctx, cmd.ErrOrStderr(), results)
	if err == nil { // files are not replaced by incomplete results
		err = f.write(results)
	}
	return errors.Join(f.print(cmd.OutOrStdout(), results), err, console.ProblemsError(results.Faults()))
}

func (f *benchFlags) print(w io.Writer, r *bench.Results) error {
	if f.asJSON {
		return r.WriteJSON(w)
	}
	return r.WriteText(w)
}

// measure makes the measurements that were asked for and adds them to the results.
func (f *benchFlags) measure(ctx context.Context, w io.Writer, r *bench.Results) error {
	defer loadtest.OneCore()()
	for _, part := range f.measurements(ctx, r) {
		if !f.wanted[part.name] {
			continue
		}
		var p *progress.Bar
		f.Progress = func(done, of int, step string) {
			if p == nil {
				p = progress.New(w, int64(of), 0)
			}
			p.Show(int64(done), fmt.Sprintf("%s %d/%d %s", part.name, done, of, step))
		}
		err := part.run()
		if p != nil {
			p.End()
		}
		if errors.Is(err, bench.ErrNoHAProxy) {
			fmt.Fprintln(w, "skipped:", err)
		} else if err != nil {
			return err
		}
	}
	return nil
}

// write writes the results to the files that were asked for.
func (f *benchFlags) write(r *bench.Results) error {
	if f.csv != "" {
		if err := writeFile(f.csv, r.WriteCSV); err != nil {
			return err
		}
	}
	if f.report != "" {
		if err := r.WriteReport(f.report); err != nil {
			return err
		}
	}
	if f.markdown != "" {
		charts, err := filepath.Rel(filepath.Dir(f.markdown), cmp.Or(f.report, filepath.Dir(f.markdown)))
		if err != nil {
			return fmt.Errorf("cannot find the charts from %s: %w", f.markdown, err)
		}
		return r.UpdateMarkdown(f.markdown, charts)
	}
	return nil
}

// writeFile creates a file and calls content to write it.
func writeFile(name string, content func(io.Writer) error) error {
	file, err := os.Create(name)
	if err != nil {
		return fmt.Errorf("cannot write file: %w", err)
	}
	err = content(file)
	if cerr := file.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", name, err)
	}
	return nil
}
