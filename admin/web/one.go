package web

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"pmg/admin"
	"pmg/admin/access"
	"pmg/admin/history"
	"pmg/config"
	"pmg/config/managed"
	"pmg/connector"
	"pmg/internal/figuretext"
)

// speeds are the rates of several objects' counters, by name.
type speeds struct {
	mu sync.Mutex
	of map[string]*rates
}

// rates returns the rates of the object with a name.
func (s *speeds) rates(name string) *rates {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of == nil {
		s.of = map[string]*rates{}
	}
	if s.of[name] == nil {
		s.of[name] = new(rates)
	}
	return s.of[name]
}

// A portion is the count of a sort, and its share of the sum.
type portion struct {
	Name    string
	Count   int64
	Percent string
}

// portions returns counts with their shares of the sum, the largest first. It omits sorts with a count of 0.
func portions(counts connector.Labels) (all []portion) {
	var sum int64
	for _, n := range counts {
		sum += n
	}
	for name, n := range counts {
		if n > 0 {
			all = append(all, portion{name, n, percent(n, sum)})
		}
	}
	slices.SortFunc(all, func(a, b portion) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Name, b.Name)) })
	return all
}

func percent(n, of int64) string { return fmt.Sprintf("%.1f %%", 100*float64(n)/float64(of)) }

// limit writes a configured rate after a measured one.
func limit(rate int) string {
	if rate == 0 {
		return "no limit"
	}
	return "limit " + figuretext.Number(int64(rate)) + "/s"
}

// sessionRows are some of many sessions. The others are on the page of all sessions.
type sessionRows struct {
	Rows   []admin.Session
	More   int
	Filter string // filter of the page of all sessions
}

// firstOf returns the first sessions, as many as a page shows.
func firstOf(all []admin.Session, filter string) sessionRows {
	return sessionRows{all[:min(len(all), most)], max(0, len(all)-most), filter}
}

// details make the pages about one object.
type details struct {
	server *admin.Server
	edits  bool // pages can change objects of managed.dir
}

// A connectorPage is the model of the page about one connector.
type connectorPage struct {
	admin.Connector
	In, Out string // messages a second
	Limit   string // limit of Out
	Answer  string
	Hour    *hour // nil: the connector is new
	Open    sessionRows
	Others  []string  // connectors to which messages of this connector may be moved
	States  []portion // states of receipts
	Figures []admin.Figure

	Settings string // settings as in the configuration; empty for users who may not see them
}

func (d *details) connector(r *http.Request) any {
	status := d.server.Status(true)
	i := slices.IndexFunc(status.Connectors, func(c admin.Connector) bool { return c.Name == r.PathValue("name") })
	c := d.server.Gateway().Table.Connector(r.PathValue("name"))
	if i < 0 || c == nil {
		return nil
	}
	p := connectorPage{Connector: status.Connectors[i], Limit: limit(c.Config().Rate), Answer: "–"}
	p.Hour, p.Open = hourOf(d.server.History(), p.Name), firstOf(p.SessionList, p.Name+"/")
	p.In, p.Out = p.Hour.rate(history.In), p.Hour.rate(history.Out)
	if p.Answers.Count > 0 {
		p.Answer = duration(float32(p.Answers.MeanSeconds))
	}
	p.States, p.Figures = portions(p.Receipts), admin.Figures(p.Connector)
	for i := range status.Connectors {
		if other := &status.Connectors[i]; p.Direction == config.Out && other.Direction == config.Out && other.Name != p.Name {
			p.Others = append(p.Others, other.Name)
		}
	}
	if access.CallerOf(r).Scope >= access.Operate {
		p.Settings = config.ShowConnector(c.Config())
	}
	return p
}

// An accountPage is the model of the page about one account.
type accountPage struct {
	admin.Account
	Config struct {
		MaxSessions, MaxScheduled, MaxParked int
		MayEdit                              bool // the reader of the page may change the account by its form
	}
	Rate        struct{ In, Out, Limit string } // messages a second; Limit is that of In
	Share       string                          // share of the account's messages that were delivered to the mobile
	Hour        *hour                           // nil: the account had no traffic
	Open        sessionRows
	Reasons     []portion // reasons of refusals
	Servers     any       // the servers that webhooks call
	DeadLetters int64
	Keys        []keyRow
	Figures     []admin.Figure

	Settings string // settings as in the configuration; empty for users who may not see them
}

// A keyRow is the part of a key that is shown.
type keyRow struct{ Name, Scopes, Networks, Expires string }

func (d *details) account(r *http.Request) any {
	status, name := d.server.Status(true), r.PathValue("name")
	i := slices.IndexFunc(status.Accounts, func(a admin.Account) bool { return a.Name == name })
	cfg := d.server.Gateway().Table.Account(name)
	if i < 0 || cfg == nil {
		return nil
	}
	p := accountPage{Account: status.Accounts[i], Keys: keyRows(cfg.Logins.Keys, status.Time)}
	p.Config.MaxSessions, p.Config.MaxScheduled, p.Config.MaxParked = cfg.Sessions.Most, cfg.MaxScheduled, cfg.MaxParked
	p.Hour, p.Share = hourOf(d.server.AccountHistory(), name), deliveredShare(&p.Account)
	p.Rate.In, p.Rate.Out, p.Rate.Limit = p.Hour.rate(history.In), p.Hour.rate(history.Out), limit(cfg.Rate)
	var open []admin.Session
	for i := range status.Connectors {
		if status.Connectors[i].Direction != config.In {
			continue // the connector's sessions use the same name for the login
		}
		for _, one := range status.Connectors[i].SessionList {
			if one.Account == name {
				open = append(open, one)
			}
		}
	}
	p.Open = firstOf(open, name)
	for i := range status.Webhooks {
		if status.Webhooks[i].Account == name {
			p.DeadLetters = status.Webhooks[i].DeadLetters
		}
	}
	p.Servers = d.server.Gateway().Webhooks.Rows(name)
	p.Reasons, p.Figures = portions(p.RefusedBy), admin.Figures(p.Account)
	if access.CallerOf(r).Scope >= access.Operate {
		p.Settings = config.ShowAccount(cfg)
	}
	all := d.server.Gateway().Node.Config()
	p.Config.MayEdit = d.edits && manages(all, r) && all.Defined(managed.Accounts, name) == ""
	return p
}

// keyRows returns the rows of keys, without their hashes.
func keyRows(keys []config.Key, now time.Time) (rows []keyRow) {
	for i := range keys {
		k := &keys[i]
		row := keyRow{Name: k.Name, Scopes: strings.Join(k.Scopes, ", "), Expires: k.Expires}
		if row.Scopes == "" {
			row.Scopes = config.SendScope + ", " + config.ReadScope
		}
		for _, n := range k.Networks {
			row.Networks = strings.TrimPrefix(row.Networks+", "+n.String(), ", ")
		}
		if at := k.ExpiresAt(); !at.IsZero() && now.After(at) {
			row.Expires += " (has expired)"
		}
		rows = append(rows, row)
	}
	return rows
}
