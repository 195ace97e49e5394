package jasmin

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"pmg/internal/token"
	"pmg/protocols/httpsms"
	"pmg/sms"
)

// MaxRequest is how many octets a query or a body may have.
const MaxRequest = 1 << 20

// The calls of both interfaces.
const (
	Send         = "/send"
	Rate         = "/rate"
	Balance      = "/balance"
	SecureSend   = "/secure/send"
	SecureRate   = "/secure/rate"
	SecureBatch  = "/secure/sendbatch"
	SecureStatus = "/secure/balance"
)

// A Request is a request of an account.
type Request struct {
	path               string
	username, password string
	messages           []message // messages of the request: one, several for a batch, none for a balance
	batch              batch
	parts              int // short messages of the message, for the query of its rate

	Balance, UnitRate string // amounts, for the answers to /balance and /rate; "": not known, and nothing
	last              encoded
}

// An encoded is the text that was encoded last: usually all messages of a batch have the same text.
type encoded struct {
	text   string
	coding int
	octets []byte
}

// A message is one message of a request.
type message struct {
	params
	to       string
	text     []byte
	alphabet sms.Alphabet
}

// params are the parameters that were given.
type params struct {
	names  []string // names of the parameters, in their order
	values map[string]string
	json   bool // values are texts; false: values are octets
}

// set records a parameter. The first value of a name counts.
func (p *params) set(name, value string) {
	if _, given := p.values[name]; given {
		return
	}
	if p.values == nil {
		p.values = map[string]string{}
	}
	p.names, p.values[name] = append(p.names, name), value
}

// Read reads a request for one of the paths above. It returns an answer if Jasmin refuses the request before the login.
func Read(r *httpsms.Request) (*Request, *httpsms.Answer) {
	q := &Request{path: r.Path}
	if len(r.Query) > MaxRequest || len(r.Body) > MaxRequest {
		return nil, TooLarge(r.Path)
	}
	rest := isREST(r.Path)
	if rest {
		var a *httpsms.Answer
		if q.username, q.password, a = basic(r.Get("Authorization")); a != nil {
			return nil, a
		}
	}
	if r.Path == SecureBatch {
		return q, q.readBatch(r.Body)
	}
	p, err := readParams(r, rest)
	switch {
	case err != nil && rest:
		return nil, problem(http.StatusPreconditionFailed, "Cannot parse JSON data", "Got unparseable json data: "+err.Error())
	case err != nil:
		return nil, q.refuse(http.StatusBadRequest, "Cannot parse JSON data")
	}
	if rest {
		p.set("username", q.username)
		p.set("password", q.password)
	}
	m, wrong := q.readMessage(p, r.Path)
	if wrong != "" {
		return nil, q.refuse(http.StatusBadRequest, wrong)
	}
	if !rest {
		q.username, q.password = p.values["username"], p.values["password"]
	}
	if q.sends() || q.rates() {
		q.messages = []message{m}
		q.parts = partsOf(m.alphabet, m.text)
	}
	return q, nil
}

// Login returns the credentials of a request outside of its body, and reports false if they are in the body,
// or missing. Credentials in the body cannot override them: the first value counts.
func Login(r *httpsms.Request) (username, password string, ok bool) {
	if isREST(r.Path) {
		username, password, a := basic(r.Get("Authorization"))
		return username, password, a == nil
	}
	if mediaType(r) == "application/json" {
		return "", "", false
	}
	var p params
	readQuery(&p, r.Query)
	username, name := p.values["username"]
	password, secret := p.values["password"]
	return username, password, name && secret
}

// mediaType returns the media type of a request's body.
func mediaType(r *httpsms.Request) string {
	kind, _, _ := strings.Cut(r.Get("Content-Type"), ";")
	return strings.TrimSpace(kind)
}

func isREST(path string) bool { return strings.HasPrefix(path, "/secure/") }

func (q *Request) rates() bool { return q.path == Rate || q.path == SecureRate }
func (q *Request) sends() bool { return q.path == Send || q.path == SecureSend }

// Rated returns the order of a request for a rate, which is not sent: the answer depends on whether a route
// leads to the recipient. It reports false for other requests.
func (q *Request) Rated(now int64) (httpsms.Order, bool) {
	if !q.rates() || len(q.messages) == 0 {
		return httpsms.Order{}, false
	}
	o, wrong := q.messages[0].order(now)
	return o, wrong == ""
}

