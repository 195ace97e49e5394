package smsc

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"pmg/protocols/httpsms"
	"pmg/sms"
)

// A condition is a requirement for an answer. The zero condition fits no answer.
type condition struct {
	given    bool
	statuses []statuses
	body     *regexp.Regexp // nil: any
	pointer  string         // empty: any
	value    *regexp.Regexp // nil: any
}

type statuses struct{ from, to int }

func (r *reader) condition(option string, o *httpsms.Condition) (c condition) {
	c.given = o.IsGiven()
	for _, text := range o.Status {
		n, err := strconv.Atoi(text)
		s := statuses{n, n}
		if class, ok := strings.CutSuffix(strings.ToLower(text), "xx"); ok {
			n, err = strconv.Atoi(class)
			s = statuses{100 * n, 100*n + 99}
		}
		if err != nil || s.from < 100 || s.to > 599 {
			r.wrong(option+".status", "must be statuses such as 202 or 5xx")
			continue
		}
		c.statuses = append(c.statuses, s)
	}
	c.body = r.expression(option+".body", o.Body)
	c.pointer = r.pointer(option+".json", o.JSON)
	if c.value = r.expression(option+".value", o.Value); c.value != nil && c.pointer == "" {
		r.wrong(option+".value", "needs json: where the value stands")
	}
	return c
}

func (r *reader) expression(option, text string) *regexp.Regexp {
	if text == "" {
		return nil
	}
	e, err := regexp.Compile(text)
	if err != nil {
		r.wrong(option, "must be a regular expression of RE2: "+err.Error())
	}
	return e
}

func (r *reader) pointer(option, text string) string {
	if text != "" && text[0] != '/' {
		r.wrong(option, "must be a JSON pointer, which begins with /")
	}
	return text
}

// An answer is the answer to a request.
type answer struct {
	status int
	header http.Header
	body   []byte

	read   bool // the document was tried
	isJSON bool
	json   document
}

func (a *answer) at(pointer string) (document, bool) {
	if !a.read {
		a.json, a.isJSON = readDocument(a.body)
		a.read = true
	}
	if !a.isJSON {
		return document{}, false
	}
	return a.json.at(pointer)
}

// fits reports whether an answer is as the condition says.
func (c *condition) fits(a *answer) bool {
	if !c.given {
		return false
	}
	fits := len(c.statuses) == 0
	for _, s := range c.statuses {
		fits = fits || s.from <= a.status && a.status <= s.to
	}
	if !fits || c.body != nil && !c.body.Match(a.body) {
		return false
	}
	if c.pointer == "" {
		return true
	}
	value, ok := a.at(c.pointer)
	if !ok || c.value == nil {
		return ok
	}
	text, ok := value.text()
	return ok && c.value.MatchString(text)
}

// A place is the place of a value in an answer.
type place struct {
	body            *regexp.Regexp
	pointer, header string
}

func (r *reader) place(option string, o *httpsms.Place) place {
	p := place{body: r.expression(option+".body", o.Body), pointer: r.pointer(option+".json", o.JSON), header: o.Header}
	if p.body != nil && p.body.NumSubexp() < 1 {
		r.wrong(option+".body", "must have a group: the part of it in ( ) is the id")
	}
	return p
}

// value returns the value at the place, empty if there is none.
func (p *place) value(a *answer) string {
	if p.header != "" {
		if value := a.header.Get(p.header); value != "" {
			return value
		}
	}
	if p.pointer != "" {
		if value, ok := a.at(p.pointer); ok {
			text, _ := value.text()
			return text
		}
	}
	if p.body != nil {
		if m := p.body.FindSubmatch(a.body); m != nil {
			return string(m[1])
		}
	}
	return ""
}

// otherwise are the codes of answers that fit no condition, by the words of the configuration. With sms.OK
// the HTTP status decides.
var otherwise = map[string]sms.Code{"permanent": sms.Rejected, "temporary": sms.TemporaryFailure}

// permanents are the statuses below 500 that are about the message itself. Other statuses have causes that an
// operator can remove: a password, a path, a server.
var permanents = map[int]bool{
	400: true, 402: true, 406: true, 409: true, 411: true, 412: true, 413: true, 414: true, 415: true, 416: true, 417: true,
	421: true, 422: true, 426: true, 428: true, 431: true, 451: true,
}

// maxID is the longest id of a message that an SMSC may give.
const maxID = 255

// Judge returns the outcome of a message according to an answer. sms.Timeout means that the outcome is
// unknown: the SMSC may have the message.
func (c *SMSC) Judge(status int, h http.Header, body []byte) Verdict {
	a := &answer{status: status, header: h, body: body}
	switch {
	case c.throttled.fits(a):
		return Verdict{Code: sms.Throttled}
	case c.temporary.fits(a):
		return Verdict{Code: sms.TemporaryFailure}
	case c.permanent.fits(a):
		return Verdict{Code: sms.Rejected}
	case c.success.fits(a) || !c.success.given && status/100 == 2:
		v := Verdict{ID: strings.TrimSpace(c.id.value(a))}
		v.ID = v.ID[:min(len(v.ID), maxID)]
		return v
	case c.otherwise != sms.OK:
		return Verdict{Code: c.otherwise}
	case status == http.StatusTooManyRequests:
		return Verdict{Code: sms.Throttled}
	case permanents[status]:
		return Verdict{Code: sms.Rejected}
	case status/100 == 2:
		return Verdict{Code: sms.Timeout}
	}
	return Verdict{Code: sms.TemporaryFailure}
}
