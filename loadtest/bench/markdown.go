package bench

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"
)

// What stands between these lines in a page is written by hand and kept.
const (
	notesBegin = "<!-- notes: kept when the page is made anew -->"
	notesEnd   = "<!-- end of notes -->"
)

// UpdateMarkdown writes the results as a page, whose charts are in a directory
// relative to it. Notes in a page that is there already stay.
func (r *Results) UpdateMarkdown(file, chartsDir string) error {
	before, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cannot read page: %w", err)
	}
	if err := os.WriteFile(file, r.markdown(notesOf(string(before)), chartsDir), 0o644); err != nil {
		return fmt.Errorf("cannot write page: %w", err)
	}
	return nil
}

// notesOf returns what was written by hand.
func notesOf(page string) string {
	_, rest, found := strings.Cut(page, notesBegin)
	notes, _, ended := strings.Cut(rest, notesEnd)
	if !found || !ended {
		return "\n\n"
	}
	return notes
}

func (r *Results) markdown(notes, chartsDir string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `# Bench

Made by %s; %s has the same with all charts. %s makes it again.

%s: %s, %d cores shared by gateway, load and sink, %s, %s, pmg %s. Messages a
run: %d, fewer where little is under way; rounds: %d, medians shown, architectures in turn. Compare
figures within this page only: machines differ, and drift.

## What it shows

`, "`pmgbench`", "`"+path.Join(chartsDir, "index.html")+"`", "`bin/pmgbench --all --report docs/bench --markdown docs/bench.md`",
		r.Began.Format(time.DateOnly), r.Machine.CPU, r.Machine.Cores, r.Machine.System, r.Machine.Go, r.Version, r.Messages, r.Rounds)
	for _, s := range r.findings() {
		fmt.Fprintf(&b, "- %s\n", s)
	}
	fmt.Fprintf(&b, "\n## What was found while tuning\n\n%s%s%s\n", notesBegin, notes, notesEnd)
	section(&b, r.targets())
	if len(r.Points) > 0 {
		b.WriteString("\n## Charts\n\n")
		for _, c := range charts() {
			if c.measured(r.Points) {
				fmt.Fprintf(&b, "![%s](%s)\n", c.Title, path.Join(chartsDir, c.Name+".png"))
			}
		}
		section(&b, titled{"The report's Table 4.1", r.table41()})
	}
	for _, t := range r.tables() {
		section(&b, t)
	}
	b.WriteString("\n## Columns\n\n")
	for _, m := range Metrics() {
		fmt.Fprintf(&b, "- *%s*: %s\n", m.info().head, m.info().help)
	}
	b.WriteString("- *±%*: half the range over the rounds, by the median\n")
	for _, fault := range r.Faults() {
		fmt.Fprintf(&b, "\nNot measured: %s\n", fault)
	}
	return b.Bytes()
}

// section writes a table under a title, or nothing where there is none.
func section(b *bytes.Buffer, t titled) {
	if len(t.Grid.Rows) == 0 {
		return
	}
	fmt.Fprintf(b, "\n## %s\n\n| %s |\n|%s\n", t.Title, strings.Join(t.Grid.Head, " | "), strings.Repeat("---|", len(t.Grid.Head)))
	for _, row := range t.Grid.Rows {
		fmt.Fprintf(b, "| %s |\n", strings.Join(row, " | "))
	}
}
