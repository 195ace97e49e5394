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
func pages() []page {
	return []page{
		{"", "Overview", access.Look, (*site).overview},
		{"messages", "Messages", access.Look, (*site).messages},
		{"messages/{name}", "Message", access.Look, (*site).story},
		{"connectors", "Connectors", access.Look, (*site).connectors},
		{"connectors/{name}", "Connector", access.Look, (*site).connector},
		{"accounts", "Accounts", access.Look, (*site).accounts},
		{"accounts/{name}", "Account", access.Look, (*site).account},
		{"sessions", "Sessions", access.Look, (*site).sessions},
		{"webhooks", "Webhooks", access.Look, (*site).webhooks},
		{hooksName, "Webhooks of", access.Look, (*site).hooks},
		{"receipts", "Receipts", access.Look, (*site).receipts},
		{"queues", "Queues", access.Look, (*site).queues},
		{"routing", "Routing", access.Look, (*site).routing},
		{tryName, "Try", access.Look, (*site).try},
		{pduLogName, "PDU log", access.Look, (*site).pduLog},
		{"gateway", "Gateway", access.Look, (*site).gateway},
	}
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

func (s *site) overview(*http.Request) any {
	status := s.server.Status(false)
	o := overview{Status: status, Disk: "in memory", Hour: s.hour("")}
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

func (s *site) connectors(r *http.Request) any {
	t := tableOf(r, rowsOf(s.server.Status(false).Connectors), func(c *row[admin.Connector]) string {
		return c.Of.Name + " " + c.Of.Protocol + " " + c.Of.Direction + " " + c.Of.State
	})
	t.Heads = admin.Columns(admin.Connector{})
	return t
}

func (s *site) accounts(r *http.Request) any {
	t := tableOf(r, rowsOf(s.server.Status(false).Accounts), func(a *row[admin.Account]) string { return a.Of.Name })
	t.Heads = admin.Columns(admin.Account{})
	return t
}

func (s *site) sessions(r *http.Request) any {
	var all []admin.Session
	connectors := s.server.Status(true).Connectors
	for i := range connectors {
		all = append(all, connectors[i].SessionList...)
	}
	return tableOf(r, all, func(one *admin.Session) string {
		return one.Connector + "/" + strconv.Itoa(one.Number) + " " + one.Account + " " + one.Remote
	})
}

func (s *site) webhooks(r *http.Request) any {
	return tableOf(r, s.server.Status(false).Webhooks, func(w *admin.Webhook) string { return w.Account })
}

// A state is the model of the page about the gateway itself.
type state struct {
	*admin.Status
	Ready string
}

func (s *site) gateway(*http.Request) any {
	status := s.server.Status(false)
	return state{status, cmp.Or(strings.Join(status.NotReady, "; "), "ready")}
}
