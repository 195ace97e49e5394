package kannel

import (
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"

	"pmg/protocols/httpsms"
)

// MaxRequest is how many octets a query or a body may have.
const MaxRequest = 1 << 20

// A Send is a request for messages.
type Send struct {
	// Dropped are the receivers that Orders has left out because they cannot be numbers. Kannel leaves them
	// out too, and reports an error only if no receiver remains.
	Dropped []string

	params      params
	receivers   []string // recipients of an XML request, which has an element for each
	posted      bool     // the request has a body that is only the text
	unsupported bool     // Kannel reads such a body, and refuses it after the login
}

// params are the parameters that were given, by the names that they have in a query.
type params []param

type param struct{ name, value string }

// usual is the number of parameters of a usual request.
const usual = 12

// isName reports whether a text is the name of a parameter. Some have an older name as well.
func isName(text string) bool {
	switch text {
	case "username", "user", "password", "pass", "to", "from", "text", "charset", "coding", "udh", "mclass", "mwi", "compress",
		"alt-dcs", "pid", "rpi", "priority", "validity", "deferred", "smsc", "dlr-mask", "dlrmask",
		"dlr-url", "dlrurl", "account", "binfo", "meta-data":
		return true
	}
	return false
}

// set sets a parameter.
func (p *params) set(name, value string) {
	for i := range *p {
		if (*p)[i].name == name {
			(*p)[i].value = value
			return
		}
	}
	*p = append(*p, param{name, value})
}

// value returns the value of a parameter, "" if it was not given.
func (p params) value(name string) string {
	value, _ := p.get(name)
	return value
}

// Read reads a request. It returns an answer if Kannel refuses the request before the login.
func Read(r *httpsms.Request) (*Send, *httpsms.Answer) {
	if len(r.Query) > MaxRequest || len(r.Body) > MaxRequest {
		return nil, TooLarge()
	}
	_, headers := r.Header["X-Kannel-Username"]
	if len(r.Body) == 0 && !(headers && r.Method == http.MethodPost) {
		return &Send{params: readQuery(r.Query)}, nil
	}
	kind, charset := contentType(r.Get("Content-Type"))
	s := &Send{posted: true}
	switch kind {
	case "application/x-www-form-urlencoded":
		return &Send{params: readQuery(r.Query + "&" + string(r.Body))}, nil
	case "text/plain", "application/octet-stream":
		s.params = readHeaders(r)
		s.params.set("text", string(r.Body))
		s.params.set("charset", charset)
		if _, given := number(s.params.value("coding")); !given {
			s.params.set("coding", map[bool]string{true: "0", false: "1"}[kind == "text/plain"])
		}
	case "text/html", "text/vnd.wap.wml":
		s.params, s.unsupported = readHeaders(r), true
	case "text/xml":
		s.params, s.receivers = readXML(r.Body)
		if _, given := number(s.params.value("coding")); !given {
			s.params.set("coding", "0")
		}
	default:
		return nil, answer(http.StatusBadRequest, "Invalid content-type")
	}
	return s, nil
}

// Login returns the credentials in the query of a form, or in the headers of another body. It reports false if they
// are not there; then they may be in the body. If the body has credentials too, Read ignores those.
func Login(r *httpsms.Request) (username, password string, ok bool) {
	var p params
	switch kind, _ := contentType(r.Get("Content-Type")); kind {
	case "application/x-www-form-urlencoded":
		p = readQuery(r.Query)
	case "text/plain", "application/octet-stream", "text/html", "text/vnd.wap.wml":
		p = readHeaders(r)
	}
	username, name := p.get("username")
	password, secret := p.get("password")
	return username, password, name && secret
}

