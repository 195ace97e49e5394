package kannel

import (
	"slices"
	"strings"

	"pmg/cmd/pmg/migrate/draft"
)

// smpp makes the connectors of an SMSC with SMPP: one for both directions, or one for each.
func (t *translator) smpp(s *smsc, g *draft.Source) {
	e := s.entry
	e.Set("direction", draft.Word("out"))
	host := g.Take("host")
	port, sends := g.Number("port", 1, 65535)
	receive, receives := g.Number("receive-port", 1, 65535)
	bind := draft.Word("transceiver")
	if !g.Is("transceiver-mode", false) {
		bind = "transmitter"
	} else if receives = false; !sends {
		port = receive
	}
	t.smppLogin(e, g)
	t.smppSession(e, g)
	waits(e, g)
	t.common(e, g)
	types(e, g) // behind unified-prefix, because that sees the TON and NPI that numbers came with
	g.Rest(e, Table())
	at := func(port int64, bind draft.Word) []draft.Field {
		where := []draft.Field{{Key: "direction", Value: draft.Word("out")}}
		if host != "" && port > 0 {
			where = append(where, draft.Field{Key: "address", Value: hostPort(host, port)})
		}
		where = append(where, draft.Field{Key: "bind", Value: bind})
		if bind == "transmitter" {
			where = append(where, draft.Field{Key: "static", Value: true})
		}
		return append(where, e.Fields[1:]...)
	}
	if host == "" || !sends && !receives && port == 0 {
		e.Decide("host or port is missing: address is left out")
	}
	if receives {
		r := *s
		fields := without(at(receive, "receiver"), "rate", "long_messages", "window", "submit")
		r.entry = &draft.Entry{From: e.From, Fields: fields}
		r.sends, r.wanted, r.each = false, s.wanted+"-receiver", 0
		if !sends {
			r.entry.Remarks, r.wanted = e.Remarks, s.wanted
			t.add(&r)
			return
		}
		defer t.add(&r)
	}
	e.Fields = at(port, bind)
	t.add(s)
}

// without returns fields except those with the given keys.
func without(fields []draft.Field, keys ...string) []draft.Field {
	return slices.DeleteFunc(slices.Clone(fields), func(f draft.Field) bool { return slices.Contains(keys, f.Key) })
}

// smppLogin sets the options of the login, and the encryption of the session.
func (t *translator) smppLogin(e *draft.Entry, g *draft.Source) {
	name := g.Take("smsc-username")
	if older := g.Take("system-id"); name == "" {
		name = older
	}
	e.Set("system_id", name)
	if len(name) > draft.SystemID {
		e.Set("long_system_ids", true)
	}
	e.Set("password", g.Take("smsc-password"))
	system := g.Take("system-type")
	if !g.Has("system-type") {
		system = "VMA" // Kannel's default
	}
	if system != "" {
		e.Set("system_type", system)
	}
	if addresses := g.Take("address-range"); addresses != "" {
		e.Set("address_range", addresses)
	}
	for _, o := range []string{"ton", "npi"} {
		if n, ok := g.Number("bind-addr-"+o, 0, 255); ok {
			e.Set("bind_"+o, int(n))
		}
	}
	switch version := g.Take("interface-version"); version {
	case "", "34", "0x34":
	case "33", "0x33":
		e.Set("version", "3.3")
	case "50", "0x50":
		e.Set("version", "5.0")
	default:
		e.Decide("interface-version = %q: PMG speaks 3.3, 3.4 and 5.0", version)
	}
	certificate := g.Take("ssl-client-certkey-file")
	if !g.Is("use-ssl", false) {
		return
	}
	t.peerTLS(e, "use-ssl", certificate)
}

// peerTLS sets the encryption of connections to an SMSC. option is the option of Kannel that enables it.
func (t *translator) peerTLS(e *draft.Entry, option, certificate string) {
	tls := draft.Flow{{Key: "min_version", Value: "1.2"}}
	if ca := t.core.Take("ssl-trusted-ca-file"); ca != "" {
		tls = append(tls, draft.Field{Key: "ca", Value: ca})
	} else {
		e.Decide("%s: without ssl-trusted-ca-file Kannel takes any certificate of the SMSC. PMG checks it by the "+
			"machine's authorities "+
			"(pmg probe shows whether an SMSC's with SMPP is good); else give tls a ca or a pin", option)
	}
	if certificate != "" {
		tls = append(tls, draft.Field{Key: "certificate", Value: certificate}, draft.Field{Key: "key", Value: certificate})
	}
	e.Set("tls", tls)
}

