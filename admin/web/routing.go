package web

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"pmg/admin"
	"pmg/config"
)

// Limits of the page with the routes.
const (
	mostNamed  = 10    // entries of a condition that are shown
	mostLength = 10000 // characters of the text that is explained
)

// Routes make the page with the routes.
type routes struct {
	Tools
	server    *admin.Server
	explainer *explainer
	office    *office
}

// A Question describes a message. Empty fields are unknown.
type Question struct{ Account, Connector, From, To, Text string }

// A routingPage is the model of the page with the routes, in the order of the configuration.
type routingPage struct {
	*table[routeRow]
	NoRoute string

	Seen    string // tag of the order of the managed routes, "": the reader of the page may not move them
	MayMake bool   // the reader of the page may make routes

	CanExplain bool
	Ask        Question
	Word       string
	Length     int
	Unicode    bool
	Answer     string // answer to the question
	Wrong      string // the reason why there is no explanation
}

// A routeRow is a route of the table.
type routeRow struct {
	Number     int
	Name       string // name of the route, or its line in the file
	Managed    string // name of the managed route; "": the file defines it
	First      bool   // no managed route comes before it
	Last       bool   // no managed route comes after it
	Today      int64
	Conditions []string
	Policy     string
	Messages   int64
	Targets    []targetRow
}

// A targetRow is a target of a route, with its state.
type targetRow struct {
	Name, Account string
	Weight        int
	State         string // state of a connector
	Sessions      int    // sessions that are logged in
}

// page shows the routes. A stream of the page shows no explanation, which does not change.
func (ro *routes) page(r *http.Request) any {
	v := r.URL.Query()
	cfg := ro.server.Gateway().Node.Config()
	p := &routingPage{
		table: tableOf(r, ro.rows(cfg), (*routeRow).text), NoRoute: cfg.NoRoute,
		CanExplain: ro.Explain != nil,
		Ask:        Question{Account: v.Get("account"), Connector: v.Get("connector"), From: v.Get("from"), To: v.Get("to")},
		Word:       v.Get("word"), Unicode: v.Get("unicode") != "",
	}
	if ro.Edit != nil && manages(cfg, r) {
		p.MayMake = true
		if all, err := ro.office.placedRoutes(); err == nil {
			p.Seen = tagOf(all)
		}
	}
	p.Length, _ = strconv.Atoi(v.Get("length"))
	p.Length = min(max(p.Length, 0), mostLength)
	if strings.Contains(r.URL.Path, "/stream/") {
		return p
	}
	if p.CanExplain && p.Ask.To != "" {
		ro.explain(cfg, p)
	}
	return p
}

// An explainer answers questions, one at a time, because each answer uses a gateway of its own.
type explainer struct{ busy sync.Mutex }

// ask answers a question, or returns the reason why there is no answer.
func (e *explainer) ask(t *Tools, cfg *config.Config, q Question) (answer, wrong string) {
	if !e.busy.TryLock() {
		return "", "Another message is being explained: try again."
	}
	defer e.busy.Unlock()
	answer, err := t.Explain(cfg, q)
	if err != nil {
		return "", err.Error()
	}
	return answer, ""
}

// explain answers the question of the page.
func (ro *routes) explain(cfg *config.Config, p *routingPage) {
	letter := "a"
	if p.Unicode {
		letter = "ж"
	}
	if p.Ask.Text = p.Word; p.Length > len([]rune(p.Word)) {
		if p.Word != "" {
			p.Ask.Text += " "
		}
		p.Ask.Text += strings.Repeat(letter, p.Length-len([]rune(p.Ask.Text)))
	}
	p.Answer, p.Wrong = ro.explainer.ask(&ro.Tools, cfg, p.Ask)
}

func (ro *routes) rows(cfg *config.Config) []routeRow {
	status := ro.server.Status(false)
	states, sessions := map[string]targetRow{}, map[string]int{}
	for i := range status.Connectors {
		c := &status.Connectors[i]
		states[c.Name] = targetRow{State: c.State, Sessions: c.SessionsBound}
	}
	for i := range status.Accounts {
		sessions[status.Accounts[i].Name] = status.Accounts[i].Sessions
	}
	rows := make([]routeRow, len(cfg.Routes))
	for i := range rows {
		r := &cfg.Routes[i]
		rows[i] = routeRow{Number: i, Name: cfg.RouteLabel(i), Conditions: conditions(r), Policy: r.Policy}
		if i < len(status.Routes) { // a reload may just have added the route
			rows[i].Messages, rows[i].Today = status.Routes[i].Taken, status.Routes[i].Today
		}
		rows[i].Managed, rows[i].First, rows[i].Last = cfg.ManagedRoute(i), i == 0, cfg.ManagedRoute(i+1) == ""
		for _, to := range r.To {
			t := states[to.Connector]
			if t.Name, t.Account, t.Weight = to.Connector, to.Account, to.Weight; to.IsClient() {
				t.State, t.Sessions = "", sessions[to.Account]
			}
			rows[i].Targets = append(rows[i].Targets, t)
		}
	}
	return rows
}

// conditions returns the conditions under which a message takes a route.
func conditions(r *config.Route) (all []string) {
	for _, c := range []struct {
		name   string
		values []string
	}{
		{"account", one(r.Account)}, {"from", one(r.From)}, {"destination", r.Destination},
		{"destination_file", one(r.DestinationFile)}, {"network", r.Network}, {"source", one(r.Source)},
		{"keyword", r.Keyword}, {"tag", r.Tag},
	} {
		switch n := len(c.values); {
		case n > mostNamed:
			all = append(all, fmt.Sprintf("%s: %s and %d more", c.name, strings.Join(c.values[:mostNamed], ", "), n-mostNamed))
		case n > 0:
			all = append(all, c.name+": "+strings.Join(c.values, ", "))
		}
	}
	return all
}

func one(value string) []string {
	if value == "" {
		return nil
	}
	return []string{value}
}

// text returns the text of a route that a filter searches.
func (r *routeRow) text() string {
	words := append([]string{r.Name}, r.Conditions...)
	for _, t := range r.Targets {
		words = append(words, t.Name, t.Account, t.State)
	}
	return strings.Join(words, " ")
}
