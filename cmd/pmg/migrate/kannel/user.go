package kannel

import (
	"cmp"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"pmg/cmd/pmg/migrate/draft"
)

// An account is the account of a sendsms-user.
type account struct {
	entry   *draft.Entry
	name    string
	smsc    string // id, in lower case, of the SMSC that the account's messages ask for
	hasList bool   // the account has a list of recipients
}

func (t *translator) addUser(of *Group) {
	e := &draft.Entry{From: from(of)}
	g := newGroup(of, e)
	a := &account{entry: e, name: g.Take("username"), smsc: strings.ToLower(g.Take("forced-smsc"))}
	for _, other := range t.users {
		if other.name == a.name {
			t.draft.Decide(
				"group sendsms-user, %s: username %q is there already; this one is left out (%s)", of.At, a.name,
				t.shown(of),
			)
			return
		}
	}
	e.Set("system_id", a.name)
	e.Set("password", g.Take("password"))
	if a.name == "" || !g.Given("password") {
		e.Decide("username or password is missing: nobody can log in")
	}
	networks(e, g)
	e.Set("bind", []string{"transmitter"})
	if id := g.Take("default-smsc"); id != "" && a.smsc == "" {
		a.smsc = strings.ToLower(id)
	}
	callbacks(e, g)
	if n, ok := g.Number("max-messages", 0, 1<<31); ok && n > 0 {
		e.Set("max_parts", int(min(n, 255)))
	} else if ok {
		e.Decide("max-messages = \"0\": in Kannel the account may not send")
	}
	g.Take("concatenation")
	a.hasList = limits(e, g)
	t.sender(e, g)
	g.Rest(e, Table())
	t.users = append(t.users, a)
	t.draft.Accounts = append(t.draft.Accounts, e)
}

// sender sets the sender of messages: faked-sender for all requests, or else the first of the other options, for
// requests without a sender.
func (t *translator) sender(e *draft.Entry, g *draft.Source) {
	faked, ours, all := g.Take("faked-sender"), g.Take("default-sender"), t.smsbox.Take("global-sender")
	rule := draft.Field{Key: "set", Value: faked}
	if faked == "" {
		rule = draft.Field{Key: "default", Value: cmp.Or(ours, all)}
	}
	if rule.Value != "" {
		e.Add("rewrite", draft.Flow{{Key: "in", Value: draft.Word("source")}, rule})
	}
}

// callbacks sets the URLs that the account may name for receipts. Kannel calls any.
func callbacks(e *draft.Entry, g *draft.Source) {
	e.Set("callbacks", draft.Word("public"))
	raw := g.Take("dlr-url")
	if raw == "" {
		return
	}
	e.Decide("dlr-url = %q: each request must name its dlr-url, there is none for the account", raw)
	address, _, _ := strings.Cut(raw, "?")
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil ||
		strings.Contains(address, "%") || u.Fragment != "" {
		return
	}
	e.Set("callback_urls", []string{address})
}

// networks sets the networks that the account may log in from. In Kannel user-allow-ip has exceptions from user-deny-ip.
func networks(e *draft.Entry, g *draft.Source) {
	allowed, denied := g.List("user-allow-ip"), g.List("user-deny-ip")
	everybody := len(denied) == 1 && denied[0] == "*.*.*.*"
	switch {
	case len(denied) > 0 && !everybody:
		e.Decide("user-deny-ip = %q: networks of PMG allows networks, and cannot exclude any", strings.Join(denied, ";"))
	case everybody && len(allowed) == 0:
		e.Decide("user-deny-ip excludes all clients: networks has an address that no client has")
		e.Set("networks", []string{"0.0.0.0/32"})
	case len(denied) == 0 && len(allowed) > 0:
		e.Decide(
			"user-allow-ip has no effect in Kannel without user-deny-ip, here it has: remove networks if everybody may log in",
		)
	}
	if list := prefixes(e, "user-allow-ip", allowed); len(list) > 0 {
		e.Set("networks", list)
	} else if everybody && len(allowed) > 0 && e.Get("networks") == nil && !anywhere(allowed) {
		e.Set("networks", []string{"0.0.0.0/32"})
	}
}

// anywhere reports whether a list allows all addresses.
func anywhere(list []string) bool { return slices.Contains(list, "*.*.*.*") }

// prefixes returns the networks of a list of addresses, in which an asterisk stands for any number. For a list that
// allows all addresses it returns none.
func prefixes(e *draft.Entry, option string, list []string) (networks []string) {
	if anywhere(list) {
		return nil
	}
	for _, a := range list {
		if a == "localhost" {
			a = "127.0.0.1"
		}
		parts := strings.Split(a, ".")
		stars := 0
		for i := len(parts) - 1; i >= 0 && parts[i] == "*"; i-- {
			parts[i] = "0"
			stars++
		}
		address, err := netip.ParseAddr(strings.Join(parts, "."))
		if err != nil || stars > 0 && !address.Is4() {
			e.Decide("%s: %q is no address that networks can have: it is left out", option, a)
			continue
		}
		network := netip.PrefixFrom(address, address.BitLen()-8*stars).Masked().String()
		if !slices.Contains(networks, network) {
			networks = append(networks, network)
		}
	}
	return networks
}
