package jasmin

import (
	"fmt"
	"math"
	"strings"

	"pmg/cmd/pmg/migrate/draft"
)

// An account is an account of a user.
type account struct {
	entry       *draft.Entry
	name, group string
	http, smpp  bool // protocols by which the account may submit
	onlyHTTP    bool // the account may not bind
	pulls       bool // the account fetches its messages from mobiles
	off         bool
}

const credential = "mt_messaging_cred "

// usualUser are the options without an equal in PMG, with Jasmin's default values.
func usualUser() map[string]string {
	values := map[string]string{
		"quota balance": "ND", "quota sms_count": "ND", "quota early_percent": "ND", "valuefilter priority": "^[0-3]$",
		"valuefilter content":         ".*",
		"valuefilter validity_period": `^\d+$`, "authorization http_bulk": "False",
	}
	for _, name := range []string{"http_balance", "http_rate", "http_long_content", "dlr_level", "http_dlr_method",
		"src_addr", "priority", "validity_period",
		"schedule_delivery_time", "hex_content"} {
		values["authorization "+name] = "True"
	}
	all := map[string]string{}
	for name, value := range values {
		all[credential+name] = value
	}
	return all
}

func (t *translator) addUser(r *Record) {
	e := &draft.Entry{}
	g := source(user, r, e)
	uid := g.Take("uid")
	a := &account{entry: e, name: g.Take("username"), group: g.Take("gid")}
	if t.accounts[uid] != nil {
		t.draft.Decide("%s: user %q is shown a second time; this one is left out", g.At, uid)
		return
	}
	e.From = fmt.Sprintf("From user -s %s of group %s, %s.", uid, a.group, g.At)
	e.Set("system_id", a.name)
	e.Set("password", t.password())
	e.Decide("password: Jasmin does not show it, so this is a new one. Write the client's own, or its hash (pmg account hash)")
	a.rights(g)
	e.Set("callbacks", draft.Word("public"))
	a.limits(g)
	a.lists(g)
	usual(e, g, usualUser())
	g.Rest(e, Table())
	t.accounts[uid], t.users = a, append(t.users, a)
	t.draft.Accounts = append(t.draft.Accounts, e)
}

// rights sets the protocols by which the account may log in.
func (a *account) rights(g *draft.Source) {
	bind := g.Is("smpps_cred authorization bind", true)
	a.http = g.Is(credential+"authorization http_send", true)
	a.smpp = bind && g.Is(credential+"authorization smpps_send", true)
	switch {
	case !bind && !a.http:
		a.disable("it may neither bind nor send by HTTP")
	case !bind:
		a.onlyHTTP = true
		a.entry.Set("connectors", []string{serverHTTP})
	case !a.http:
		a.entry.Set("connectors", []string{serverSMPP})
	}
	if bind && !a.smpp {
		a.entry.Decide(
			"smpps_send is False: the account may bind and not submit. PMG has no such right for one protocol; bind: " +
				"[receiver] is for all",
		)
	}
	g.Take(credential + "authorization smpps_send")
	if n, ok := quota(g, "smpps_cred quota max_bindings"); ok {
		a.entry.Set("max_sessions", int(n))
	}
}

// receives records that a route leads to the account.
func (a *account) receives() {
	if a.onlyHTTP && !a.pulls {
		a.pulls = true
		a.entry.Decide("a route leads to it, and it may not bind: it can fetch these messages by HTTP (pull), or get a webhook")
		a.entry.Set("pull", true)
	}
}

// disable prevents logins of a user.
func (a *account) disable(why string) {
	if a.off {
		return
	}
	a.off = true
	a.entry.Decide("%s: networks has an address that nobody has, so that nobody can log in", why)
	a.entry.Set("networks", []string{"0.0.0.0/32"})
}

// quota takes a number that may be ND: not defined.
func quota(g *draft.Source, name string) (float64, bool) {
	if value := g.Take(name); value == "ND" {
		return 0, false
	}
	return g.Real(name)
}

// limits sets the limits of the account's submits.
func (a *account) limits(g *draft.Source) {
	http, _ := quota(g, credential+"quota http_throughput")
	smpp, _ := quota(g, credential+"quota smpps_throughput")
	rate := max(http, smpp)
	if rate == 0 {
		return
	}
	a.entry.Set("rate", int(max(math.Ceil(rate), 1)))
	if http != smpp || rate != math.Trunc(rate) {
		a.entry.Decide(
			"http_throughput and smpps_throughput are %g and %g: PMG has one rate for both, of whole messages a second",
			http, smpp,
		)
	}
}

// lists sets the addresses that the account may use.
func (a *account) lists(g *draft.Source) {
	for _, o := range [][2]string{{"dst_addr", "destination"}, {"src_addr", "source"}} {
		pattern := g.Take(credential + "valuefilter " + o[0])
		words, ok := prefixes(pattern)
		if !ok {
			a.entry.Decide("valuefilter %s is %q: %s", o[0], pattern, filters)
		} else if len(words) > 0 {
			a.entry.Add("rewrite", draft.Flow{{Key: "in", Value: draft.Word(o[1])}, {Key: "allow", Value: words}})
		}
	}
	if sender := g.Take(credential + "defaultvalue src_addr"); sender != "" {
		a.entry.Add("rewrite", draft.Flow{{Key: "in", Value: draft.Word("source")}, {Key: "default", Value: sender}})
	}
}

// prefixes returns the addresses that a regular expression matches, prefixes with an asterisk; none if it matches all. It
// reports false if there is no such list.
func prefixes(pattern string) (words []string, ok bool) {
	p := strings.TrimPrefix(pattern, "^")
	p, exact := strings.CutSuffix(p, "$")
	for _, rest := range []string{".*", `\d*`, `\d+`, "[0-9]*", "[0-9]+", ".+"} {
		if before, open := strings.CutSuffix(p, rest); open {
			p, exact = before, false
			break
		}
	}
	p = strings.TrimPrefix(strings.TrimPrefix(p, `\+?`), `\+`)
	if p == "" {
		return nil, !exact
	}
	if inner, ok := strings.CutPrefix(p, "("); ok && strings.HasSuffix(inner, ")") {
		p = strings.TrimPrefix(strings.TrimSuffix(inner, ")"), "?:")
	} else if strings.Contains(p, "|") {
		return nil, false
	}
	for word := range strings.SplitSeq(p, "|") {
		if word == "" || strings.Trim(word, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-") != "" {
			return nil, false
		}
		if !exact {
			word += "*"
		}
		words = append(words, word)
	}
	return words, true
}
