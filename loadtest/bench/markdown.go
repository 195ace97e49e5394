package bench

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"
)

// The text between these lines of a page is written by hand and kept.
const (
	notesBegin = "<!-- notes: kept when the page is made anew -->"
	notesEnd   = "<!-- end of notes -->"
)

// UpdateMarkdown writes the results as a page whose charts are in chartsDir, which is
// relative to the page. It keeps the notes of an existing page.
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

// notesOf returns the text of a page that was written by hand.
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

%s writes this page. %s has what was found, every setting, column
and chart, and results.csv beside it every round.

%s: %s, %d cores shared by gateway, load and sink, %s, %s, pmg %s. %d messages a run, fewer with few
requests under way; medians of %d rounds, architectures in turn. Compare figures within this page only.

`, "`bin/pmgbench --all --report docs/bench --markdown docs/bench.md`", "`"+path.Join(chartsDir, "index.html")+"`",
		r.Began.Format(time.DateOnly), r.Machine.CPU, r.Machine.Cores, r.Machine.System, r.Machine.Go, r.Version, r.Messages,
		r.Rounds)
	fmt.Fprintf(&b, "%s%s%s\n", notesBegin, notes, notesEnd)
	section(&b, titled{"Targets that are missed", r.missedGrid()})
	section(&b, titled{"With a pdu log", shortGrid(few(logged(r.Points)))})
	section(&b, titled{"Beside HAProxy, and on disk before the answer", shortGrid(append(slices.Clip(r.Relay), r.Stores...))})
	section(&b, titled{"Quarters of a long run as operators run it", r.operatedGrid()})
	b.WriteString("\n")
	for _, m := range shortColumns() {
		fmt.Fprintf(&b, "- *%s*: %s\n", m.info().head, m.info().help)
	}
	b.WriteString("\n")
	for _, c := range charts() {
		if c.metric == Throughput && c.measured(r.Points) {
			fmt.Fprintf(&b, "![%s](%s)\n", c.Title, path.Join(chartsDir, c.Name+".png"))
		}
	}
	for _, fault := range r.Faults() {
		fmt.Fprintf(&b, "\nNot measured: %s\n", fault)
	}
	return b.Bytes()
}

// few returns the points of the page: those of one connection, of many and of most, with a window of 10.
func few(points []Point) (kept []Point) {
	for _, p := range points {
		if p.Window == 10 && (p.Connections == 1 || p.Connections >= 64) {
			kept = append(kept, p)
		}
	}
	return kept
}

// section writes a table under a title, or nothing if the table has no rows.
func section(b *bytes.Buffer, t titled) {
	if len(t.Grid.Rows) == 0 {
		return
	}
	fmt.Fprintf(
		b, "\n## %s\n\n| %s |\n|%s\n", t.Title, strings.Join(t.Grid.Head, " | "), strings.Repeat("---|", len(t.Grid.Head)),
	)
	for _, row := range t.Grid.Rows {
		fmt.Fprintf(b, "| %s |\n", strings.Join(row, " | "))
	}
}
