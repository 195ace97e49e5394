package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"pmg/admin"
)

// statusText returns a gateway's status as tables, with rates since before if before is
// an earlier status of the same process. Strings of the answer are passed through
// printable, because the server may not be a gateway.
func statusText(before, s *admin.Status, allAccounts bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "pmg %s, %s, up %s, ", printable(s.Version), printable(s.Architecture), span(s.Time.Sub(s.Started).Seconds()))
	if len(s.NotReady) == 0 {
		b.WriteString("ready\n")
	} else {
		fmt.Fprintf(&b, "not ready: %s\n", printable(strings.Join(s.NotReady, "; ")))
	}
	for _, problem := range s.Problems {
		fmt.Fprintf(&b, "problem: %s\n", printable(problem))
	}
	fmt.Fprintf(&b, "unrouted messages %d, parked %d, quarantined %d, live jobs %d\n", s.Unrouted, s.Parked, s.Quarantined, s.Jobs)
	if r := &s.Receipts; r.Matched+r.Unmatched+r.Own+r.Unwanted+r.Homeless > 0 || s.Orphans > 0 {
		fmt.Fprintf(&b, "receipts matched %d, unmatched %d, own %d, orphans %d", r.Matched, r.Unmatched, r.Own, s.Orphans)
		for _, rare := range []struct {
			name string
			n    int64
		}{{"adopted", r.Adopted}, {"unwanted", r.Unwanted}, {"homeless", r.Homeless}} {
			if rare.n > 0 {
				fmt.Fprintf(&b, ", %s %d", rare.name, rare.n)
			}
		}
		b.WriteString("\n")
		writeForms(&b, s.Operators)
	}
	writeStore(&b, s.Store)
	b.WriteString("\n")
	connectorTable(before, s).write(&b)
	writeTroubles(&b, s)
	writeAccounts(&b, s, allAccounts)
	sessionTable(s).write(&b)
	stageTable(s).write(&b)
	return b.String()
}

// writeForms writes which operators write ids in receipts otherwise than in answers, or may do so, in a line.
func writeForms(b *strings.Builder, operators []admin.Operator) {
	var others []string
	for _, o := range operators {
		if o.ReceiptIDs != admin.SameIDs {
			others = append(others, printable(o.Name)+" "+printable(o.ReceiptIDs))
		}
	}
	if len(others) > 0 {
		fmt.Fprintf(b, "ids in receipts: %s\n", strings.Join(others, ", "))
	}
}

// writeStore writes what an operator needs to know of the store, in a line, and another for
// what is wrong with it.
func writeStore(b *strings.Builder, s *admin.Store) {
	if s == nil {
		return
	}
	fmt.Fprintf(b, "store %s: messages %d, %s on disk, commits %d, a mean one of %.1f changes in %s, the longest in %s",
		printable(s.Engine), s.Messages, size(s.Octets), s.Commits, float64(s.Changes)/float64(max(s.Commits, 1)),
		dash(span(s.CommitSeconds/float64(max(s.Commits, 1)))), dash(span(s.LongestSeconds)))
	if s.MinFree > 0 {
		fmt.Fprintf(b, ", %s free", size(s.Free))
	}
	if !s.Recovered {
		b.WriteString(", messages of earlier runs are still being read")
	}
	b.WriteString("\n")
	for _, wrong := range []string{s.Refuses, s.Problem} {
		if wrong != "" {
			fmt.Fprintf(b, "store %s: %s\n", printable(s.Engine), printable(wrong))
		}
	}
}

// size formats octets.
func size(octets int64) string { return fmt.Sprintf("%.1f MiB", float64(octets)/(1<<20)) }

func connectorTable(before, s *admin.Status) *table {
	t := newTable(3, append([]string{"connector", "direction", "state", "sessions", "in flight", "queued", "oldest", "answer"},
		admin.Columns(admin.Connector{})...)...)
	rated := before != nil && before.Started.Equal(s.Started) && s.Time.After(before.Time)
	old := map[string]admin.Connector{}
	if rated {
		t.rows[0] = append(t.rows[0], "accepted/s", "sent/s")
		for _, c := range before.Connectors {
			old[c.Name] = c
		}
	}
	for _, c := range s.Connectors {
		row := append([]string{c.Name, c.Direction, c.State,
			of(int64(c.Sessions), c.Instances), of(c.InFlight, c.Windows), queued(c),
			span(c.OldestSeconds), span(c.Answers.MeanSeconds)}, admin.Cells(c)...)
		if rated {
			seconds := s.Time.Sub(before.Time).Seconds()
			row = append(row, rate(c.Accepted-old[c.Name].Accepted, seconds), rate(c.Sent-old[c.Name].Sent, seconds))
		}
		t.add(row...)
	}
	return t
}

// writeTroubles writes the reasons why connectors have no session, one per line.
func writeTroubles(b *strings.Builder, s *admin.Status) {
	printed := false
	for _, c := range s.Connectors {
		if c.Held != nil {
			printed = true
			fmt.Fprintf(b, "%s: %s\n", printable(c.Name), heldText(c.Held, s.Time))
		}
		t := c.Trouble
		if t == nil {
			continue
		}
		printed = true
		fmt.Fprintf(b, "%s: for %s: %s", printable(c.Name), dash(span(s.Time.Sub(t.Since).Seconds())), printable(t.Reason))
		if wait := t.Next.Sub(s.Time); wait > 0 {
			fmt.Fprintf(b, "; next attempt in %s", span(wait.Seconds()))
		}
		b.WriteString("\n")
	}
	if printed {
		b.WriteString("\n")
	}
}

