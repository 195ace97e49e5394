package web

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"pmg/admin"
	"pmg/admin/access"
	"pmg/admin/history"
	"pmg/config"
	"pmg/config/managed"
	"pmg/internal/browser"
	"pmg/internal/figuretext"
)

// pages returns the pages in the order of the menu, without those for which the program has no tool, with the functions that make
// their models.
func (s *site) pages() []page {
	o := &office{s}
	all := []page{
		{browser.Page{Title: "Overview", Group: "Overview"}, s.lists.overview},
		{browser.Page{Name: "messages", Title: "Messages", Group: "Messages"}, s.messages},
		{browser.Page{Name: "messages/{name}", Title: "Message", Group: "Messages"}, s.story},
		{browser.Page{Name: tryName, Title: "Try", Group: "Messages"}, s.try},
		{browser.Page{Name: pduLogName, Title: "PDU log", Group: "Messages"}, s.pduLog},
		{browser.Page{Name: registersName, Title: "Lists", Group: "Messages"}, s.lists.registers},
		{browser.Page{Name: registerName, Title: "List", Group: "Messages"}, s.register},
		{browser.Page{Name: "queues", Title: "Queues", Group: "Traffic"}, s.lists.queues},
		{browser.Page{Name: "receipts", Title: "Receipts", Group: "Traffic"}, s.lists.receipts},
		{browser.Page{Name: "statistics", Title: "Statistics", Group: "Traffic"}, s.statistics},
		{browser.Page{Name: "webhooks", Title: "Webhooks", Group: "Traffic"}, s.lists.webhooks},
		{browser.Page{Name: "plugins", Title: "Plugins", Group: "Traffic"}, s.lists.plugins},
		{browser.Page{Name: hooksName, Title: "Webhooks of", Group: "Traffic"}, s.details.hooks},
		{browser.Page{Name: "connectors", Title: "Connectors", Group: "Connections"}, s.lists.connectors},
		{browser.Page{Name: "connectors/{name}", Title: "Connector", Group: "Connections"}, s.details.connector},
		{browser.Page{Name: "sessions", Title: "Sessions", Group: "Connections"}, s.lists.sessions},
		{browser.Page{Name: "routing", Title: "Routing", Group: "Connections"}, s.routes.page},
		{browser.Page{Name: "accounts", Title: "Accounts", Group: "Accounts"}, s.lists.accounts},
		{browser.Page{Name: "accounts/{name}", Title: "Account", Group: "Accounts"}, s.details.account},
		{browser.Page{Name: newName, Title: "New", Group: "Accounts"}, o.newPage},
		{browser.Page{Name: statementName, Title: "Statement", Group: "Accounts"}, s.statement},
		{browser.Page{Name: whatIfName, Title: "What if", Group: "Accounts"}, s.whatIf},
		{browser.Page{Name: "gateway", Title: "Gateway", Group: "Gateway"}, s.lists.gateway},
		{browser.Page{Name: "configuration", Title: "Configuration", Group: "Gateway"}, s.routes.configuration},
		{browser.Page{Name: managedName, Title: "Managed", Group: "Gateway"}, o.managedFiles},
		{browser.Page{Name: managedName + "/{name}", Title: "Managed", Group: "Gateway"}, o.managedFile},
		{browser.Page{Name: "cluster", Title: "Cluster", Group: "Gateway"}, s.cluster},
		{browser.Page{Name: helpName, Title: "Help", Group: "Help"}, s.help},
	}
	return slices.DeleteFunc(all, func(p page) bool {
		switch p.Name {
		case managedName, managedName + "/{name}", newName:
			return s.Edit == nil
		case whatIfName:
			return s.WhatIf == nil
		case helpName:
			return s.Find == nil
		case "cluster":
			return s.Cluster == nil
		}
		return false
	})
}

// lists make the pages that list objects of a kind.
type lists struct {
	server      *admin.Server
	edits       bool // pages can change objects of managed.dir
	queueSpeeds speeds
}

// An overview is the model of the first page.
type overview struct {
	*admin.Status
	In, Out, Receipts    string // messages a second
	SMS, Clients, Events admin.Waits
	Disk, Memory         string
	Aside                int64
	Busy, Worst          []admin.Account
	Hour                 *hour
}

