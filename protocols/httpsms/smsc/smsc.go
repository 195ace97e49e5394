package smsc

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"pmg/protocols"
	"pmg/protocols/httpsms"
	"pmg/sms"
)

// An SMSC describes the HTTP interface of an SMSC, as it is configured. It does not change, and is safe for
// concurrent use.
type SMSC struct {
	method  string
	before  template   // the URL before its query
	query   parameters // nil: the URL has no query
	form    parameters // nil: the body is no form
	json    *node      // nil: the body is no JSON
	headers []header

	username, password string
	token              *httpsms.Call // nil: requests need no token

	throttled, temporary, permanent, success condition
	otherwise                                sms.Code // code of an answer that fits no rule; sms.OK: the HTTP status decides
	id                                       place

	callback callback
}

type header struct {
	name  string
	value template
}

// An Identity is our identity to an SMSC, and the name of the SMSC here.
type Identity struct{ Connector, Username, Password string }

// New returns the SMSC that options describe, or the problems of the options.
func New(o *httpsms.ConnectorOptions, id Identity) (*SMSC, []protocols.Problem) {
	o = whole(o)
	r := reader{}
	c := &SMSC{username: id.Username, password: id.Password}
	c.readURL(&r, o)
	c.readBody(&r, o)
	c.readHeaders(&r, o)
	c.token = r.tokenCall(&o.Request)
	a := &o.Answers
	c.throttled = r.condition("answers.throttled", &a.Throttled)
	c.temporary = r.condition("answers.temporary", &a.Temporary)
	c.permanent = r.condition("answers.permanent", &a.Permanent)
	c.success = r.condition("answers.success", &a.Success)
	c.otherwise = otherwise[a.Otherwise]
	c.id = r.place("answers.id", &a.ID)
	c.callback = r.callback(&o.Callbacks, id.Connector)
	if len(r.problems) > 0 {
		return nil, r.problems
	}
	return c, nil
}

// A reader collects the problems of options.
type reader struct{ problems []protocols.Problem }

func (r *reader) wrong(option, text string) {
	r.problems = append(r.problems, protocols.Problem{Option: option, Text: text})
}

func (r *reader) template(option, text string) template {
	t, err := parse(text)
	if err != nil {
		r.wrong(option, err.Error())
	}
	return t
}

func (r *reader) parameters(option, text string) parameters {
	p, err := parseParameters(text)
	if err != nil {
		r.wrong(option, err.Error())
	}
	return p
}

func (c *SMSC) readURL(r *reader, o *httpsms.ConnectorOptions) {
	before, query, has := strings.Cut(o.URL, "?")
	c.before = r.template("url", before)
	if has {
		c.query = r.parameters("url", query)
	}
	switch u, err := url.Parse(before); {
	case o.URL == "":
		r.wrong(
			"url",
			"must be given: what is called for each message, or with a preset the address of the SMSC, such as "+
				"http://192.0.2.1:13013",
		)
	case err != nil && !strings.Contains(before, "{"):
		r.wrong("url", "cannot be read as a URL")
	case err != nil:
	case u.Scheme != "http" && u.Scheme != "https":
		r.wrong("url", "must begin with http:// or https://")
	case u.Hostname() == "" || strings.Contains(u.Host, "{"):
		r.wrong("url", "must have a host without fields")
	case u.User != nil:
		r.wrong("url", "must not have a user or a password: write them as system_id and password, with request.login: basic")
	}
}

func (c *SMSC) readBody(r *reader, o *httpsms.ConnectorOptions) {
	q := &o.Request
	if q.Form != "" && q.JSON != "" {
		r.wrong("request.json", "must not be given together with form")
		return
	}
	if q.Form != "" {
		c.form = r.parameters("request.form", q.Form)
	}
	if q.JSON != "" {
		var err error
		if c.json, err = grow(q.JSON); err != nil {
			r.wrong("request.json", err.Error())
		}
	}
	if c.method = q.Method; c.method == "" {
		c.method = http.MethodPost
		if c.form == nil && c.json == nil {
			c.method = http.MethodGet
		}
	}
	if c.method == http.MethodGet && (c.form != nil || c.json != nil) {
		r.wrong("request.method", "must be POST or PUT with a body")
	}
	to := func(f *field) bool { return f.name == "to" }
	if o.URL != "" && !c.has(to) {
		r.wrong("url", "must bring the recipient: {to} must stand there, or in the body")
	}
}

