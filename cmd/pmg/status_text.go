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
	"pmg/internal/console"
	"pmg/internal/figuretext"
)

// A statusView selects the parts of a status to show.
type statusView struct {
	accounts, networks, stages bool
	pipelines                  bool // shows pipelines and stages, and nothing else
}

// statusText returns a gateway's status s as tables. If the status before is of the same process,
// the tables have rates since then. Strings of the answer are passed through
// console.Escaped, because the server may not be a gateway.
func statusText(before, s *admin.Status, show statusView) string {
	if show.pipelines {
		return pipelinesText(before, s)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "pmg %s, up %s, ", console.Escaped(s.Version), figuretext.Age(s.Time.Sub(s.Started).Seconds()))
	if len(s.NotReady) == 0 {
		b.WriteString("ready")
	} else {
		fmt.Fprintf(&b, "not ready: %s", console.Escaped(strings.Join(s.NotReady, "; ")))
	}
	if len(s.NotReady)+len(s.Problems) == 0 {
		b.WriteString(", no problems")
	}
	b.WriteString("\n")
	for _, problem := range s.Problems {
		fmt.Fprintf(&b, "problem: %s\n", console.Escaped(problem))
	}
	writeWaiting(&b, s)
	writeReceipts(&b, s)
	writeStore(&b, s.Store)
	b.WriteString("\n")
	connectorTable(before, s).write(&b)
	writeRare(&b, s)
	writeAccounts(&b, s, show.accounts)
	pluginTable(s).write(&b)
	writeNetworks(&b, s, show.networks)
	sessionTable(s).write(&b)
	writePipelines(&b, before, s)
	if show.stages {
		stageTable(s).write(&b)
	}
	return b.String()
}

// pipelinesText returns the tables of a gateway's pipelines and stages.
func pipelinesText(before, s *admin.Status) string {
	var b strings.Builder
	writePipelines(&b, before, s)
	stageTable(s).write(&b)
	return b.String()
}

// writePipelines writes the load of the pipelines, if there are several, and how uneven it is: since the status before,
// or else since the start.
func writePipelines(b *strings.Builder, before, s *admin.Status) {
	if len(s.Pipelines) < 2 {
		return
	}
	t := newTable(1, "pipeline", "clients", "SMSCs", "busy workers")
	var sum, most float64
	for i, p := range s.Pipelines {
		busy := p.BusyWorkers
		if secs := since(before, s); secs > 0 && i < len(before.Pipelines) {
			busy = (p.BusySeconds - before.Pipelines[i].BusySeconds) / secs
		}
		sum, most = sum+busy, max(most, busy)
		t.add(strconv.Itoa(p.Number), count(p.Clients), count(p.SMSCs), workers(busy))
	}
	t.write(b)
	if sum > 0 {
		fmt.Fprintf(b, "the busiest pipeline works %.2f times the mean\n\n", most*float64(len(s.Pipelines))/sum)
	}
}

// writeWaiting writes the numbers of waiting SMS, of waiting messages for clients, and of messages that an operator
// must decide about.
func writeWaiting(b *strings.Builder, s *admin.Status) {
	for i, of := range []struct{ peers, name string }{
		{admin.ForSMSC, "queued for SMSCs"}, {admin.ForSessions, "for clients' sessions"},
		{admin.ForEvents, "webhook events"},
	} {
		w := s.WaitingFor(of.peers)
		if i > 0 && w.Messages == 0 {
			continue
		}
		if i > 0 {
			b.WriteString("; ")
		}
		fmt.Fprintf(b, "%s: %s", of.name, figuretext.Number(w.Messages))
		if w.Oldest > 0 {
			fmt.Fprintf(b, ", oldest %s", figuretext.Age(w.Oldest))
		}
	}
	writeCounts(b, "; ", []named{{"unrouted", s.Unrouted}, {"parked", s.Parked}, {"quarantined", s.Quarantined}})
	b.WriteString("\n")
}

// A named is a number with a name.
type named struct {
	name string
	n    int64
}

// writeCounts writes the counts that are not 0, after a text if it is not empty.
func writeCounts(b *strings.Builder, before string, counts []named) {
	for _, c := range counts {
		if c.n > 0 {
			fmt.Fprintf(b, "%s%s %s", before, c.name, figuretext.Number(c.n))
			before = ", "
		}
	}
}

// writeReceipts writes a line with the counters of receipts.
func writeReceipts(b *strings.Builder, s *admin.Status) {
	r := &s.Receipts
	if r.Matched+r.Unmatched+r.Own+r.Unwanted+r.Homeless == 0 && s.Orphans == 0 {
		return
	}
	writeCounts(b, "receipts: ", []named{{"matched", r.Matched}, {"unmatched", r.Unmatched}, {
		"kept until their message is known", s.Orphans,
	}, {"matched later", r.Adopted},
		{"made by the gateway", r.Own}, {"dropped as not asked for", r.Unwanted}, {"dropped without an account", r.Homeless}})
	b.WriteString("\n")
	writeForms(b, s.Operators)
}