// The maximum number of accounts on the first page, and the minimum rate a second, or number, of such an account.
const (
	mostNamedAccounts = 3
	leastRate         = 0.05
)

func (l *lists) overview(*http.Request) any {
	status := l.server.Status(false)
	o := overview{Status: status, Disk: "in memory", Hour: hourOf(l.server.History(), ""), Aside: status.Parked +
		status.Quarantined,
		SMS: status.WaitingFor(admin.ForSMSC), Clients: status.WaitingFor(admin.ForSessions),
		Events: status.WaitingFor(admin.ForEvents)}
	o.Busy = firstAccounts(status.Accounts, func(a *admin.Account) float64 { return a.Recent.AcceptedPerSecond })
	o.Worst = firstAccounts(
		status.Accounts, func(a *admin.Account) float64 { return float64(a.Recent.Refused + a.Recent.Failed) },
	)
	o.In, o.Out, o.Receipts = o.Hour.rate(history.In), o.Hour.rate(history.Out), o.Hour.rate(history.Receipts)
	o.Memory = o.Hour.octets(history.Memory)
	if st := status.Store; st != nil && st.Free > 0 {
		o.Disk = figuretext.Octets(st.Free) + " free"
	}
	return o
}

// firstAccounts returns the accounts with the highest values of a figure.
func firstAccounts(all []admin.Account, of func(*admin.Account) float64) []admin.Account {
	var some []admin.Account
	for i := range all {
		if of(&all[i]) >= leastRate {
			some = append(some, all[i])
		}
	}
	slices.SortStableFunc(some, func(a, b admin.Account) int { return cmp.Compare(of(&b), of(&a)) })
	return some[:min(len(some), mostNamedAccounts)]
}

// shortest is the minimum time over which rates are measured.
const shortest = 1500 * time.Millisecond

// rates are the growth rates of counters, measured between calls of of.
type rates struct {
	mu     sync.Mutex
	at     time.Time
	counts [3]int64
	known  [3]string
}

// of returns the rates of three counters since the previous call.
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

// A connectorRow is a connector of the list.
type connectorRow struct {
	admin.Connector
	In, Out         string // messages a second
	Kind            string // kind of the entries that wait; "": they are messages
	Cells           []string
	inRate, outRate float64
}

func (l *lists) connectors(r *http.Request) any {
	status := l.server.Status(false)
	shown := admin.Shown(status.Connectors)
	rows := make([]connectorRow, len(status.Connectors))
	for i := range rows {
		c := &status.Connectors[i]
		last := l.server.History().Latest(c.Name)
		rows[i] = connectorRow{Connector: *c, In: number(last[history.In]), Out: number(last[history.Out]), Cells: shown.Cells(c),
			inRate: float64(last[history.In]), outRate: float64(last[history.Out])}
		rows[i].Kind = waitingKind(c)
	}
	columns := append([]column[connectorRow]{
		{head: "connector", text: func(c *connectorRow) string { return c.Name }},
		{head: "state", text: func(c *connectorRow) string { return c.State }},
		{head: "in /s", number: func(c *connectorRow) float64 { return c.inRate }},
		{head: "out /s", number: func(c *connectorRow) float64 { return c.outRate }},
		{head: "queued", number: func(c *connectorRow) float64 { return float64(c.Queued) }},
		{head: "oldest", number: func(c *connectorRow) float64 { return c.OldestSeconds }},
		{head: "sessions", number: func(c *connectorRow) float64 { return float64(c.SessionsBound) }},
		{head: "window", number: func(c *connectorRow) float64 { return float64(c.InFlight) }},
	}, shownColumns(shown, func(c *connectorRow) *admin.Connector { return &c.Connector })...)
	return tableOf(r, rows, func(c *connectorRow) string {
		return c.Name + " " + c.Protocol + " " + c.Direction + " " + c.State
	}, columns...).with(shown.Heads, shown.Zero)
}

