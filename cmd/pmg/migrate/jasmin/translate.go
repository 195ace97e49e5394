package jasmin

import (
	"fmt"
	"strings"

	"pmg/cmd/pmg/migrate/draft"
)

type translator struct {
	draft      *draft.Draft
	dump       *Dump
	password   func() string // makes a password
	names      map[string]bool
	connectors map[string]*connector // connectors, by cid
	order      []*connector
	accounts   map[string]*account // accounts, by uid
	users      []*account
	hooks      map[string]string // the account of each HTTP connector, by cid
	keep       float64           // seconds for which receipts are matched, if more than a week
}

// The connectors that clients use.
const (
	serverSMPP = "smpps"
	serverHTTP = "http"
)

// Translate returns the translated configuration. name is the name of the dump, for the title. Jasmin does
// not show the passwords of users: password makes new ones.
func Translate(name string, dump *Dump, password func() string) *draft.Draft {
	t := translator{
		draft: &draft.Draft{
			Title: "Made by pmg import from the output of Jasmin's console, " + name + ".",
		}, dump: dump, password: password,
		names: map[string]bool{}, connectors: map[string]*connector{}, accounts: map[string]*account{},
		hooks: map[string]string{},
	}
	t.servers()
	for _, r := range dump.Connectors {
		t.addConnector(r)
	}
	t.shareOperators()
	for _, r := range dump.Users {
		t.addUser(r)
	}
	if t.hasLongName() {
		t.draft.Connectors[0].Set("long_system_ids", true) // the option of the SMPP connector
	}
	t.missing()
	t.addMO()
	t.addMT()
	t.draft.Tell(
		"callbacks: public lets an account name URLs (dlr-url) of public servers. Those of servers in private networks " +
			"must be in callback_urls.",
	)
	t.draft.Tell("Jasmin has no window: PMG sends a session up to 10 messages before it has answered the first (window).")
	t.draft.Tell(
		"Long texts: Jasmin sends up to five parts. PMG sends up to max_parts of the account (10), and refuses what is longer.",
	)
	return t.draft
}

// servers adds the connectors of clients, which are not in a dump.
func (t *translator) servers() {
	for _, s := range []struct{ name, address string }{{serverSMPP, "0.0.0.0:2775"}, {serverHTTP, "0.0.0.0:1401"}} {
		e := &draft.Entry{}
		e.Set("name", draft.Name(s.name, t.names))
		e.Set("direction", draft.Word("in"))
		if s.name == serverHTTP {
			e.Set("protocol", draft.Word("http"))
			e.Set("dialects", []string{"jasmin"})
		}
		e.Set("address", s.address)
		if s.name == serverSMPP {
			e.Set("long_passwords", true)
			e.Decide("jasmin.cfg has the address, [smpp-server]: this is Jasmin's own")
		} else {
			e.Set("long_messages", draft.Word("join"))
			e.Decide(
				"jasmin.cfg has the address, [http-api]: this is Jasmin's own. The REST interface (8080) is at the same " +
					"address here",
			)
		}
		t.draft.Connectors = append(t.draft.Connectors, e)
	}
}

// hasLongName reports whether a user's name is longer than the system_id of SMPP.
func (t *translator) hasLongName() bool {
	for _, a := range t.accounts {
		if len(a.name) > draft.SystemID {
			return true
		}
	}
	return false
}

// source returns a record as options that are taken one by one.
func source(kind string, r *Record, remarks draft.Remarker) *draft.Source {
	g := draft.NewSource(kind, fmt.Sprintf("line %d", r.Line()), remarks)
	for _, o := range r.Options {
		if o.Value == "None" {
			o.Value = ""
		}
		g.Put(o.Name, o.Value)
	}
	return g
}

// usual skips the options that have no equal in PMG, and have Jasmin's default values.
func usual(e *draft.Entry, g *draft.Source, values map[string]string) {
	var names []string
	for _, name := range g.Names() {
		if value, ok := values[name]; ok && g.Value(name) == value {
			g.Take(name)
			names = append(names, strings.TrimPrefix(name, credential))
		}
	}
	if len(names) > 0 {
		e.Tell("without an equal, and as Jasmin has them anyway: %s", strings.Join(names, ", "))
	}
}

// missing reports the parts that a dump lacks.
func (t *translator) missing() {
	if len(t.connectors)+len(t.accounts) == 0 {
		t.draft.Decide("the dump shows no connector and no user: docs/migrate.md says how to make one")
	}
	for _, row := range t.dump.ConnectorList {
		if id, _, _ := strings.Cut(row.Text, " "); t.connectors[id] == nil {
			t.draft.Decide("connector %q is in a list and not in the dump: add what smppccm -s %s shows", id, id)
		}
	}
	for _, row := range t.dump.UserList {
		id, _, _ := strings.Cut(strings.TrimPrefix(row.Text, "!"), " ")
		if a := t.accounts[id]; a == nil {
			t.draft.Decide("user %q is in a list and not in the dump: add what user -s %s shows", id, id)
		} else if strings.HasPrefix(row.Text, "!") {
			a.disable("the user is disabled")
		}
	}
	for _, row := range t.dump.Groups {
		group, off := strings.CutPrefix(row.Text, "!")
		for _, a := range t.users {
			if off && a.group == group {
				a.disable("its group is disabled")
			}
		}
	}
	for _, row := range t.dump.Filters {
		t.draft.Tell(
			"filter, line %d (%s): routes show what they filter by", row.Line, strings.Join(strings.Fields(row.Text), " "),
		)
	}
	for _, row := range t.dump.Interceptors {
		t.draft.Decide(
			"interceptor, line %d (%s): write a plugin in its place (docs/plugins.md)", row.Line,
			strings.Join(strings.Fields(row.Text), " "),
		)
	}
	for _, row := range t.dump.Unknown {
		t.draft.Decide("line %d is nothing that pmg import knows: %.60q", row.Line, row.Text)
	}
}