// charsets are PMG's names of alphabets, by those of iconv.
var charsets = map[string]string{
	"gsm": "gsm7", "gsm7": "gsm7", "gsm0338": "gsm7", "latin1": "latin1", "iso88591": "latin1", "l1": "latin1",
	"ascii": "ascii", "usascii": "ascii", "ucs2": "ucs2", "ucs2be": "ucs2", "utf16be": "ucs2", "utf16": "ucs2", "utf8": "utf8",
}

// plainCharset returns the name of an alphabet in the form of the keys of charsets.
func plainCharset(name string) string {
	return strings.NewReplacer("-", "", "_", "", ".", "").Replace(strings.ToLower(name))
}

// smppSession sets the options of the session.
func (t *translator) smppSession(e *draft.Entry, g *draft.Source) {
	if n, ok := g.Number("max-pending-submits", 1, 10000); ok {
		e.Set("window", int(n))
	}
	if n, ok := g.Number("enquire-link-interval", 0, 3600); ok {
		e.Set("enquire_interval", seconds(n))
	}
	if name := g.Take("alt-charset"); name != "" {
		word := charsets[plainCharset(name)]
		if word == "" {
			e.Decide("alt-charset = %q: charset of PMG has gsm7, gsm7-packed, ascii, latin1, ucs2 and utf8", name)
		} else {
			e.Set("charset", draft.Word(word))
		}
	}
	e.Set("long_messages", draft.Word("split8"))
	if n, ok := g.Number("msg-id-type", 0, 3); ok {
		e.Set("receipt_ids", draft.Word([]string{"same", "decimal", "hexadecimal", "same"}[n]))
	}
	submits(e, g)
}

// submits sets the fields of submits that a message does not determine.
func submits(e *draft.Entry, g *draft.Source) {
	var fields draft.Flow
	if service := g.Take("service-type"); service != "" {
		fields = append(fields, draft.Field{Key: "service_type", Value: service})
	}
	if n, ok := g.Number("priority", 0, 4); ok && n > 0 {
		fields = append(fields, draft.Field{Key: "priority", Value: int(n)})
	}
	if n, ok := g.Number("esm-class", 0, 3); ok && n > 0 {
		fields = append(fields, draft.Field{Key: "mode", Value: draft.Word([]string{"datagram", "forward", "store"}[n-1])})
	}
	if fields != nil {
		e.Set("submit", fields)
	}
}

// The values of TON and NPI that rules can have.
const (
	tons = "0 1 2 3 4 5 6"
	npis = "0 1 3 4 6 8 9 10 14 18"
)

// types writes the rules for TON and NPI. Kannel needs both. Kannel sends a number that came with '+' as
// international, whatever the options are; PMG's rule sees the number without the '+'.
func types(e *draft.Entry, g *draft.Source) {
	auto := g.Is("source-addr-autodetect", true)
	for _, address := range []string{"source", "dest"} {
		ton, npi := g.Take(address+"-addr-ton"), g.Take(address+"-addr-npi")
		switch {
		case ton == "" && npi == "":
			continue
		case !slices.Contains(strings.Fields(tons), ton) || !slices.Contains(strings.Fields(npis), npi):
			e.Decide(
				"%s-addr-ton = %q, %s-addr-npi = %q: they count together, ton is one of %s, npi one of %s", address, ton,
				address, npi, tons, npis,
			)
			continue
		}
		rule := draft.Flow{{Key: "out", Value: draft.Word("source")}}
		if address == "dest" {
			rule[0].Value = draft.Word("destination")
		} else if auto {
			rule = append(rule, draft.Field{Key: "match", Value: "[0-9]+"})
		}
		e.Add("rewrite", append(rule, draft.Field{Key: "ton", Value: ton}, draft.Field{Key: "npi", Value: npi}))
		if ton != "1" {
			e.Decide(
				"%s-addr-ton = %q: the rule is also for numbers that came with '+', which Kannel sends as international (1)",
				address, ton,
			)
		}
	}
}
