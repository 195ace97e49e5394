package kannel

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"net"
	"net/url"
	"strings"

	"pmg/cmd/pmg/migrate/draft"
)

// The values of system-type, in groups smsc with HTTP, that are translated.
const (
	typeKannel  = "kannel"
	typeGeneric = "generic"
)

// http makes the connector of an SMSC that is called by HTTP, and the connector that takes the SMSC's calls.
func (t *translator) http(s *smsc, g *draft.Source) {
	e, kind := s.entry, strings.ToLower(g.Take("system-type"))
	e.Set("direction", draft.Word("out"))
	e.Set("protocol", draft.Word("http"))
	raw := g.Take("send-url")
	if raw == "" {
		e.Decide("send-url is missing: Kannel does not start without one; url is left out")
	}
	u := t.generic
	if kind == typeKannel {
		u = t.nextKannel
	}
	made := u(s, g, raw)
	t.callbacks(s, g, kind)
	if n, ok := g.Number("max-pending-submits", 1, 10000); ok {
		e.Set("window", int(n))
	}
	if n, ok := t.core.Number("http-timeout", 1, 3600); ok {
		e.Set("response_timeout", seconds(n))
	}
	if strings.HasPrefix(strings.ToLower(raw), "https:") {
		t.peerTLS(e, "a send-url with https", t.core.Value("ssl-client-certkey-file"))
	}
	t.wholeTexts(e, g, made)
	t.common(e, g)
	made.plus(e)
	g.Rest(e, Table())
	t.add(s)
}

// isHTTP reports whether a group with smsc = http is translated, and writes a comment if it is not.
func (t *translator) isHTTP(of *Group, kind string) bool {
	switch strings.ToLower(kind) {
	case typeKannel, typeGeneric:
		return true
	case "":
		t.draft.Decide(
			"group smsc, %s, smsc = http (%s): it has no system-type, without which Kannel does not start it", of.At,
			t.shown(of),
		)
	default:
		t.draft.Decide("group smsc, %s, smsc = http, system-type = %s (%s): pmg import translates kannel and generic; "+
			"write a connector with direction: out "+
			"and protocol: http, as docs/http-smsc.md says", of.At, kind, t.shown(of))
	}
	return false
}

// nextKannel sets the requests to another Kannel: those of the preset, or a template if options change them.
func (t *translator) nextKannel(s *smsc, g *draft.Source, raw string) *template {
	e := s.entry
	name, password := g.Take("smsc-username"), g.Take("smsc-password")
	if name == "" || password == "" {
		e.Decide("smsc-username or smsc-password is missing: Kannel does not start this SMSC without them")
	}
	noSender, noCoding, hexadecimal := g.Is("no-sender", false), g.Is("no-coding", false), g.Is("no-sep", false)
	made := &template{header: true}
	raw = made.login(e, raw)
	base, usual := strings.CutSuffix(raw, "/cgi-bin/sendsms")
	e.Set("preset", draft.Word("kannel"))
	switch {
	case raw == "":
	case usual && !noSender && !noCoding && !hexadecimal && !strings.ContainsAny(base, "?{"):
		e.Set("url", base)
	default:
		text, sender, coding := "text={data}&udh={udh}", "&from={from}", "&coding={coding}"
		if hexadecimal {
			text = "text={data_hex}&udh={udh_hex}"
		}
		if noSender {
			sender = ""
		}
		if noCoding {
			coding = ""
		}
		e.Set("url", literal(raw)+"?username={username}&password={password}&to={to}&"+text+sender+"&mclass={class}"+coding+
			"&charset={charset}&dlr-url={dlr_url}&dlr-mask={dlr_mask}&validity={validity}")
	}
	e.Set("system_id", name)
	e.Set("password", password)
	if made.user != "" {
		login := base64.StdEncoding.EncodeToString([]byte(made.user + ":" + made.password))
		e.Set("request", draft.Flow{{Key: "headers", Value: []string{"Authorization: Basic " + login}}})
	}
	if charset := g.Take("alt-charset"); charset != "" {
		e.Decide(
			"alt-charset = %q: Kannel sends texts in it, and says neither coding nor charset. PMG sends Unicode, and says both",
			charset,
		)
	}
	e.Tell("smsc, account, binfo, mwi and deferred are not passed on: PMG itself keeps a message until it is due")
	e.Tell(
		"an answer other than success: Kannel gives the message up, PMG sends it again if the answer's status is temporary",
	)
	return made
}

