package kannel

import (
	"fmt"
	"net"
	"strconv"
	"strings"

	"pmg/cmd/pmg/migrate/draft"
)

// A translator translates groups into a draft.
type translator struct {
	draft  *draft.Draft
	core   *draft.Source
	smsbox *draft.Source
	smscs  []*smsc

	listeners map[int64]string // names of the connectors on which SMSCs call by HTTP, by port

	users      []*account
	served     []*mobileService
	services   map[string]bool // names of the services' accounts
	password   func() string   // makes a password
	inAccounts bool            // the accounts have the rule and the lists of numbers that unified-prefix becomes
	in         *draft.Entry    // the connector for clients; nil: no connector
	names      map[string]bool
}

// ofAccounts are the differences for all clients.
var ofAccounts = [...]string{
	"smsc: Kannel lets each request name an SMSC. PMG ignores that, and a message takes the routes of its account.",
	"callbacks: public lets an account name URLs (dlr-url) of public servers. Those of servers in private networks must " +
		"be in callback_urls.",
	"max-messages: Kannel cuts a text that is longer, or longer than one short message without it. PMG sends up to " +
		"max_parts (10), and refuses longer texts.",
	"concatenation: without it, Kannel sends a long text as separate messages. PMG sends parts that the mobile joins.",
}

// Translate returns the draft for a configuration. name is the name of its file, for the title. password makes the
// passwords of the accounts that stand for services.
func Translate(name string, groups []*Group, password func() string) *draft.Draft {
	d := &draft.Draft{Title: "Made by pmg import from the Kannel configuration " + name + "."}
	t := translator{
		draft: d, names: map[string]bool{}, listeners: map[int64]string{}, services: map[string]bool{}, password: password,
	}
	t.core = newGroup(&Group{Kind: "core"}, d)
	t.smsbox = newGroup(&Group{Kind: "smsbox"}, d)
	for _, g := range groups {
		switch g.Kind {
		case "core":
			t.single(&t.core, g, d.Section("admin"))
		case "smsbox":
			t.single(&t.smsbox, g, &draft.Entry{})
		}
	}
	for _, g := range groups {
		switch g.Kind {
		case "core", "smsbox":
		case "smsc":
			t.addSMSC(g)
		case "sendsms-user":
			t.addUser(g)
		case "sms-service":
			t.addService(g)
		default:
			t.whole(g)
		}
	}
	t.finishSMSCs()
	t.addSendsms()
	t.addCore()
	t.addServiceRoutes()
	t.addRoutes()
	if len(t.users) > 0 {
		for _, text := range ofAccounts {
			d.Tell("%s", text)
		}
	}
	return d
}

// single sets the group of a kind that a configuration may have once.
func (t *translator) single(to **draft.Source, g *Group, remarks *draft.Entry) {
	if (*to).At != "" {
		t.draft.Decide(
			"group %s in %s: there is one already, in %s; this one is left out, with %s", g.Kind, g.At, (*to).At, namesOf(g),
		)
		return
	}
	remarks.From = from(g)
	*to = newGroup(g, remarks)
}

// from returns the comment with the origin of an entry.
func from(g *Group) string { return fmt.Sprintf("From group %s, %s.", g.Kind, g.At) }

func namesOf(g *Group) string {
	names := make([]string, len(g.Options))
	for i, o := range g.Options {
		names[i] = o.Name
	}
	return strings.Join(names, ", ")
}

// whole comments a group that has no translation.
func (t *translator) whole(g *Group) {
	for _, r := range service() {
		if r.Group != g.Kind {
			continue
		}
		text := fmt.Sprintf("group %s, %s (%s): %s", g.Kind, g.At, t.shown(g), r.Why)
		if r.Decide {
			t.draft.Decide("%s", text)
		} else {
			t.draft.Tell("%s", text)
		}
		return
	}
	t.draft.Decide("group %q, %s (%s): pmg import does not know it", g.Kind, g.At, t.shown(g))
}

// shown returns the options of a group with their values, for a comment.
func (t *translator) shown(g *Group) string {
	known := newGroup(g, t.draft)
	all := make([]string, len(known.Names()))
	for i, name := range known.Names() {
		all[i] = known.Text(name)
	}
	return strings.Join(all, ", ")
}

// addCore translates the rest of the options of the group core.
func (t *translator) addCore() {
	admin := t.draft.Section("admin")
	if port, ok := t.core.Number("admin-port", 1, 65535); ok {
		admin.Set("address", net.JoinHostPort("127.0.0.1", fmt.Sprint(port)))
	}
	if host := t.core.Take("admin-interface"); host != "" && host != "127.0.0.1" && host != "localhost" {
		admin.Decide(
			"admin-interface = %q: an address that others can reach needs admin.tokens and admin.tls, so it is on loopback",
			host,
		)
	}
	if level, ok := t.core.Number("log-level", 0, 5); ok {
		t.draft.Section("log").Set("level", draft.Word([]string{"debug", "info", "warn", "error", "error", "error"}[level]))
	}
	if s, ok := t.core.Number("sms-combine-concatenated-mo-timeout", 0, 1<<31); ok {
		t.draft.Section("limits").Set("join_timeout", seconds(min(max(s, 1), 600)))
	}
	t.core.Take("sms-combine-concatenated-mo")
	if t.core.Take("status-password") != "" && t.in == nil {
		admin.Decide(
			"status-password: /status needs a connector with protocol: http, dialects: [kannel] and status_password",
		)
	}
	t.core.Rest(admin, Table())
	if t.in == nil {
		if remarks, ok := t.smsbox.Remarks.(*draft.Entry); ok {
			t.draft.Remarks = append(t.draft.Remarks, remarks.Remarks...)
		}
		t.smsbox.Rest(t.draft, Table())
	}
}

