package web

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"pmg/admin"
	"pmg/admin/access"
	"pmg/admin/history"
)

// pages returns all pages in the order of the menu.
func pages() []page { return new(site).table() }

// table returns all pages with what makes their models.
func (s *site) table() []page {
	return []page{
		{"", "Overview", access.Look, s.lists.overview},
		{"messages", "Messages", access.Look, s.messages},
		{"messages/{name}", "Message", access.Look, s.story},
		{"connectors", "Connectors", access.Look, s.lists.connectors},
		{"connectors/{name}", "Connector", access.Look, s.details.connector},
		{"accounts", "Accounts", access.Look, s.lists.accounts},
		{"accounts/{name}", "Account", access.Look, s.details.account},
		{"sessions", "Sessions", access.Look, s.lists.sessions},
		{"webhooks", "Webhooks", access.Look, s.lists.webhooks},
		{hooksName, "Webhooks of", access.Look, s.details.hooks},
		{"receipts", "Receipts", access.Look, s.lists.receipts},
		{"queues", "Queues", access.Look, s.lists.queues},
		{"routing", "Routing", access.Look, s.routes.page},
		{tryName, "Try", access.Look, s.try},
		{pduLogName, "PDU log", access.Look, s.pduLog},
		{"gateway", "Gateway", access.Look, s.lists.gateway},
	}
}

// Lists make the pages with what the gateway has of a kind.
type lists struct {
	server      *admin.Server
	queueSpeeds speeds
}

// An overview is the model of the first page.
type overview struct {
	*admin.Status
	In, Out, Receipts string // a second
	Waiting           int64
	Oldest            float64
	Disk, Memory      string
	Failing           []string // connectors that have no session, or fewer than they should
	Hour              *hour
}

func (l *lists) overview(*http.Request) any {
	status := l.server.Status(false)
	o := overview{Status: status, Disk: "in memory", Hour: hourOf(l.server, "")}
	for i := range status.Connectors {
		c := &status.Connectors[i]
		if c.Trouble != nil {
			o.Failing = append(o.Failing, "connector "+c.Name+": "+c.Trouble.Reason)
		}
		o.Waiting += c.Queued
		o.Oldest = max(o.Oldest, c.OldestSeconds)
	}
	for i := range status.Accounts {
		o.Oldest = max(o.Oldest, status.Accounts[i].Oldest)
	}
	o.In, o.Out, o.Receipts = o.Hour.rate(history.In), o.Hour.rate(history.Out), o.Hour.rate(history.Receipts)
	o.Memory = o.Hour.octets(history.Memory)
	if st := status.Store; st != nil && st.Free > 0 {
		o.Disk = fmt.Sprintf("%.1f GiB free", float64(st.Free)/(1<<30))
	}
	return o
}

// shortest is the time over which rates are measured at least.
const shortest = 1500 * time.Millisecond

// Rates are how fast counters grow, measured between the looks at them.
type rates struct {
	mu     sync.Mutex
	at     time.Time
	counts [3]int64
	known  [3]string
}

// of returns the rates of three counters by what they were at the look before.
func (r *rates) of(now time.Time, counts ...int64) [3]string {
	r.mu.Lock()
	defer r.mu.Unlock()
	passed := now.Sub(r.at)
	switch {
	case r.at.IsZero():
		r.known = [3]string{"–", "–", "–"}
	case passed < shortest:
		return r.known
	default:
		for i, n := range counts {
			r.known[i] = strconv.FormatFloat(float64(n-r.counts[i])/passed.Seconds(), 'f', 0, 64)
		}
	}
	r.at = now
	copy(r.counts[:], counts)
	return r.known
}

// A table is the model of a page with rows, of which it shows a part.
type table[T any] struct {
	Rows   []T
	Heads  []string // of further columns
	Filter string
	Number int // of the page, from 1
	Of     int
	Total  int
}

// most is how many rows a page shows.
const most = 100

// tableOf returns the rows that a request asks for: those of ?page= whose name contains ?filter=.
func tableOf[T any](r *http.Request, all []T, name func(*T) string) *table[T] {
	query := r.URL.Query()
	t := &table[T]{Filter: strings.ToLower(query.Get("filter"))}
	if t.Filter != "" {
		all = slices.DeleteFunc(all, func(row T) bool { return !strings.Contains(strings.ToLower(name(&row)), t.Filter) })
	}
	t.Total = len(all)
	t.Of = max(1, (len(all)+most-1)/most)
	number, _ := strconv.Atoi(query.Get("page"))
	t.Number = min(max(number, 1), t.Of)
	t.Rows = all[(t.Number-1)*most : min(t.Number*most, len(all))]
	return t
}

// Before and After return the numbers of the pages beside this one, 0 if there is none.
func (t *table[T]) Before() int { return t.Number - 1 }
func (t *table[T]) After() int {
	if t.Number == t.Of {
		return 0
	}
	return t.Number + 1
}

// A row has further columns, as pmg status shows them.
type row[T any] struct {
	Of    T
	Cells []string
}

// rowsOf returns the rows of values with their further columns.
func rowsOf[T any](all []T) []row[T] {
	rows := make([]row[T], len(all))
	for i := range all {
		rows[i] = row[T]{all[i], admin.Cells(all[i])}
	}
	return rows
}

func (l *lists) connectors(r *http.Request) any {
	t := tableOf(r, rowsOf(l.server.Status(false).Connectors), func(c *row[admin.Connector]) string {
		return c.Of.Name + " " + c.Of.Protocol + " " + c.Of.Direction + " " + c.Of.State
	})
	t.Heads = admin.Columns(admin.Connector{})
	return t
}

func (l *lists) accounts(r *http.Request) any {
	t := tableOf(r, rowsOf(l.server.Status(false).Accounts), func(a *row[admin.Account]) string { return a.Of.Name })
	t.Heads = admin.Columns(admin.Account{})
	return t
}

func (l *lists) sessions(r *http.Request) any {
	var all []admin.Session
	connectors := l.server.Status(true).Connectors
	for i := range connectors {
		all = append(all, connectors[i].SessionList...)
	}
	return tableOf(r, all, func(one *admin.Session) string {
		return one.Connector + "/" + strconv.Itoa(one.Number) + " " + one.Account + " " + one.Remote
	})
}

func (l *lists) webhooks(r *http.Request) any {
	return tableOf(r, l.server.Status(false).Webhooks, func(w *admin.Webhook) string { return w.Account })
}

// A state is the model of the page about the gateway itself.
type state struct {
	*admin.Status
	Ready string
}

func (l *lists) gateway(*http.Request) any {
	status := l.server.Status(false)
	return state{status, cmp.Or(strings.Join(status.NotReady, "; "), "ready")}
}