// generic sets the requests to an SMSC of any kind, and the meaning of its answers.
func (t *translator) generic(s *smsc, g *draft.Source, raw string) *template {
	e := s.entry
	made := &template{receipts: g.Given("port") && !g.Given("generic-foreign-id-regex")}
	if charset := g.Take("alt-charset"); charset != "" {
		if made.utf8 = charsets[plainCharset(charset)] == "utf8"; !made.utf8 {
			e.Decide("alt-charset = %q: Kannel sends texts in it, PMG in UTF-8, or in UTF-16BE if they are not GSM "+
				"7-bit; {content} has all in UTF-8, "+
				"{octets_hex} and {octets_base64} the alphabet of the message", charset)
		}
	}
	raw = made.login(e, raw)
	path, query, _ := strings.Cut(raw, "?")
	path, query = made.path(e, path), made.query(e, query)
	var request draft.Flow
	switch post := g.Is("use-post", false); {
	case post && query != "":
		request = append(request, draft.Field{Key: "form", Value: query})
	case post:
		request = append(request, draft.Field{Key: "method", Value: draft.Word("POST")})
	case query != "":
		path += "?" + query
	}
	if raw != "" {
		e.Set("url", path)
	}
	if raw != "" && !made.recipient {
		e.Decide("send-url lacks the recipient (%%p): url must have {to}")
	}
	if made.user != "" {
		e.Set("system_id", made.user)
		e.Set("password", made.password)
		request = append(request, draft.Field{Key: "login", Value: draft.Word("basic")})
	}
	if len(request) > 0 {
		e.Set("request", request)
	}
	answers(e, g)
	return made
}

// answers sets the meaning of answers. Kannel looks at their bodies alone, first for success. The expression for refusals
// needs no condition, because otherwise refuses all other answers; as a condition it would come before success in PMG.
func answers(e *draft.Entry, g *draft.Source) {
	var all draft.Flow
	add := func(name, option string, group bool) bool {
		text := expression(e, option, g.Take(option), group)
		if text != "" {
			all = append(all, draft.Field{Key: name, Value: draft.Flow{{Key: "body", Value: text}}})
		}
		return text != ""
	}
	if !add("success", "status-success-regex", false) {
		e.Decide(
			"it has no status-success-regex that PMG can read: Kannel does not start it without one; here any answer of " +
				"2xx is a success",
		)
		add("permanent", "status-permfail-regex", false)
	} else if text := g.Take("status-permfail-regex"); text != "" {
		e.Tell(
			"status-permfail-regex = %q: every answer that fits neither success nor temporary refuses the message, in "+
				"Kannel as well",
			text,
		)
	}
	if add("temporary", "status-tempfail-regex", false) {
		e.Decide("an answer that fits status-tempfail-regex and another expression: Kannel looks for the others first. " +
			"PMG looks for temporary first, so no answer of " +
			"success may fit it")
	}
	all = append(all, draft.Field{Key: "otherwise", Value: draft.Word("permanent")})
	add("id", "generic-foreign-id-regex", true)
	e.Set("answers", all)
}

// kannelStates are the states in receipts for the values of dlr-mask.
var kannelStates = []string{"1=delivered", "2=undeliverable", "4=enroute", "8=ignored", "12=enroute", "16=rejected", "34=expired"}