func (t *translator) addSendsms() {
	g := t.smsbox
	port, ok := g.Number("sendsms-port", 1, 65535)
	if !ok {
		if len(t.users) > 0 {
			t.draft.Decide(
				"no smsbox has a sendsms-port: clients need a connector with direction: in, protocol: http and " +
					"dialects: [kannel]",
			)
		}
		return
	}
	e := &draft.Entry{From: fmt.Sprintf("From group smsbox, %s.", g.At)}
	if remarks, ok := g.Remarks.(*draft.Entry); ok {
		e.Remarks = remarks.Remarks
	}
	g.Remarks, t.in = e, e
	e.Set("name", draft.Name("sendsms", t.names))
	e.Set("direction", draft.Word("in"))
	e.Set("protocol", draft.Word("http"))
	e.Set("dialects", []string{"kannel"})
	host := g.Take("sendsms-interface")
	if host == "" {
		host = "0.0.0.0"
	}
	e.Set("address", net.JoinHostPort(host, fmt.Sprint(port)))
	if g.Is("sendsms-port-ssl", false) {
		e.Set("tls", t.serverTLS(e))
	}
	if password := t.core.Take("status-password"); password != "" {
		e.Set("status_password", password)
		e.Tell("status_password: /status.xml and the like are at the address of this connector, not at that of admin-port")
	}
	if t.core.Is("sms-combine-concatenated-mo", true) {
		e.Set("long_messages", draft.Word("join"))
	}
	t.addValidity(e)
	g.Take("global-sender") // accounts have the sender, because the rules of this connector come before theirs
	limits(e, g)
	t.unifyRecipients(e)
	g.Rest(e, Table())
	t.draft.Connectors = append([]*draft.Entry{e}, t.draft.Connectors...)
}

// serverTLS returns the option tls of a listener.
func (t *translator) serverTLS(e *draft.Entry) draft.Flow {
	certificate, key := t.core.Take("ssl-server-cert-file"), t.core.Take("ssl-server-key-file")
	made := draft.Flow{{Key: "min_version", Value: "1.2"}}
	if certificate != "" {
		made = append(draft.Flow{{Key: "certificate", Value: certificate}, {Key: "key", Value: key}}, made...)
	} else {
		e.Decide("encryption is on, but the group core has no ssl-server-cert-file: give tls a certificate and its key")
	}
	return made
}

// addValidity sets the validity of the clients' connector, if all SMSCs have the same.
func (t *translator) addValidity(in *draft.Entry) {
	minutes, same := int64(-1), true
	for _, s := range t.smscs {
		if s.sends {
			same = same && (minutes < 0 || minutes == s.validity)
			minutes = s.validity
		}
	}
	if same && minutes > 0 {
		in.Set("validity", draft.Word(strconv.FormatInt(minutes, 10)+"m"))
		in.Tell("validity is the validityperiod of the groups smsc")
		return
	}
	for _, s := range t.smscs {
		if s.sends && s.validity > 0 {
			s.entry.Decide(
				"validityperiod = %d: the others have another one. PMG has validity for accounts and for the connectors "+
					"of clients",
				s.validity,
			)
		}
	}
}

// seconds returns a duration in the form of the configuration.
func seconds(n int64) draft.Word { return draft.Word(strconv.FormatInt(n, 10) + "s") }

// limits writes the lists of prefixes that recipients may have, and reports whether there are any. A number that is on
// neither of two lists passes in Kannel, and a rule of PMG cannot say that.
func limits(e *draft.Entry, g *draft.Source) (has bool) {
	allowed, denied := g.List("allowed-prefix"), g.List("denied-prefix")
	option, list := "allow", allowed
	switch {
	case len(allowed) > 0 && len(denied) > 0:
		e.Decide("allowed-prefix and denied-prefix together: Kannel sends what allowed-prefix has, or denied-prefix has not. "+
			"Here only denied-prefix counts: %s; allowed-prefix: %s", strings.Join(denied, " "), strings.Join(allowed, " "))
		option, list = "deny", denied
	case len(denied) > 0:
		option, list = "deny", denied
	case len(allowed) == 0:
		return false
	}
	prefixes := make([]string, len(list))
	for i, p := range list {
		prefixes[i] = strings.TrimRight(p, "*") + "*"
	}
	e.Add("rewrite", draft.Flow{{Key: "in", Value: draft.Word("destination")}, {Key: option, Value: prefixes}})
	return true
}
