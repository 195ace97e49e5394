// Command figures runs a built pmg as a process and measures the effect of hostile clients
// and a misbehaving SMSC: the figures in docs/limits.md.
//
//	make build && go run ./loadtest/figures --pmg bin/pmg
//	go run ./loadtest/figures --pmg bin/pmg --only login,rate --architecture classic
//
// Every figure has a gateway of its own, on loopback, with a configuration that sets only
// the options that the figure needs. Attackers connect from 127.0.0.2, honest clients from
// 127.0.0.1. The command prints a line for each result immediately, and a table in Markdown
// at the end.
//
// # Start reading
//
// main.go (the list of figures), gateway.go (the process), client.go (an SMPP
// client that misbehaves), then the file of a figure.
package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// A figure measures one thing on a gateway of the architecture.
type figure struct {
	name, question string
	run            func(*bench) error
}

func figures() []figure {
	return []figure{
		{"idle", "1,500 idle connections of one address: can others log in?", idle},
		{"login", "guesses of one address that hang up: how many are checked, and can the client with the right password log in?", guesses},
		{"rate", "an account's rate of 100 over reconnects: how many messages are accepted?", rates},
		{"closes", "an SMSC that closes after each login: connections in 10 s", closes},
		{"flood", "keep-alives of 4 connections before a login: pdu log of a minute", flood},
		{"large", "50,000 messages of 65,000 octets for an SMSC that is down: memory", large},
		{"small", "1,000,000 small messages for an SMSC that is down: memory, and after they are sent", small},
	}
}

// A bench holds the parameters of a figure, and collects its results.
type bench struct {
	pmg          string
	architecture string
	figure       string
	scale        float64 // of durations and numbers
	rows         *[]row
}

// A row is one result.
type row struct{ figure, name, architecture, value string }

// record prints and stores a result.
func (b *bench) record(name, value string, args ...any) {
	value = fmt.Sprintf(value, args...)
	fmt.Printf("%-8s %-8s %s: %s\n", b.architecture, b.figure, name, value)
	*b.rows = append(*b.rows, row{b.figure, name, b.architecture, value})
}

// scaledTime returns a duration at the bench's scale.
func (b *bench) scaledTime(d time.Duration) time.Duration {
	return time.Duration(float64(d) * b.scale)
}

// scaled returns a number at the bench's scale.
func (b *bench) scaled(n int) int { return max(int(float64(n)*b.scale), 1) }

func main() {
	pmg := flag.String("pmg", "bin/pmg", "the program to measure")
	only := flag.String("only", "", "names of figures, separated by commas; all when empty")
	architecture := flag.String("architecture", "pipeline,classic", "architectures, separated by commas")
	scale := flag.Float64("scale", 1, "factor for durations and numbers, to try the program out")
	flag.Parse()
	var rows []row
	failed := false
	for _, a := range strings.Split(*architecture, ",") {
		for _, f := range figures() {
			if *only != "" && !slices.Contains(strings.Split(*only, ","), f.name) {
				continue
			}
			b := &bench{pmg: *pmg, architecture: a, figure: f.name, scale: *scale, rows: &rows}
			if err := f.run(b); err != nil {
				fmt.Fprintf(os.Stderr, "cannot measure %s of %s: %v\n", f.name, a, err)
				failed = true
			}
		}
	}
	printTable(rows)
	if failed {
		os.Exit(1)
	}
}

// printTable prints the rows with a column for each architecture.
func printTable(rows []row) {
	var architectures []string
	var what []string
	values := map[string]string{}
	for _, r := range rows {
		key := r.figure + ": " + r.name
		if !slices.Contains(architectures, r.architecture) {
			architectures = append(architectures, r.architecture)
		}
		if !slices.Contains(what, key) {
			what = append(what, key)
		}
		values[key+r.architecture] = r.value
	}
	fmt.Printf("\n| | %s |\n|---|%s\n", strings.Join(architectures, " | "), strings.Repeat("---|", len(architectures)))
	for _, w := range what {
		line := "| " + w
		for _, a := range architectures {
			line += " | " + values[w+a]
		}
		fmt.Println(line + " |")
	}
}