// waitingKind returns a name for the messages that wait for a connector, "" if they are SMS for an SMSC.
func waitingKind(c *admin.Connector) string {
	switch admin.WaitsFor(c.Direction, c.Protocol) {
	case admin.ForSessions:
		return "for clients"
	case admin.ForEvents:
		return "events"
	}
	return ""
}

// Waiting writes the number of messages that wait for a connector.
func (v *view) Waiting(key string, c admin.Connector) template.HTML {
	return v.Cell(key, figuretext.Number(c.Queued)+" "+cmp.Or(waitingKind(&c), "queued"))
}

// shownColumns returns sortable columns for counters.
func shownColumns[T, R any](shown *admin.ShownColumns[R], of func(*T) *R) (all []column[T]) {
	for i, head := range shown.Heads {
		all = append(all, column[T]{head: head, number: func(row *T) float64 { return shown.Value(of(row), i) }})
	}
	return all
}

// An accountRow is an account of the list.
type accountRow struct {
	admin.Account
	Rate  string
	Share string // share of the messages with a known outcome that were delivered to the mobile
	Cells []string
	State string // what an operator should know of it in a word

	IsManaged bool // the account is in managed.dir, and the reader of the page may change it
}

// The states of accounts.
const (
	noMoney    = "no money"
	lowBalance = "low balance"
	loggedIn   = "logged in"
	sending    = "sending" // without a session, such as by HTTP
	idle       = "idle"
)

// states returns the states, those that an operator should see first in front.
func states() []string { return []string{noMoney, lowBalance, loggedIn, sending, idle} }

// stateOf returns the state of an account.
func stateOf(a *admin.Account) string {
	switch {
	case a.Money != nil && a.Money.Used:
		return noMoney
	case a.Money != nil && a.Money.Low:
		return lowBalance
	case a.Sessions > 0:
		return loggedIn
	case a.Recent.AcceptedPerSecond > 0:
		return sending
	}
	return idle
}

// Balance returns the balance with its currency, a dash for an account that is not charged.
func (a *accountRow) Balance() string {
	if a.Money == nil {
		return "–"
	}
	return a.Money.Balance.String() + " " + a.Money.Currency
}

// Margin returns what the account was charged less what its SMSCs charge, a dash if that is not known.
func (a *accountRow) Margin() string {
	if a.Money == nil || a.Money.Margin == nil {
		return "–"
	}
	return (a.Money.Margin.Price - a.Money.Margin.Cost).String() + " " + a.Money.Currency
}

// margin returns the margin as a number by which rows are sorted. Accounts without one come last.
func (a *accountRow) margin() float64 {
	if a.Money == nil || a.Money.Margin == nil {
		return math.Inf(-1)
	}
	return float64(a.Money.Margin.Price - a.Money.Margin.Cost)
}

// balance returns the balance as a number by which rows are sorted. Accounts that are not charged come last.
func (a *accountRow) balance() float64 {
	if a.Money == nil {
		return math.Inf(-1)
	}
	return float64(a.Money.Balance)
}

// manages reports whether the sender of a request may change objects of managed.dir.
func manages(cfg *config.Config, r *http.Request) bool {
	return cfg.Managed.Dir != "" && access.CallerOf(r).Scope >= access.Administer
}

// An accountsPage is the model of the page with the accounts.
type accountsPage struct {
	*table[accountRow]
	MayMake bool // the reader of the page may make accounts
}

// deliveredShare returns the share of an account's messages that reached the mobile, among the messages with a final receipt.
func deliveredShare(a *admin.Account) string {
	return figuretext.Percent(figuretext.DeliveredShare(a.Reached, a.Ended-a.Reached))
}

