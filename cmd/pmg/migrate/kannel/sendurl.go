package kannel

import (
	"fmt"
	"strings"

	"pmg/cmd/pmg/migrate/draft"
)

// A template is a send-url translated into the template of a request.
type template struct {
	receipts bool // the receipts of the SMSC have PMG's id of the message
	utf8     bool // texts are in UTF-8, whatever their alphabet

	user, password string // login in the URL

	recipient, header, optional bool // the URL contains the recipient; the user data header; fields that may be empty
	prefixed                    []string
	told                        map[string]bool
}

// An escape is the translation of a letter behind a percent sign in Kannel.
type escape struct {
	field  string // PMG's field for the escape; empty: no field exists, or nothing is to be written
	why    string // how the field differs from Kannel's escape
	decide bool
	lacks  bool // PMG has no field for this %-escape
}

// escapeOf returns the translation of an escape. It reports false for a letter without a meaning in Kannel, which
// writes both characters.
func (m *template) escapeOf(letter byte) (escape, bool) {
	text, charset, coding := "{data}", "{charset}{binary?8-BIT}", "{coding}"
	if m.utf8 {
		text, charset, coding = "{content}", "{text?UTF-8}{binary?8-BIT}", "{text?-1}{binary?1}"
	}
	switch letter {
	case 'p', 'q':
		return escape{field: "{to}"}, true
	case 'P', 'Q':
		return escape{field: "{from}"}, true
	case 'b', 'A':
		return escape{field: text}, true
	case 'a':
		return escape{field: text, why: "Kannel writes one space between words, PMG the text as it is"}, true
	case 'u':
		return escape{field: "{udh}"}, true
	case 'c':
		return escape{field: coding}, true
	case 'C':
		return escape{field: charset}, true
	case 'I':
		if m.receipts {
			return escape{
				field: "{id}",
				why:   "16 hexadecimal digits, where Kannel writes a UUID, because receipts find their message by this form",
			}, true
		}
		return escape{field: "{uuid}"}, true
	case 'v':
		return escape{field: "{validity}"}, true
	case 'm':
		return escape{field: "{class}"}, true
	case 'O':
		return escape{
			field: "0{data_coding}", why: "Kannel's value contains the class of a message, PMG's does not", decide: true,
		}, true
	case 'd':
		return escape{
			field: "{dlr_mask}",
			why: "it is empty unless callbacks.url is given, and otherwise 19 or 23; Kannel writes what clients have " +
				"asked for, or -1",
			decide: true,
		}, true
	case 'F', 'f': // always empty when a message is sent
		return escape{}, true
	case '%':
		return escape{field: "%"}, true
	}
	why := map[byte]string{
		'k': "a part of the text", 's': "a part of the text", 'S': "a part of the text", 'r': "a part of the text",
		't': "the time", 'T': "the time",
		'i': "the smsc-id that the client has asked for", 'R': "the dlr-url of the client ({receipt_url} is ours)",
		'D': "meta-data", '#': "meta-data",
		'n': "the name of the account", 'M': "the indication of waiting messages", 'B': "binfo", 'o': "account",
		'V': "the minutes until the message is due",
	}[letter]
	return escape{why: why, lacks: true}, why != ""
}

// fill returns a text with PMG's fields in place of Kannel's escapes, and the escapes that PMG has no field for.
func (m *template) fill(e *draft.Entry, text string) (filled string, lacks []string) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '%' || i == len(text)-1 {
			b.WriteString(literal(text[i : i+1]))
			continue
		}
		written := text[i : i+2]
		x, ok := m.escapeOf(text[i+1])
		if !ok {
			b.WriteString(literal(written))
			i++
			continue
		}
		if i++; text[i] == '#' { // %#group#key#
			if parts := strings.SplitN(text[i:], "#", 4); len(parts) == 4 {
				written += parts[1] + "#" + parts[2] + "#"
				i += len(parts[1]) + len(parts[2]) + 2
			}
		}
		if x.lacks {
			lacks = append(lacks, fmt.Sprintf("%s (%s)", written, x.why))
			continue
		}
		m.add(e, written, x)
		b.WriteString(x.field)
	}
	return b.String(), lacks
}

// add records the field of an escape in the template, and comments how it differs from Kannel's.
func (m *template) add(e *draft.Entry, written string, x escape) {
	switch written {
	case "%p", "%q":
		m.recipient = true
	case "%u":
		m.header, m.optional = true, true
	case "%v", "%m":
		m.optional = true
	}
	if written == "%q" || written == "%Q" || written == "%p" || written == "%P" {
		m.prefixed = append(m.prefixed, written)
	}
	if x.why == "" || m.told[written] {
		return
	}
	if m.told == nil {
		m.told = map[string]bool{}
	}
	m.told[written] = true
	text := fmt.Sprintf("%s of send-url is %s: %s", written, x.field, x.why)
	if x.decide {
		e.Decide("%s", text)
	} else {
		e.Tell("%s", text)
	}
}

// path returns the URL in front of the query.
func (m *template) path(e *draft.Entry, text string) string {
	filled, lacks := m.fill(e, text)
	for _, what := range lacks {
		e.Decide("%s in the path of send-url: templates have no such field; it is left out", what)
	}
	return filled
}

// query returns the parameters of a query. Parameters with an escape that PMG has no field for are left out.
func (m *template) query(e *draft.Entry, text string) string {
	var all []string
	for parameter := range strings.SplitSeq(text, "&") {
		filled, lacks := m.fill(e, parameter)
		if len(lacks) > 0 {
			e.Decide(
				"%s of send-url: templates have no field for %s; the parameter is left out", parameter,
				strings.Join(lacks, ", "),
			)
			continue
		}
		all = append(all, filled)
	}
	return strings.Join(all, "&")
}

// plus adds the rules and the comment that the fields of the template need. Kannel writes %q and %Q with + where the number
// begins with 00.
func (m *template) plus(e *draft.Entry) {
	have := strings.Join(m.prefixed, " ")
	for _, o := range []struct{ with, without, address string }{{"%q", "%p", "destination"}, {"%Q", "%P", "source"}} {
		switch {
		case !strings.Contains(have, o.with):
		case strings.Contains(have, o.without):
			e.Decide(
				"send-url has %s as well as %s: both are the number as it is, also where it begins with 00", o.with,
				o.without,
			)
		default:
			e.Add("rewrite", draft.Flow{
				{
					Key: "out", Value: draft.Word(o.address),
				}, {Key: "strip", Value: "00"}, {Key: "ton", Value: "1"}, {Key: "npi", Value: "1"},
			})
		}
	}
	if m.optional {
		e.Tell("a parameter without a value is left out, where Kannel writes its name alone, or -1")
	}
}

// login moves the user and the password of a URL into the template.
func (m *template) login(e *draft.Entry, raw string) string {
	scheme, rest, ok := strings.Cut(raw, "://")
	if !ok && raw != "" {
		e.Decide("send-url = %q: url must begin with http:// or https://", raw)
		return raw
	}
	end := strings.IndexAny(rest, "/?")
	if end < 0 {
		end = len(rest)
	}
	at := strings.LastIndexByte(rest[:end], '@')
	if at < 0 {
		return raw
	}
	m.user, m.password, _ = strings.Cut(rest[:at], ":")
	return scheme + "://" + rest[at+1:]
}

// literal escapes a text for a template, and for a URL.
func literal(text string) string {
	var b strings.Builder
	for i := range len(text) {
		if c := text[i]; c <= ' ' || c >= 0x7F || c == '{' || c == '}' {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}
