package portal

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"pmg/internal/sheet"
	"pmg/protocols/httpsms"
	"pmg/protocols/httpsms/own"
	"pmg/sms/number"
)

// messagesFile is the path of the messages as CSV.
const messagesFile = Base + "messages.csv"

// Limits of an export.
const (
	mostExported = 100_000         // messages
	exportedPage = 1000            // messages that are read and written together
	exportTime   = 2 * time.Minute // time for all of it
	exportPause  = time.Second / 4 // before the next attempt while others are reading
	exportTries  = 40
)

// exportedColumns are the columns of the messages as CSV.
var exportedColumns = [...]string{
	"id", "accepted_at", "from", "to", "state", "at", "parts", "reference", "reason", "network", "price", "currency",
}

// An export sends the messages that a request selects as CSV, the latest first. It reads them page by page, so that it needs
// memory for one page alone.
type export struct {
	visit *visit
	list  *own.List
	left  int // messages that may still follow
}

// exportMessages answers with the messages that the request selects as CSV.
func exportMessages(v *visit) {
	m, q := selectedMessages(v)
	if m.Wrong != "" {
		v.wrong(http.StatusBadRequest, m.Wrong)
		return
	}
	q.Del("cursor")
	q.Set("limit", strconv.Itoa(exportedPage))
	l, p := own.ReadList(q.Encode())
	if p != nil {
		v.refuse(p)
		return
	}
	ctx, end := context.WithTimeout(v.x.Request.Context(), exportTime)
	defer end()
	waits, endWait := context.WithTimeout(ctx, readingTime)
	defer endWait()
	done := v.site.portal.exports.Begin(v.who.account, waits.Done())
	if done == nil {
		v.refuse(busyReading())
		return
	}
	defer done()
	e := export{v, l, mostExported}
	rows, last := m.Rows, uint64(0)
	if rows == nil {
		if rows, last, p = e.page(ctx); p != nil {
			v.refuse(p)
			return
		}
	}
	e.send(ctx, rows, last)
}

// page reads the next page. While others are reading it tries again.
func (e *export) page(ctx context.Context) (rows []own.Known, last uint64, p *own.Problem) {
	for tries := 1; ; tries++ {
		rows, last, p = e.visit.rooms().Messages.List(e.visit.x, e.list)
		if p == nil || !p.Is("rate-limited") || tries == exportTries || ctx.Err() != nil {
			return rows, last, p
		}
		t := time.NewTimer(exportPause)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
		}
	}
}

// send writes rows, and those that follow them. It ends the connection if not all can be written, so that the client does not see
// a regular end.
func (e *export) send(ctx context.Context, rows []own.Known, last uint64) {
	v := e.visit
	out := http.NewResponseController(v.x.Writer)
	life, ok := v.x.BeginStream("export", v.mayStill(look), func() { _ = out.SetWriteDeadline(time.Now()) })
	if !ok {
		v.refuse(own.NewProblem("unavailable", ""))
		return
	}
	defer v.x.Connector.Streams.End(life)
	v.record("messages/export", nil, "ok")
	h := v.x.Writer.Header()
	h.Set("Content-Type", "text/csv; charset=utf-8")
	h.Set("Content-Disposition", `attachment; filename="messages.csv"`)
	v.x.Writer.WriteHeader(http.StatusOK)
	v.x.LogRequest(httpsms.Ask, nil, http.StatusOK, httpsms.Result{})
	octets := sheet.AppendRow(nil, exportedColumns[:]...)
	for {
		rows = rows[:min(len(rows), e.left)]
		for i := range rows {
			octets = sheet.AppendRow(octets, cellsOf(&rows[i])...)
		}
		e.left -= len(rows)
		if v.x.Extend(); life.Reason() != 0 {
			panic(http.ErrAbortHandler)
		}
		if _, err := v.x.Writer.Write(octets); err != nil || ctx.Err() != nil {
			panic(http.ErrAbortHandler)
		}
		if e.left == 0 || last == 0 {
			return
		}
		var p *own.Problem
		e.list.Below, octets = last, octets[:0]
		if rows, last, p = e.page(ctx); p != nil {
			panic(http.ErrAbortHandler)
		}
	}
}

// cellsOf returns the cells of a message.
func cellsOf(k *own.Known) []string {
	timeOf := func(t *time.Time) string {
		if t == nil {
			return ""
		}
		return t.UTC().Format(time.RFC3339)
	}
	parts := ""
	if k.Parts > 0 {
		parts = strconv.Itoa(k.Parts)
	}
	return []string{
		k.ID, timeOf(&k.AcceptedAt), digitsOf(k.From), digitsOf(k.To), k.State, timeOf(k.At), parts, k.Reference, k.Reason,
		k.Network, k.Price, k.Currency,
	}
}

// digitsOf returns an international number without the '+' in front, which a spreadsheet would take for a formula, and anything
// else as it is.
func digitsOf(address string) string {
	if n := number.Read(address); n.IsInternational() {
		return n.String()
	}
	return address
}