// callbacks sets the calls by which the SMSC delivers receipts and messages from mobiles. Kannel listens for them on
// a port for each SMSC.
func (t *translator) callbacks(s *smsc, g *draft.Source, kind string) {
	e := s.entry
	port, listens := g.Number("port", 1, 65535)
	if !listens {
		if kind == typeKannel {
			e.Decide("it has no port: the SMSC calls the dlr-url of Kannel's client. PMG takes the receipts " +
				"itself, and asks for none without callbacks: " +
				"listener, url and secret, as docs/http-smsc.md says")
		}
		return
	}
	secret := ""
	if kind == typeKannel || g.Given("smsc-username") && g.Given("smsc-password") {
		secret = g.Take("smsc-password") // Kannel also requires the password in each call
		g.Take("smsc-username")
	}
	networks := callers(e, g, secret)
	all := draft.Flow{{Key: "listener", Value: t.listener(s, port, networks, g.Is("use-ssl", false))}}
	reply, paths := "Sent.", "receipts at /from/NAME/receipts and messages from mobiles, with their texts in UTF-8, at "+
		"/from/NAME/inbound"
	if kind == typeKannel {
		paths = "messages from mobiles at /from/NAME/inbound"
		if u, err := url.Parse(g.Take("dlr-url")); err == nil && u.Host != "" {
			all = append(all, draft.Field{Key: "url", Value: u.Scheme + "://" + u.Host})
		} else {
			e.Decide("it has no dlr-url that PMG can read: without one the SMSC calls the dlr-url of Kannel's client."+
				" PMG takes the receipts itself, "+
				"and asks for none without callbacks.url: how the SMSC reaches port %d", port)
		}
	}
	token := ""
	if secret != "" {
		all = append(all, draft.Field{Key: "secret", Value: secret})
		token = ", with callbacks.secret (which is smsc-password) as the parameter token in the place of username and password"
	}
	e.Decide("port = %d: Kannel takes calls at any path there. Here the SMSC must bring %s, NAME being the name of this "+
		"connector%s; they are answered with 200",
		port, paths, token)
	all = append(all, draft.Field{Key: "networks", Value: networks})
	if kind == typeGeneric {
		all = append(all, parameters(g)...)
		reply = cmp.Or(g.Take("generic-message-sent"), "Sent")
	}
	if strings.Contains(reply, "%") {
		e.Decide("generic-message-sent = %q: callbacks.reply has no escapes; it is left out", reply)
	} else {
		all = append(all, draft.Field{Key: "reply", Value: reply})
	}
	e.Set("callbacks", all)
}

// callers takes the addresses that calls may come from.
func callers(e *draft.Entry, g *draft.Source, secret string) []string {
	allowed := g.List("connect-allow-ip")
	networks := prefixes(e, "connect-allow-ip", allowed)
	switch {
	case anywhere(allowed):
		networks = []string{"0.0.0.0/0", "::/0"}
		if secret == "" {
			e.Decide("connect-allow-ip allows all addresses to send receipts: give callbacks a secret, or fewer networks")
		}
	case len(networks) == 0:
		networks = []string{"127.0.0.1/32"} // the default of Kannel
	}
	return networks
}

// parameters sets the names of the parameters of calls.
func parameters(g *draft.Source) draft.Flow {
	name := func(of string) string {
		if other := g.Take("generic-param-" + of); other != "" {
			return other
		}
		return of
	}
	text := name("text")
	return draft.Flow{
		{Key: "receipts", Value: draft.Flow{
			{Key: "id", Value: name("dlr-mid")}, {Key: "state", Value: name("dlr-mask")}, {Key: "error", Value: name("dlr-err")},
			{Key: "text", Value: text}, {Key: "states", Value: kannelStates},
		}},
		{Key: "inbound", Value: draft.Flow{
			{Key: "from", Value: name("from")}, {Key: "to", Value: name("to")}, {Key: "text", Value: text},
			{Key: "udh", Value: name("udh")},
		}},
	}
}

// listener returns the name of the connector that listens on a port, and adds the connector if there is none.
func (t *translator) listener(s *smsc, port int64, networks []string, tls bool) string {
	if name := t.listeners[port]; name != "" {
		s.entry.Decide("port = %d: another group has it, too, and its connector %s says who may connect", port, name)
		return name
	}
	e := &draft.Entry{From: s.entry.From}
	name := draft.Name(s.wanted+"-callbacks", t.names)
	t.listeners[port] = name
	e.Set("name", name)
	e.Set("direction", draft.Word("in"))
	e.Set("protocol", draft.Word("http"))
	e.Set("address", net.JoinHostPort("0.0.0.0", fmt.Sprint(port)))
	e.Set("networks", networks)
	if tls {
		e.Set("tls", t.serverTLS(e))
	}
	t.draft.Connectors = append(t.draft.Connectors, e)
	return name
}

// wholeTexts sets how long texts are split.
func (t *translator) wholeTexts(e *draft.Entry, g *draft.Source, made *template) {
	n, given := g.Number("max-sms-octets", 1, 1<<31)
	switch {
	case given && n < octetsOfPart:
		e.Decide("max-sms-octets = %d: a short message of PMG has %d octets", n, octetsOfPart)
	case given && n > octetsOfPart && made.header:
		e.Set("long_messages", draft.Word("join"))
		e.Tell("max-sms-octets = %d: texts are sent whole, however long they are", n)
	case given && n > octetsOfPart:
	case !made.header:
		e.Tell("send-url has no user data header (%%u): Kannel cuts long texts into short messages of their own, PMG " +
			"sends them whole (long_messages). " +
			"Kannel sends a binary message without its header, PMG refuses it")
	}
}