func (l *lists) accounts(r *http.Request) any {
	status := l.server.Status(false)
	shown := admin.Shown(status.Accounts)
	rows := make([]accountRow, len(status.Accounts))
	cfg := l.server.Gateway().Node.Config()
	edits := l.edits && manages(cfg, r)
	for i := range rows {
		a := &status.Accounts[i]
		rows[i] = accountRow{
			Account: *a, Rate: number(float32(a.Recent.AcceptedPerSecond)), Share: deliveredShare(a), Cells: shown.Cells(a),
			State: stateOf(a), IsManaged: edits && cfg.Defined(managed.Accounts, a.Name) == "",
		}
	}
	columns := append([]column[accountRow]{
		{head: "account", text: func(a *accountRow) string { return a.Name }},
		{head: "state", text: func(a *accountRow) string { return strconv.Itoa(slices.Index(states(), a.State)) }},
		{head: "balance", number: (*accountRow).balance},
		{head: "margin", number: (*accountRow).margin},
		{head: "in /s", number: func(a *accountRow) float64 { return a.Recent.AcceptedPerSecond }},
		{head: "delivered", number: func(a *accountRow) float64 { return float64(a.Reached) / float64(max(a.Ended, 1)) }},
		{head: "last message", number: lastMessage},
		{head: "oldest for it", number: func(a *accountRow) float64 { return a.Oldest }},
	}, shownColumns(shown, func(a *accountRow) *admin.Account { return &a.Account })...)
	t := tableOf(r, rows, func(a *accountRow) string { return a.Name + " " + a.State }, columns...)
	return &accountsPage{t.with(shown.Heads, shown.Zero), edits}
}

// lastMessage returns the time of an account's last message, in seconds since 1970, 0 if there was none.
func lastMessage(a *accountRow) float64 {
	if a.LastMessage == nil {
		return 0
	}
	return float64(a.LastMessage.Unix())
}

func (l *lists) sessions(r *http.Request) any {
	var all []admin.Session
	connectors := l.server.Status(true).Connectors
	for i := range connectors {
		all = append(all, connectors[i].SessionList...)
	}
	return tableOf(r, all, func(one *admin.Session) string {
		return one.Connector + "/" + strconv.Itoa(one.Number) + " " + one.Account + " " + one.Remote
	}, []column[admin.Session]{
		{head: "session", text: func(one *admin.Session) string { return fmt.Sprintf("%s/%8d", one.Connector, one.Number) }},
		{head: "account", text: func(one *admin.Session) string { return one.Account }},
		{head: "connected", number: func(one *admin.Session) float64 { return time.Since(one.Since).Seconds() }},
		{head: "idle", number: func(one *admin.Session) float64 { return one.IdleSeconds }},
		{head: "window", number: func(one *admin.Session) float64 { return float64(one.InFlight) }},
	}...)
}

func (l *lists) webhooks(r *http.Request) any {
	return tableOf(r, l.server.Status(false).Webhooks, func(w *admin.Webhook) string { return w.Account },
		[]column[admin.Webhook]{
			{head: "account", text: func(w *admin.Webhook) string { return w.Account }},
			{head: "waiting", number: func(w *admin.Webhook) float64 { return float64(w.Waiting) }},
			{head: "oldest", number: func(w *admin.Webhook) float64 { return w.Oldest }},
			{head: "dead letters", number: func(w *admin.Webhook) float64 { return float64(w.DeadLetters) }},
		}...)
}

func (l *lists) plugins(r *http.Request) any {
	return tableOf(r, l.server.Status(false).Plugins, func(p *admin.Plugin) string { return p.Name },
		[]column[admin.Plugin]{
			{head: "plugin", text: func(p *admin.Plugin) string { return p.Name }},
			{head: "asked", number: func(p *admin.Plugin) float64 { return float64(p.Asked) }},
			{head: "refused", number: func(p *admin.Plugin) float64 { return float64(p.Refused) }},
			{head: "held", number: func(p *admin.Plugin) float64 { return float64(p.Held) }},
			{head: "changed", number: func(p *admin.Plugin) float64 { return float64(p.Changed) }},
			{head: "failed", number: func(p *admin.Plugin) float64 { return float64(p.Failed) }},
		}...)
}

// A state is the model of the page about the gateway itself.
type state struct {
	Status       *admin.Status
	Ready        string
	Octets, Free string // octets that the store takes, and free octets on the disk
}

func (l *lists) gateway(*http.Request) any {
	status := l.server.Status(false)
	s := state{Status: status, Ready: cmp.Or(strings.Join(status.NotReady, "; "), "ready")}
	if st := status.Store; st != nil {
		s.Octets, s.Free = figuretext.Octets(st.Octets), figuretext.Octets(st.Free)
	}
	return s
}
