package kannel

import (
	"slices"
	"strings"

	"pmg/cmd/pmg/migrate/draft"
)

// A mobileService is the server that is called for messages from mobiles, for those with a keyword.
type mobileService struct {
	account  *draft.Entry
	keywords []string // keywords of the messages; none: all messages that no other service takes
	from     []string // smsc-ids in lower case; none: all
}

// addService makes the account for a sms-service that calls a server. Other services become comments.
func (t *translator) addService(of *Group) {
	e := &draft.Entry{From: from(of)}
	g := newGroup(of, e)
	if !g.Given("get-url") && !g.Given("post-url") || !t.smsbox.Given("sendsms-port") {
		t.draft.Decide("group sms-service, %s (%s): %s", of.At, t.shown(of), fromMobile)
		return
	}
	form, url := draft.Word("kannel-get"), g.Take("get-url")
	if url == "" {
		form, url = "kannel-post", g.Take("post-url")
	}
	s := &mobileService{account: e}
	word, words, why := keywords(g)
	if why != "" {
		t.draft.Decide("group sms-service, %s (%s): no route is made: %s; write one, with its account", of.At, t.shown(of), why)
		return
	}
	for _, w := range words {
		if strings.Trim(strings.ToLower(w), "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
			e.Decide("keyword %q: a keyword of a route is one word of letters and digits; it is left out", w)
			continue
		}
		s.keywords = append(s.keywords, w)
	}
	if len(words) > 0 && len(s.keywords) == 0 {
		t.draft.Remarks = append(t.draft.Remarks, e.Remarks...)
		return
	}
	for _, id := range g.List("accepted-smsc") {
		s.from = append(s.from, strings.ToLower(id))
	}
	e.Set("system_id", draft.Name("service-"+strings.ToLower(word), t.services))
	e.Set("password", t.password())
	e.Set("bind", []string{"transmitter"})
	e.Set("connectors", []string{"sendsms"})
	e.Set("webhook", url)
	e.Set("webhook_form", form)
	if n, ok := g.Number("max-messages", 0, 1<<31); !ok || n > 0 {
		e.Set("webhook_reply", true)
	}
	if sender := g.Take("faked-sender"); sender != "" {
		e.Add("rewrite", draft.Flow{{Key: "in", Value: draft.Word("source")}, {Key: "set", Value: sender}})
	}
	g.Rest(e, Table())
	t.served = append(t.served, s)
	t.draft.Accounts = append(t.draft.Accounts, e)
}

// bounds are the options that limit the messages of a service, and that no route has.
var bounds = []string{
	"accepted-smsc-regex", "accepted-account", "accepted-account-regex", "allowed-prefix", "allowed-prefix-regex",
	"denied-prefix", "denied-prefix-regex", "allowed-receiver-prefix", "allowed-receiver-prefix-regex", "denied-receiver-prefix",
	"denied-receiver-prefix-regex", "white-list", "white-list-regex", "black-list", "black-list-regex",
}

// keywords returns the keywords of a service, none for the service of all other messages, and the word that names the service.
// Otherwise why is the reason against a route: without the service's limits it would call the server for too many messages.
func keywords(g *draft.Source) (name string, words []string, why string) {
	name, words = g.Take("keyword"), g.List("aliases")
	switch regex := g.Take("keyword-regex"); {
	case regex != "":
		if words = wordsOf(regex); words == nil {
			return "", nil, "keyword-regex: only whole words at the beginning of a text can be translated"
		}
		name = words[0]
	case name == "":
		return "", nil, "it has no keyword"
	case strings.EqualFold(name, "default"):
		words = nil // the route takes all messages anyway
	default:
		words = append([]string{name}, words...)
	}
	for _, option := range bounds {
		if g.Given(option) {
			return "", nil, option + " cannot be translated"
		}
	}
	return name, words, ""
}

// wordsOf returns the words of a regular expression that matches the texts which begin with one of them, or nil for
// any other expression.
func wordsOf(regex string) []string {
	rest, begins := strings.CutPrefix(strings.ToLower(regex), "^")
	words, behind := rest, ""
	if group, ok := strings.CutPrefix(rest, "("); ok {
		words, behind, ok = strings.Cut(group, ")")
		begins = begins && ok
	} else if i := strings.IndexFunc(rest, func(r rune) bool { return !isLetterOrDigit(r) }); i >= 0 {
		words, behind = rest[:i], rest[i:]
	}
	if !begins || !slices.Contains(ends, behind) {
		return nil
	}
	all := strings.Split(words, "|")
	for _, w := range all {
		if w == "" || strings.IndexFunc(w, func(r rune) bool { return !isLetterOrDigit(r) }) >= 0 {
			return nil
		}
	}
	return all
}

