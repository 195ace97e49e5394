package kannel

import (
	"encoding/hex"
	"net/http"
	"net/textproto"
	"slices"
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
type params map[string]string

// names are the names of the parameters. Some have an older name as well.
func names() []string {
	return []string{
		"username", "user", "password", "pass", "to", "from", "text", "charset", "coding", "udh", "mclass", "mwi", "compress",
		"alt-dcs", "pid", "rpi", "priority", "validity", "deferred", "smsc", "dlr-mask", "dlrmask",
		"dlr-url", "dlrurl", "account", "binfo", "meta-data",
	}
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
		s.params["text"], s.params["charset"] = string(r.Body), charset
		if _, given := number(s.params["coding"]); !given {
			s.params["coding"] = map[bool]string{true: "0", false: "1"}[kind == "text/plain"]
		}
	case "text/html", "text/vnd.wap.wml":
		s.params, s.unsupported = readHeaders(r), true
	case "text/xml":
		s.params, s.receivers = readXML(r.Body)
		if _, given := number(s.params["coding"]); !given {
			s.params["coding"] = "0"
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
	username, name := p["username"]
	password, secret := p["password"]
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
	known := names()
	p := make(params, len(known))
	for pair := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(pair, "=")
		if name, _ = unescape(name); !slices.Contains(known, name) {
			continue
		}
		if _, given := p[name]; !given {
			p[name], _ = unescape(value)
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
	p := params{}
	for _, name := range names() {
		if all := r.Header[textproto.CanonicalMIMEHeaderKey("X-Kannel-"+name)]; len(all) > 0 {
			p[name] = strings.TrimSpace(all[len(all)-1])
		}
	}
	if udh, given := p["udh"]; given {
		var ok bool
		if p["udh"], ok = binary(udh); !ok {
			delete(p, "udh")
		}
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
		if value, given = p[name]; given {
			return value, true
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