// Submits reports whether the request is for messages.
func (q *Request) Submits() bool { return q.sends() || q.path == SecureBatch }

// Credentials returns the name and the password of a request.
func (q *Request) Credentials() (username, password string) { return q.username, q.password }

// basic reads the credentials of a REST request.
func basic(header string) (username, password string, a *httpsms.Answer) {
	const hint = "Please provide a valid Basic auth token"
	if header == "" {
		return "", "", problem(http.StatusUnauthorized, "Authentication required", hint)
	}
	username, password, ok := token.Basic(header)
	if !ok {
		return "", "", problem(http.StatusUnauthorized, "Invalid token: "+header, hint)
	}
	return username, password, nil
}

// readParams reads the parameters of a request's query, form or object of JSON.
func readParams(r *httpsms.Request, rest bool) (params, error) {
	kind := mediaType(r)
	if len(r.Body) > 0 && (rest || kind == "application/json") {
		var object map[string]json.RawMessage
		if err := json.Unmarshal(r.Body, &object); err != nil {
			return params{}, err
		}
		return fromJSON(object, rest), nil
	}
	var p params
	readQuery(&p, r.Query)
	if kind == "application/x-www-form-urlencoded" {
		readQuery(&p, string(r.Body))
	}
	return p, nil
}

// readQuery reads the parameters of a query or a form.
func readQuery(p *params, query string) {
	for pair := range strings.SplitSeq(query, "&") {
		if name, value, ok := strings.Cut(pair, "="); ok {
			p.set(unescape(name), unescape(value))
		}
	}
}

// unescape decodes URL encoding into octets. It keeps a malformed %, and continues after it, as Python does.
func unescape(s string) string {
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '+':
			b = append(b, ' ')
		case s[i] == '%' && i+2 < len(s):
			if v, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				b = append(b, byte(v))
				i += 2
				continue
			}
			fallthrough
		default:
			b = append(b, s[i])
		}
	}
	return string(b)
}

// fromJSON returns the parameters of an object. underlined says that its names may have '_' for '-'.
func fromJSON(object map[string]json.RawMessage, underlined bool) params {
	p := params{json: true}
	names := make([]string, 0, len(object))
	for name := range object {
		names = append(names, name)
	}
	slices.Sort(names) // an object has no order
	for _, name := range names {
		value := object[name]
		if underlined && name != "custom_tlvs" {
			name = strings.ReplaceAll(name, "_", "-")
		}
		var text string
		switch {
		case bytes.Equal(value, []byte("null")):
		case json.Unmarshal(value, &text) == nil:
			p.set(name, text)
		default:
			p.set(name, string(value))
		}
	}
	return p
}

// readMessage reads a message from parameters, and returns the error of invalid parameters.
func (q *Request) readMessage(p params, path string) (m message, wrong string) {
	fields := allFields
	switch path {
	case Rate, SecureRate:
		fields = fieldsOf(rateNames...)
	case Balance, SecureStatus:
		return m, check(&p, fieldsOf("username", "password"))
	}
	if wrong := check(&p, fields); wrong != "" {
		return m, wrong
	}
	text, given := p.values["content"]
	digits, octets := p.values["hex-content"]
	switch {
	case given && octets:
		return m, "content and hex-content cannot be used both in same request."
	case !given && !octets && len(fields) == len(allFields):
		return m, "content or hex-content not present."
	}
	coding, _ := strconv.Atoi(p.values["coding"])
	m = message{params: p, to: p.values["to"], alphabet: alphabets[coding]}
	if octets {
		b, err := hex.DecodeString(digits)
		if err != nil {
			return m, "Invalid hex-content data: '" + digits + "'"
		}
		m.text = b
	} else {
		if l := &q.last; l.octets == nil || l.text != text || l.coding != coding {
			*l = encoded{text, coding, encode(text, coding, p.json)}
		}
		m.text = q.last.octets
	}
	if m.alphabet == sms.UCS2 && len(m.text)%2 != 0 {
		if octets {
			return m, "Invalid hex-content data: '" + digits + "'"
		}
		return m, invalid("content", text)
	}
	return m, ""
}