// has reports whether a template of the request has a field of a kind.
func (c *SMSC) has(kind func(*field) bool) bool {
	if c.before.has(kind) || c.json != nil && c.json.has(kind) {
		return true
	}
	for _, p := range []parameters{c.query, c.form} {
		for _, t := range p {
			if t.has(kind) {
				return true
			}
		}
	}
	return false
}

func (c *SMSC) readHeaders(r *reader, o *httpsms.ConnectorOptions) {
	add := func(name, value string) { c.headers = append(c.headers, header{name, template{{constant: value}}}) }
	add("User-Agent", "pmg")
	switch {
	case c.form != nil:
		add("Content-Type", "application/x-www-form-urlencoded")
	case c.json != nil:
		add("Content-Type", "application/json")
	}
	if o.Request.Login == "basic" {
		add("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(c.username+":"+c.password)))
	}
	for _, text := range o.Request.Headers {
		name, value, ok := strings.Cut(text, ":")
		if name = strings.TrimSpace(name); !ok || strings.Trim(name, tokenCharacters) != "" || name == "" ||
			strings.EqualFold(name, "Host") || strings.EqualFold(name, "Content-Length") {
			r.wrong("request.headers", "must each be a name, a colon and a template; Host and Content-Length cannot be set")
			continue
		}
		c.headers = append(c.headers, header{name, r.template("request.headers", strings.TrimSpace(value))})
	}
}

// tokenCharacters are the characters allowed in names of headers (RFC 9110 §5.6.2).
const tokenCharacters = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// Lacks returns the reason why a message cannot be written: the request has no room for a part of it. It is
// empty if the message can be written.
func (c *SMSC) Lacks(v *Values) string {
	switch {
	case len(v.Header) > 0 && !c.has(func(f *field) bool { return f.header }):
		return "the request has no field for user data headers"
	case v.Coding == Binary && !c.has(func(f *field) bool { return f.binary }):
		return "the request has no field for octets that are no text"
	}
	return ""
}

// HidesCoding reports whether requests contain only octets and not whether they are GSM 7-bit or UCS-2, so
// that the SMSC reads one of the two wrong.
func (c *SMSC) HidesCoding() bool {
	coded := func(f *field) bool { return f.coded }
	clear := func(f *field) bool { return f.tells || f.name == "text" || f.name == "content" }
	inHeaders := slices.ContainsFunc(c.headers, func(h header) bool { return h.value.has(clear) })
	return c.has(coded) && !c.has(clear) && !inHeaders
}

// Call returns the request that submits a message.
func (c *SMSC) Call(v *Values) *httpsms.Call {
	v.username, v.password = c.username, c.password
	call := &httpsms.Call{Method: c.method, URL: c.before.fill(v, url.PathEscape)}
	if c.query != nil {
		if query := c.query.fill(v); query != "" {
			call.URL += "?" + query
		}
	}
	switch {
	case c.form != nil:
		call.Body = []byte(c.form.fill(v))
	case c.json != nil:
		call.Body = c.json.append(nil, v)
	}
	if v.Token != "" {
		call.Header = append(call.Header, [2]string{"Authorization", "Bearer " + v.Token})
	}
	for _, h := range c.headers {
		call.Header = append(call.Header, [2]string{h.name, line(h.value.fill(v, same))})
	}
	return call
}

// Address returns the address of the SMSC without parts that may be secret: for connections that are opened ahead,
// and for logs.
func (c *SMSC) Address() *url.URL {
	u, err := url.Parse(c.before.fill(&Values{}, url.PathEscape))
	if err != nil {
		return &url.URL{}
	}
	return u
}

// A Verdict is the meaning of an answer.
type Verdict struct {
	Code sms.Code
	ID   string // the SMSC's id of the message; empty: none was given
}