// writeForms writes a line with the SMSCs whose ids in receipts differ in form from those in answers. It omits SMSCs
// whose form is not known yet.
func writeForms(b *strings.Builder, operators []admin.Operator) {
	var others []string
	for _, o := range operators {
		if o.ReceiptIDs != admin.SameIDs && o.ReceiptIDs != admin.NotKnown {
			others = append(others, console.Escaped(o.Name)+" "+console.Escaped(o.ReceiptIDs))
		}
	}
	if len(others) > 0 {
		fmt.Fprintf(b, "ids in receipts: %s\n", strings.Join(others, ", "))
	}
}

// writeStore writes a line with the figures of the store, and a line with its problems.
func writeStore(b *strings.Builder, s *admin.Store) {
	if s == nil {
		return
	}
	fmt.Fprintf(
		b, "store %s: %s messages, %s", console.Escaped(s.Engine), figuretext.Number(s.Messages), figuretext.Octets(s.Octets),
	)
	if s.Commits > 0 {
		fmt.Fprintf(
			b, "; %s commits, mean %s, longest %s", figuretext.Number(s.Commits),
			dash(span(s.CommitSeconds/float64(s.Commits))), dash(span(s.LongestSeconds)),
		)
	}
	if s.MinFree > 0 {
		fmt.Fprintf(b, "; %s free", figuretext.Octets(s.Free))
	}
	if !s.Recovered {
		b.WriteString("; messages of earlier runs are still being read")
	}
	b.WriteString("\n")
	if s.OldKey {
		b.WriteString("store: some waiting messages need store.old_key_file\n")
	}
	for _, wrong := range []string{s.Refuses, s.Problem} {
		if wrong != "" {
			fmt.Fprintf(b, "store %s: %s\n", console.Escaped(s.Engine), console.Escaped(wrong))
		}
	}
}

// connectorTable returns the table of connectors, with rates if there is an earlier status. It omits counters that
// are 0 for all; writeRare writes those that are seldom above 0.
func connectorTable(before, s *admin.Status) *table {
	t := newTable(
		3, "connector", "dir", "state", "sessions", "in flight", "queued", "oldest", "for clients", "oldest", "answer",
		"accepted", "refused", "sent", "failed",
	)
	secs := since(before, s)
	rated := secs > 0
	old := map[string]admin.Connector{}
	if rated {
		t.rows[0] = append(t.rows[0], "in/s", "out/s")
		for _, c := range before.Connectors {
			old[c.Name] = c
		}
	}
	for _, c := range s.Connectors {
		row := []string{c.Name, c.Direction, c.State, of(int64(c.Sessions), c.Instances), of(c.InFlight, c.Windows)}
		waits := []string{figuretext.Number(c.Queued), dash(span(c.OldestSeconds))}
		if c.Direction == "out" {
			row = append(append(row, waits...), "-", "-")
		} else {
			row = append(append(row, "-", "-"), waits...)
		}
		row = append(
			row, dash(span(c.Answers.MeanSeconds)), figuretext.Number(c.Accepted), figuretext.Number(c.Refused),
			figuretext.Number(c.Sent), figuretext.Number(c.Failed),
		)
		if rated {
			seconds := s.Time.Sub(before.Time).Seconds()
			row = append(row, rate(c.Accepted-old[c.Name].Accepted, seconds), rate(c.Sent-old[c.Name].Sent, seconds))
		}
		t.add(row...)
	}
	return t.withoutZeros(5)
}

// writeRare writes the counters of connectors that are seldom above 0, as text.
func writeRare(b *strings.Builder, s *admin.Status) {
	any := false
	for _, c := range s.Connectors {
		if c.Protocol == "test" {
			any = true
			fmt.Fprintf(b, "%s: a test connector: its messages do not leave\n", console.Escaped(c.Name))
		}
		var line strings.Builder
		writeCounts(
			&line, "",
			[]named{
				{"cancelled", c.Cancelled}, {"expired", c.Expired}, {"retried", c.Retried}, {"answered late", c.Late},
				{"moved", c.Moved}, {"failed over", c.FailedOver}, {"lines of the pdu log lost", int64(c.PDULogLost)},
			},
		)
		if line.Len() > 0 {
			any = true
			fmt.Fprintf(b, "%s: %s\n", console.Escaped(c.Name), line.String())
		}
	}
	if any {
		b.WriteString("\n")
	}
}

// fewAccounts is the number of accounts that are listed without --accounts.
const fewAccounts = 20