func isLetterOrDigit(r rune) bool { return r >= 'a' && r <= 'z' || r >= '0' && r <= '9' }

// ends are what such an expression may have behind a word: the end, or a blank and any text, which are the same to a route.
var ends = []string{
	"$", `\b`, "( |$)", `(\s|$)`, "( .*)?$", "( .*)?", `(\s.*)?$`, `(\s.*)?`, "( +.*)?$", `(\s+.*)?$`, "([[:space:]].*)?$",
	"([[:space:]]+.*)?$",
}

// addServiceRoutes writes the routes of messages from mobiles: those with keywords first, in the order of the file.
func (t *translator) addServiceRoutes() {
	slices.SortStableFunc(t.served, func(a, b *mobileService) int { return min(len(b.keywords), 1) - min(len(a.keywords), 1) })
	for _, s := range t.served {
		for _, c := range t.smscs {
			if !c.brings() || len(s.from) > 0 && !slices.Contains(s.from, c.id) {
				continue
			}
			r := &draft.Entry{}
			r.Set("from", c.name)
			if len(s.keywords) > 0 {
				r.Set("keyword", s.keywords)
			}
			r.Set("to", []draft.Flow{{{Key: "account", Value: s.account.Get("system_id")}}})
			t.draft.Routes = append(t.draft.Routes, r)
		}
	}
}

// brings reports whether the SMSC delivers messages from mobiles on this connector.
func (s *smsc) brings() bool {
	switch {
	case s.entry.Get("protocol") == draft.Word("http"):
		return s.entry.Get("callbacks") != nil
	case s.entry.Get("protocol") == draft.Word("ucp"):
		return s.entry.Get("traffic") != draft.Word("transmitter")
	}
	return s.entry.Get("bind") != draft.Word("transmitter")
}

func serviceRows() []draft.Row {
	const g = "sms-service"
	return slices.Concat(
		draft.Becomes(g, "keyword", "`routes[].keyword`; `default` is a route for all others"),
		draft.Becomes(g, "aliases", "`routes[].keyword`"),
		draft.Becomes(g, "get-url", "`webhook` of an account, `webhook_form: kannel-get`, `webhook_reply: true`"),
		draft.Becomes(g, "post-url", "`webhook` of an account, `webhook_form: kannel-post`, `webhook_reply: true`"),
		draft.Becomes(g, "accepted-smsc", "`routes[].from`"),
		draft.Becomes(g, "max-messages", "0: `webhook_reply: false`; otherwise the replies may have `max_parts` of the account"),
		draft.Becomes(g, "faked-sender", "`rewrite`: `{in: source, set: …}` of the replies"),
		draft.Leaves(g, "catch-all", "what stands behind a keyword makes no difference to a route"),
		draft.Leaves(g, "name", "the account is named by the keyword"),
		draft.Leaves(g, "concatenation, split-chars, split-suffix", "the mobile joins the parts of a long reply"),
		draft.Leaves(g, "omit-empty", "an empty reply is never sent"),
		draft.Leaves(g, "send-sender", "X-Kannel-From is always sent with kannel-post"),
		draft.Asks(g, "strip-keyword", "texts are brought as they came"),
		draft.Becomes(g, "keyword-regex", "`routes[].keyword`, where it has words alone, with or without any text behind them; otherwise no route is made"),
		draft.Asks(g, "assume-plain-text", "a reply counts by its Content-Type: docs/kannel.md"),
		draft.Asks(g, "accept-x-kannel-headers", "docs/kannel.md says which headers of a reply count"),
		draft.Asks(g, "header, footer", "PMG adds nothing to texts: let the server reply it"),
		draft.Asks(g, "text, file, exec", replies),
		draft.Asks(g, "post-xml", "there is no webhook with this form: get-url and post-url are there"),
		draft.Asks(g, "accepted-smsc-regex", regexRoute),
		draft.Asks(g, "accepted-account", "each account has its routes"),
		draft.Asks(g, "allowed-receiver-prefix", "add destination to the route"),
		draft.Asks(g, "denied-receiver-prefix", "add a route with destination before it"),
		draft.Asks(g, "allowed-prefix", "add source to the route"),
		draft.Asks(g, "denied-prefix", "add a route with source before it"),
		draft.Asks(g, "white-list, black-list", listOfURL),
		draft.Asks(g, "dlr-url", "receipts of replies go to nobody"),
		draft.Asks(g, "alt-charset", "texts are brought in UTF-8"),
	)
}
