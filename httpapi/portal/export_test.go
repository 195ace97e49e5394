package portal

import (
	"encoding/csv"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"pmg/config"
	"pmg/httpapi/server"
	"pmg/protocols/httpsms/own"
)

// listed are messages of accounts, and what listing them does each time.
type listed struct {
	Messages
	of    map[string][]own.Known
	asked func(n int) *own.Problem // nil: nothing
	n     int
}

// List implements Messages: a message's id is how many follow it.
func (l *listed) List(x *server.Exchange, q *own.List) (page []own.Known, last uint64, p *own.Problem) {
	l.n++
	if l.asked != nil {
		if p := l.asked(l.n); p != nil {
			return nil, 0, p
		}
	}
	all := l.of[x.Account.SystemID]
	if q.Below != 0 {
		all = all[len(all)-int(q.Below):]
	}
	for i := range all {
		if q.Has(&all[i]) {
			page = append(page, all[i])
		}
		if len(page) == q.Limit {
			return page, uint64(len(all) - i - 1), nil
		}
	}
	return page, 0, nil
}

// table reads an export.
func table(t *testing.T, w reply) [][]string {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(w.body)).ReadAll()
	if err != nil || w.code != 200 || len(rows) == 0 || w.header.Get("Content-Type") != "text/csv; charset=utf-8" ||
		!strings.HasPrefix(w.header.Get("Content-Disposition"), "attachment;") {
		t.Fatalf("%v: %+v", err, w)
	}
	return rows[1:]
}

// The messages that a search finds are a table, page by page; another account's are not in it, and a cell is no formula.
func TestExport(t *testing.T) {
	t.Parallel()
	r := newRig(t, accounts(", show_price: true"), "", "public_name: express")
	l := &listed{Messages: r.site.portal.rooms.Messages, of: map[string][]own.Known{}}
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for i := range 2500 {
		k := own.Known{ID: fmt.Sprintf("%016x", i), AcceptedAt: at.Add(-time.Duration(i) * time.Minute), From: "Shop", To: "+46700000001", State: "delivered"}
		if i%100 == 0 {
			k.To, k.State = "+46700000002", "rejected"
		}
		l.of["shop"] = append(l.of["shop"], k)
	}
	first := &l.of["shop"][0]
	first.From, first.Reference, first.Reason, first.At, first.Parts, first.Quote = "=1+1", "a \"b\",\nc", "@x", &at, 2, own.Quote{Price: "0.10", Currency: "EUR"}
	l.of["shop"][1].From, l.of["shop"][1].Reference, l.of["shop"][2].From, l.of["shop"][2].Reference = "+cmd|' /C calc'!A0", "-1", "+", "@"
	l.of["rival"] = []own.Known{{ID: "of-the-rival", To: "+46700000009", State: "delivered", AcceptedAt: at}}
	r.site.portal.rooms.Messages = l
	b := r.user("shop", config.LookScope)
	rows := table(t, b.get("messages.csv"))
	if len(rows) != 2500 || l.n != 3 {
		t.Fatalf("%d rows in %d pages", len(rows), l.n)
	}
	for i, want := range [][]string{
		{"0000000000000000", "2026-11-30T12:00:00Z", "'=1+1", "46700000002", "rejected", "2026-11-30T12:00:00Z", "2", "a \"b\",\nc", "'@x", "", "0.10", "EUR"},
		{"0000000000000001", "2026-11-30T11:59:00Z", "'+cmd|' /C calc'!A0", "46700000001", "delivered", "", "", "'-1", "", "", "", ""},
		{"0000000000000002", "2026-11-30T11:58:00Z", "'+", "46700000001", "delivered", "", "", "'@", "", "", "", ""},
	} {
		if !slices.Equal(rows[i], want) {
			t.Errorf("%q, not %q", rows[i], want)
		}
	}
	page := b.has("messages?q=46700000002&state=rejected&since=2026-11-29", `href="/portal/messages.csv?q=46700000002&amp;since=2026-11-29T00%3A00%3A00Z&amp;state=rejected"`)
	if strings.Contains(page.body, "of-the-rival") {
		t.Error(page.body)
	}
	r.site.portal.exports = New(Rooms{}).exports // no pause is left
	if rows := table(t, b.get("messages.csv?q=46700000002&state=rejected&since=2026-11-29&until=2026-11-30T11:30:00Z")); len(rows) != 21 {
		t.Errorf("%d rows", len(rows))
	}
	if rows := table(t, r.user("rival", config.LookScope).get("messages.csv")); len(rows) != 1 || rows[0][0] != "of-the-rival" {
		t.Errorf("%q", rows)
	}
	id := r.user("shop", config.SendScope).sendText("+46700000003", "hello")
	if rows := table(t, b.get("messages.csv?q="+id)); len(rows) != 1 || rows[0][0] != id {
		t.Errorf("%q", rows)
	}
	for _, q := range []string{"state=none", "since=never", "until=x"} {
		if w := b.get("messages.csv?" + q); w.code != 400 || strings.Contains(w.header.Get("Content-Type"), "csv") {
			t.Errorf("%s: %+v", q, w)
		}
	}
	if !r.records.has("user look of account shop 127.0.0.1 portal/messages/export map[]: ok\n") {
		t.Errorf("%q", r.records.lines)
	}
}

// An export that cannot be ended does not look like a whole one; while others read, it waits. It ends when its user has lost the right,
// and at 100,000 messages.
func TestExportEnds(t *testing.T) {
	t.Parallel()
	r := newRig(t, accounts(""), "", "")
	l := &listed{Messages: r.site.portal.rooms.Messages, of: map[string][]own.Known{
		"shop": slices.Repeat([]own.Known{{AcceptedAt: time.Unix(1, 0)}}, mostExported+1), "rival": slices.Repeat([]own.Known{{AcceptedAt: time.Unix(1, 0)}}, 1500),
	}}
	r.site.portal.rooms.Messages = l
	b, rival := r.user("shop", config.LookScope), r.user("rival", config.LookScope)
	if rows := table(t, b.get("messages.csv")); len(rows) != mostExported {
		t.Errorf("%d rows", len(rows))
	}
	fails := func(who *person) {
		t.Helper()
		q, err := http.NewRequestWithContext(t.Context(), "GET", r.base+messagesFile, nil)
		if err != nil {
			t.Fatal(err)
		}
		w, err := who.client.Do(q)
		if err != nil {
			return // before the header
		}
		defer w.Body.Close()
		if _, err := csv.NewReader(w.Body).ReadAll(); err == nil {
			t.Errorf("it ends as a whole one, with %d", w.StatusCode)
		}
	}
	busy := own.NewProblem("rate-limited", "")
	l.n, l.asked = 0, func(n int) *own.Problem { return map[int]*own.Problem{1: busy, 3: busy}[n] }
	if rows := table(t, rival.get("messages.csv")); len(rows) != 1500 || l.n != 4 {
		t.Errorf("%d rows after %d times", len(rows), l.n)
	}
	r.site.portal.exports = New(Rooms{}).exports // no pause is left
	l.n, l.asked = 0, func(n int) *own.Problem { return map[int]*own.Problem{2: own.NewProblem("unavailable", "")}[n] }
	fails(rival)
	r.site.portal.exports = New(Rooms{}).exports
	l.n, l.asked = 0, func(n int) *own.Problem {
		if n == 2 {
			r.Reload(strings.Replace(r.yaml, "name: look,", "name: other,", 2)) // both accounts
		}
		return nil
	}
	fails(rival)
}
