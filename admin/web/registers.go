package web

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"pmg/admin"
	"pmg/config/managed"
)

// The names of the pages about lists of numbers.
const (
	registersName = "lists"
	registerName  = "lists/{name}"
)

// registers shows the lists of numbers.
func (l *lists) registers(r *http.Request) any {
	seconds := func(at *time.Time) float64 {
		if at == nil {
			return 0
		}
		return float64(at.Unix())
	}
	cfg := l.server.Gateway().Node.Config()
	p := &registersPage{MayMake: l.edits && manages(cfg, r)}
	p.table = tableOf(r, l.server.Status(false).Lists, func(n *admin.NumberList) string { return n.Name },
		[]column[admin.NumberList]{
			{head: "list", text: func(n *admin.NumberList) string { return n.Name }},
			{head: "entries", number: func(n *admin.NumberList) float64 { return float64(n.Entries) }},
			{head: "added", number: func(n *admin.NumberList) float64 { return float64(n.Added) }},
			{head: "removed", number: func(n *admin.NumberList) float64 { return float64(n.Removed) }},
			{head: "last opt-out", number: func(n *admin.NumberList) float64 { return seconds(n.LastStop) }},
			{head: "last added", number: func(n *admin.NumberList) float64 { return seconds(n.LastAdded) }},
			{head: "hits", number: func(n *admin.NumberList) float64 { return float64(n.Hits) }},
			{head: "replies", number: func(n *admin.NumberList) float64 { return float64(n.Replies) }},
		}...)
	return p
}

// A registersPage is the model of the page with the lists of numbers.
type registersPage struct {
	*table[admin.NumberList]
	MayMake bool // the reader of the page may make lists
}

// A registerPage is the model of the page about one list of numbers.
type registerPage struct {
	Number string             // number that is asked for; "": none
	Found  *admin.Listed      // what the list knows of the number; nil: nothing is known
	Recent []admin.ListChange // changes of the list, the latest first
	List   *admin.NumberList  // nil: there is no such list
	Edits  bool               // the reader of the page may change the options of the list
	problem
}

// register shows one list, and what it knows of ?number=. Both are read from the list's changes.
func (s *site) register(r *http.Request) any {
	name := r.PathValue("name")
	p := registerPage{Number: strings.TrimSpace(r.URL.Query().Get("number"))}
	all := s.server.Status(false).Lists
	if i := slices.IndexFunc(all, func(n admin.NumberList) bool { return n.Name == name }); i >= 0 {
		p.List = &all[i]
		cfg := s.server.Gateway().Node.Config()
		p.Edits = s.Edit != nil && manages(cfg, r) && cfg.Defined(managed.Lists, name) == ""
	}
	var err error
	p.Recent, err = admin.LatestChanges(s.server, r, name)
	if err == nil && p.Number != "" {
		p.Found, err = admin.LookUp(s.server, r, name, p.Number)
	}
	p.problem = problemOf(err)
	return p
}