// contentType reads a Content-Type as Kannel does: without one the body is octets, and text without a charset is ISO-8859-1.
func contentType(value string) (kind, charset string) {
	kind, parameter, _ := strings.Cut(value, ";")
	kind = strings.ToLower(strings.TrimSpace(kind))
	if kind == "" {
		return "application/octet-stream", ""
	}
	_, charset, _ = strings.Cut(parameter, "=")
	charset, _, _ = strings.Cut(charset, ";")
	if charset = strings.Trim(charset, ` "`); charset == "" && strings.HasPrefix(kind, "text") {
		charset = "ISO-8859-1"
	}
	return kind, charset
}

// readQuery reads the parameters of a query. The first value of a name counts.
func readQuery(query string) params {
	p := make(params, 0, usual)
	for more := query != ""; more; {
		var pair string
		pair, query, more = strings.Cut(query, "&")
		name, value, _ := strings.Cut(pair, "=")
		if name, _ = unescape(name); !isName(name) {
			continue
		}
		if _, given := p.get(name); !given {
			value, _ = unescape(value)
			p = append(p, param{name, value})
		}
	}
	return p
}

// unescape decodes URL encoding into octets, of any charset. It keeps malformed escapes, and reports false for them.
func unescape(s string) (string, bool) {
	if !strings.ContainsAny(s, "%+") {
		return s, true
	}
	b, ok := make([]byte, 0, len(s)), true
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '+':
			b = append(b, ' ')
		case s[i] != '%':
			b = append(b, s[i])
		case i+2 >= len(s):
			return string(append(b, s[i:]...)), false
		default:
			v, err := strconv.ParseUint(s[i+1:i+3], 16, 8)
			if err == nil {
				b = append(b, byte(v))
			} else {
				b, ok = append(b, s[i:i+3]...), false
			}
			i += 2
		}
	}
	return string(b), ok
}

// readHeaders reads the parameters that stand in headers named X-Kannel-. The last value of a name counts.
func readHeaders(r *httpsms.Request) params {
	const prefix = "X-Kannel-"
	p := params{}
	for name, all := range r.Header {
		name, is := strings.CutPrefix(name, prefix)
		if name = strings.ToLower(name); !is || !isName(name) || len(all) == 0 {
			continue
		}
		value := strings.TrimSpace(all[len(all)-1])
		if name == "udh" {
			var ok bool
			if value, ok = binary(value); !ok {
				continue
			}
		}
		p.set(name, value)
	}
	return p
}

// binary reads octets in hexadecimal digits or, if they are none, in URL encoding.
func binary(s string) (string, bool) {
	if b, err := hex.DecodeString(s); err == nil {
		return string(b), true
	}
	return unescape(s)
}

// get returns the parameter of the first of those names that was given.
func (p params) get(names ...string) (value string, given bool) {
	for _, name := range names {
		for i := range p {
			if p[i].name == name {
				return p[i].value, true
			}
		}
	}
	return "", false
}

// notGiven is the number of a parameter that was not given.
const notGiven = -1

// number returns the number of the first of those names that was given.
func (p params) number(names ...string) int {
	value, _ := p.get(names...)
	if n, ok := number(value); ok {
		return n
	}
	return notGiven
}

// maxNumber bounds numbers.
const maxNumber = 1<<31 - 1

// number reads a number as C's scanf does: blanks, a sign, digits, and whatever follows them.
func number(s string) (n int, ok bool) {
	s = strings.TrimLeft(s, " \t\n\v\f\r")
	sign := 1
	if s != "" && (s[0] == '-' || s[0] == '+') {
		if s[0] == '-' {
			sign = -1
		}
		s = s[1:]
	}
	for i := 0; i < len(s) && s[i] >= '0' && s[i] <= '9'; i++ {
		n, ok = min(n*10+int(s[i]-'0'), maxNumber), true
	}
	return sign * n, ok
}

// Credentials returns the name and the password of a request.
func (s *Send) Credentials() (username, password string) {
	username, _ = s.params.get("username", "user")
	password, _ = s.params.get("password", "pass")
	return username, password
}
