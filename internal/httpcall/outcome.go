package httpcall

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"pmg/protocols/httpsms"
	"pmg/sms"
)

// An Outcome is the result of a call.
type Outcome struct {
	Code       sms.Code      // OK: the client has the event; Rejected: the URL cannot be called, now or later
	Slow       bool          // a person must solve the problem, so that the next attempt may come later than usual
	Gone       bool          // the endpoint reports that it no longer exists (410)
	RetryAfter time.Duration // time for which the endpoint asks for no calls; 0: it does not ask
	Status     int           // status of the answer; 0: there was no answer
	Body       []byte        // beginning of the answer's body
	Err        string        // why the call failed, as text that follows the name of an endpoint
	Took       time.Duration
}

// A verdict is the meaning of a status other than success.
type verdict struct {
	from, to   int
	ifAsked    bool // only with Retry-After
	code       sms.Code
	slow, gone bool
}

// verdicts are the meanings of statuses; the first verdict that fits counts. Errors that look permanent are
// temporary, because servers may be deployed wrongly, and repaired.
var verdicts = []verdict{
	{from: 200, to: 299, code: sms.TemporaryFailure}, // success, but without the body that is required
	{from: 408, to: 408, code: sms.TemporaryFailure},
	{from: 410, to: 410, code: sms.TemporaryFailure, slow: true, gone: true},
	{from: 429, to: 429, code: sms.Throttled},
	{from: 503, to: 503, code: sms.Throttled, ifAsked: true},
	{from: 500, to: 599, code: sms.TemporaryFailure},
	{from: 0, to: 999, code: sms.TemporaryFailure, slow: true},
}

// keptBody is how many octets of an answer an Outcome has.
const keptBody = 256

// judge returns the meaning of an answer. A truncated answer counts by its status if the body is not needed.
func judge(call *httpsms.Call, a *Answer) Outcome {
	if a.Err != "" && (a.Status == 0 || call.Taken != nil || call.Replied != nil) {
		o := Outcome{Code: sms.TemporaryFailure, Err: a.Err, Slow: a.slow}
		if a.never {
			o.Code = sms.Rejected
		}
		return o
	}
	o := Outcome{Status: a.Status, Body: slices.Clone(a.Body[:min(len(a.Body), keptBody)])}
	taken := o.Status/100 == 2
	if call.Taken != nil {
		taken = call.Taken(o.Status, a.Body)
	}
	if taken {
		return o
	}
	o.RetryAfter = a.RetryAfter
	for _, v := range verdicts {
		if v.from <= o.Status && o.Status <= v.to && (o.RetryAfter > 0 || !v.ifAsked) {
			o.Code, o.Slow, o.Gone = v.code, v.slow, v.gone
			break
		}
	}
	switch o.Status / 100 {
	case 2:
		o.Err = fmt.Sprintf("answered %d, but not that it has the message", o.Status)
	case 3:
		o.Err = "redirects to " + destination(call.URL, a.Header.Get("Location"))
	default:
		o.Err = strings.TrimSpace(fmt.Sprintf("answered %d %s", o.Status, http.StatusText(o.Status)))
	}
	return o
}

// maxDestination is how many octets of the destination of a redirect are shown.
const maxDestination = 200

// destination returns the target of a redirect, without parts that may be secret.
func destination(from, location string) string {
	base, err := url.Parse(from)
	if err != nil || location == "" {
		return "nowhere"
	}
	u, err := base.Parse(location)
	if err != nil {
		return "what cannot be read"
	}
	text := (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
	return text[:min(len(text), maxDestination)]
}

// maxRetryAfter bounds how long an endpoint may ask not to be called.
const maxRetryAfter = 24 * time.Hour

// retryAfter reads a header Retry-After (RFC 9110 §10.2.3): seconds, or a date.
func retryAfter(text string, now time.Time) (d time.Duration) {
	if seconds, err := strconv.ParseUint(text, 10, 64); err == nil {
		d = time.Duration(min(seconds, uint64(maxRetryAfter/time.Second))) * time.Second
	} else if at, err := http.ParseTime(text); err == nil {
		d = at.Sub(now)
	}
	return max(0, min(d, maxRetryAfter))
}