// writeAccounts writes the table of all accounts, or of those with the most messages, without those that have no traffic.
func writeAccounts(b *strings.Builder, s *admin.Status, all bool) {
	accounts := slices.Clone(s.Accounts)
	quiet := 0
	if !all {
		busy := func(a admin.Account) int64 { return a.Accepted + a.Refused + a.Delivered + a.Queued + a.Waiting }
		slices.SortStableFunc(accounts, func(a, b admin.Account) int { return cmp.Compare(busy(b), busy(a)) })
		for quiet < len(accounts) && busy(accounts[len(accounts)-1-quiet])+int64(accounts[len(accounts)-1-quiet].Sessions) == 0 {
			quiet++
		}
		accounts = accounts[:min(len(accounts)-quiet, fewAccounts)]
	}
	t := newTable(1, append([]string{"account"}, admin.Columns(admin.Account{})...)...)
	for _, a := range accounts {
		t.add(append([]string{a.Name}, admin.Cells(a)...)...)
	}
	t.withoutZeros(1).write(b)
	if more := len(s.Accounts) - len(accounts); more > 0 {
		text := figuretext.Number(int64(more)) + " more accounts"
		if more == 1 {
			text = "1 more account"
		}
		if more == quiet {
			text += " without traffic"
		}
		fmt.Fprintf(b, "%s: --accounts lists them\n\n", text)
	}
}

// pluginTable returns the plugins, one in a row.
func pluginTable(s *admin.Status) *table {
	t := newTable(1, append(append([]string{"plugin"}, admin.Columns(admin.Plugin{})...), "work mean", "p99", "wait p99", "")...)
	for i := range s.Plugins {
		p := &s.Plugins[i]
		why := ""
		if p.Resting {
			why = "rests: " + console.Escaped(p.LastError)
		}
		cells := append([]string{p.Name}, admin.Cells(*p)...)
		t.add(append(cells, p.Work.MeanText(), p.Work.P99Text(), p.Wait.P99Text(), why)...)
	}
	return t
}

// fewNetworks is the number of networks that are listed without --networks.
const fewNetworks = 10

// writeNetworks writes the table of all networks and connectors, or of those with the most messages.
func writeNetworks(b *strings.Builder, s *admin.Status, all bool) {
	rows := s.Networks.By
	if !all {
		rows = rows[:min(len(rows), fewNetworks)]
	}
	t := newTable(3, append(append([]string{"network", "", "connector"}, admin.Columns(admin.Network{})...), "share", "delay")...)
	for i := range rows {
		n, share, delay := &rows[i], "-", "-"
		if part, ok := n.Share(); ok {
			share = fmt.Sprintf("%.1f %%", 100*part)
		}
		if mean, ok := n.Delay(); ok {
			delay = span(mean)
		}
		t.add(append(append([]string{n.Network, n.Name, n.Connector}, admin.Cells(*n)...), share, delay)...)
	}
	t.write(b)
	if more := len(s.Networks.By) - len(rows); more > 0 {
		fmt.Fprintf(b, "%s more networks of connectors: --networks lists them\n\n", figuretext.Number(int64(more)))
	}
}

func sessionTable(s *admin.Status) *table {
	t := newTable(4, "session", "remote", "account", "bind", "open", "idle", "in flight", "queued")
	for _, c := range s.Connectors {
		for _, o := range c.SessionList {
			t.add(c.Name+"/"+
				strconv.Itoa(o.Number), o.Remote, dash(o.Account), o.Bind, span(s.Time.Sub(o.Since).Seconds()),
				span(o.IdleSeconds),
				of(int64(o.InFlight), o.Window), count(o.Queued))
		}
	}
	return t
}

// since returns the seconds from a status of the same process to s, or 0 if there is none.
func since(before, s *admin.Status) float64 {
	if before == nil || !before.Started.Equal(s.Started) {
		return 0
	}
	return max(s.Time.Sub(before.Time).Seconds(), 0)
}

func stageTable(s *admin.Status) *table {
	t := newTable(1, "stage", "jobs in", "jobs out", "waiting", "batches", "jobs mean", "max",
		"work min", "mean", "max", "std-dev", "busy workers", "locks", "panics")
	for _, g := range s.Stages {
		row := []string{
			g.Name, count(g.In), count(g.Out), strconv.Itoa(g.Waiting), count(g.Batches), fmt.Sprintf("%.1f", g.MeanBatch),
			count(g.MaxBatch),
		}
		row = append(row, spread(g.Work)...)
		t.add(append(row, workers(g.BusyWorkers), count(g.Locks), count(g.Panics))...)
	}
	return t
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
	headless bool // the head is not written
}

func newTable(left int, head ...string) *table {
	return &table{left: left, rows: [][]string{head}}
}

func (t *table) add(cells ...string) {
	for i := range cells {
		cells[i] = console.Escaped(cells[i])
	}
	t.rows = append(t.rows, cells)
}

// withoutZeros removes the columns that are empty or 0 in all rows, from a column on.
func (t *table) withoutZeros(from int) *table {
	for i := len(t.rows[0]) - 1; i >= from; i-- {
		if !slices.ContainsFunc(t.rows[1:], func(row []string) bool { return strings.Trim(row[i], "-–0/.") != "" }) {
			for k := range t.rows {
				t.rows[k] = slices.Delete(t.rows[k], i, i+1)
			}
		}
	}
	return t
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

func tableText(t *table) string {
	var b strings.Builder
	t.write(&b)
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

// printableJSON does the same as console.Escaped for JSON, in which such characters occur in strings
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
