// Command mutate measures how well the tests of a package find faults in it. It makes small faults (mutants): it negates a
// condition, moves a comparison by one, omits a side of && or || or a whole statement, increments a number, or drops an error.
// All mutants are compiled into the package once, and a variable of the environment switches one of them on. For each mutant
// the tests that execute it are run. A test that fails has killed it. A mutant that no test kills is printed as a survivor.
//
//	go run ./internal/mutate -pkg ./sms/fit -n 100
//	go run ./internal/mutate -pkg ./gateway -files 'receipt.*|orphans' -n 40 -with ./internal/e2e,./internal/simulation
//
// A survivor needs a look, and is not always a gap: some mutants change nothing that a user could see.
//
// # Start reading
//
// points.go finds the places and rewrites the source; run.go builds and runs.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// Options are the options of a run.
type Options struct {
	Package  string        // directory of the package whose source is changed
	Files    string        // pattern of the names of the files that are changed, without .go; empty: all
	Tests    []string      // directories of the packages whose tests run, the package itself first
	Count    int           // number of mutants; 0: all
	Seed     int64         // selects the mutants
	Patience time.Duration // time limit of the tests for one mutant
	Log      func(format string, args ...any)
}

func main() {
	o := Options{Log: func(format string, args ...any) { fmt.Printf(format+"\n", args...) }}
	var with string
	flag.StringVar(&o.Package, "pkg", "", "directory of the package that is changed, such as ./sms/fit")
	flag.StringVar(
		&o.Files, "files", "",
		"regular expression of the names of the files that are changed, without .go, such as 'receipt.*|parts'; empty is all",
	)
	flag.StringVar(
		&with, "with", "", "further packages, divided by commas, whose tests run against survivors of the package's own",
	)
	flag.IntVar(&o.Count, "n", 50, "how many mutants, chosen at random; 0 is all")
	flag.Int64Var(&o.Seed, "seed", 1, "chooses the mutants")
	flag.DurationVar(
		&o.Patience, "patience", 2*time.Minute,
		"time limit of the tests of one mutant; a mutant that takes longer counts as killed",
	)
	flag.Parse()
	if o.Package == "" || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "mutate: name a package: go run ./internal/mutate -pkg ./sms/fit -n 100")
		os.Exit(2)
	}
	o.Tests = append([]string{o.Package}, strings.FieldsFunc(with, func(r rune) bool { return r == ',' })...)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM) // ends running tests, too
	defer stop()
	r, err := Run(ctx, o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
	fmt.Printf(
		"%s: %d mutants: %d killed, %d survived, of which no test executes %d\n", o.Package, len(r.Mutants), r.Killed,
		len(r.Mutants)-r.Killed, r.Idle,
	)
}