// heldText says that an operator holds a connector.
func heldText(h *admin.Held, now time.Time) string {
	text := "held for " + dash(span(now.Sub(h.Since).Seconds())) + " by the operator at " + printable(h.By)
	if h.Until.IsZero() {
		return text + ", until it is released"
	}
	return text + ", for another " + span(h.Until.Sub(now).Seconds())
}

// fewAccounts is how many accounts are listed without --accounts.
const fewAccounts = 20

// writeAccounts writes the table of all accounts, or of those with the most messages.
func writeAccounts(b *strings.Builder, s *admin.Status, all bool) {
	accounts := slices.Clone(s.Accounts)
	if !all {
		busy := func(a admin.Account) int64 { return a.Accepted + a.Delivered + a.Queued + a.Waiting }
		slices.SortStableFunc(accounts, func(a, b admin.Account) int { return cmp.Compare(busy(b), busy(a)) })
		accounts = accounts[:min(len(accounts), fewAccounts)]
	}
	t := newTable(1, append([]string{"account"}, admin.Columns(admin.Account{})...)...)
	for _, a := range accounts {
		t.add(append([]string{a.Name}, admin.Cells(a)...)...)
	}
	t.write(b)
	if more := len(s.Accounts) - len(accounts); more > 0 {
		fmt.Fprintf(b, "%d more accounts: --accounts lists them\n\n", more)
	}
}

func sessionTable(s *admin.Status) *table {
	t := newTable(4, "session", "remote", "account", "bind", "open", "idle", "in flight", "queued")
	for _, c := range s.Connectors {
		for _, o := range c.SessionList {
			t.add(c.Name+"/"+strconv.Itoa(o.Number), o.Remote, dash(o.Account), o.Bind, span(s.Time.Sub(o.Since).Seconds()), span(o.IdleSeconds),
				of(int64(o.InFlight), o.Window), count(o.Queued))
		}
	}
	return t
}

func stageTable(s *admin.Status) *table {
	t := newTable(1, "stage", "jobs in", "jobs out", "waiting", "batches", "jobs mean", "max",
		"work min", "mean", "max", "std-dev", "busy workers", "locks", "panics")
	for _, g := range s.Stages {
		row := []string{g.Name, count(g.In), count(g.Out), strconv.Itoa(g.Waiting), count(g.Batches), fmt.Sprintf("%.1f", g.MeanBatch), count(g.MaxBatch)}
		row = append(row, spread(g.Work)...)
		t.add(append(row, workers(g.BusyWorkers), count(g.Locks), count(g.Panics))...)
	}
	return t
}

// queued returns how many messages wait, and how many may. Each account of a connector that clients
// log in to has a queue of its own, so that the limit is not one of the sum.
func queued(c admin.Connector) string {
	if c.Direction == "in" {
		return count(c.Queued)
	}
	return of(c.Queued, c.MaxQueue)
}

func count(n int64) string           { return strconv.FormatInt(n, 10) }
func of(n int64, limit int) string   { return fmt.Sprintf("%d/%d", n, limit) }
func workers(n float64) string       { return fmt.Sprintf("%.4f", n) }
func rate(n int64, s float64) string { return fmt.Sprintf("%.1f", float64(n)/s) }
func spread(s admin.Spread) []string {
	if s.Count == 0 {
		return []string{"-", "-", "-", "-"}
	}
	return []string{span(s.Min), span(s.Mean), span(s.Max), span(s.StdDev)}
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// span formats a duration with three digits, or to the second; "-" stands for none.
func span(seconds float64) string {
	d := time.Duration(seconds * 1e9)
	if d <= 0 {
		return "-"
	}
	unit := time.Duration(1)
	for d >= 1000*unit && unit < time.Second {
		unit *= 10
	}
	return d.Round(unit).String()
}

// A table is a head and rows of cells, left-aligned in the first columns and right-aligned
// in the others.
type table struct {
	left     int
	rows     [][]string
	headless bool // the head was written before, and is left out
}

func newTable(left int, head ...string) *table {
	return &table{left: left, rows: [][]string{head}}
}

func (t *table) add(cells ...string) {
	for i := range cells {
		cells[i] = printable(cells[i])
	}
	t.rows = append(t.rows, cells)
}

// write writes the table and an empty line, unless the table has no rows.
func (t *table) write(b *strings.Builder) {
	if len(t.rows) == 1 {
		return
	}
	widths := make([]int, len(t.rows[0]))
	for _, row := range t.rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	rows := t.rows
	if t.headless {
		rows = rows[1:]
	}
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			if i < t.left {
				fmt.Fprintf(&line, "%-*s  ", widths[i], cell)
			} else {
				fmt.Fprintf(&line, "%*s  ", widths[i], cell)
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	b.WriteString("\n")
}

// tableText returns a table as text.
func tableText(t *table) string {
	var b strings.Builder
	t.write(&b)
	return b.String()
}

// printable replaces characters that are not printable by escapes, so that no text can
// control the terminal.
func printable(s string) string {
	var b strings.Builder
	for _, r := range s {
		if unicode.IsPrint(r) {
			b.WriteRune(r)
		} else {
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		}
	}
	return b.String()
}

// writeJSON writes a value as a line of JSON.
func writeJSON(out io.Writer, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = out.Write(append(printableJSON(b), '\n'))
	return err
}

// printableJSON does the same as printable for JSON, in which such characters occur in strings
// only. encoding/json escapes control characters below a space itself.
func printableJSON(b []byte) []byte {
	var safe []byte
	for _, r := range string(b) {
		if r < 0x7f || unicode.IsPrint(r) {
			safe = utf8.AppendRune(safe, r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			safe = fmt.Appendf(safe, `\u%04x`, unit)
		}
	}
	return safe
}
