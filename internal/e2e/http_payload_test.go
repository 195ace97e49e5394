package e2e

import (
	"net/http"
	"strings"
	"testing"

	"pmg/protocols"
	"pmg/protocols/httpsms"
	"pmg/protocols/ucp"
	"pmg/sms"
)

// ucpOverHTTP is a payload whose body is an operation 51 of UCP. The login is that of the query: name:password.
func ucpOverHTTP() *httpsms.Payload {
	driver := ucp.New(ucp.Options{})
	return &httpsms.Payload{
		Dialect: "pmg", Path: "/ucp",
		Read: func(r *httpsms.Request, s *httpsms.Submission) bool {
			p := driver.NewPDU()
			if n, err := driver.Frame(r.Body); err != nil || n != len(r.Body) || driver.Decode(p, r.Body) != nil {
				return false
			}
			m := new(sms.Message)
			if driver.NewSession(protocols.SessionOptions{}).Message(0, p, m) != sms.OK {
				return false
			}
			s.Name, s.Password, _ = strings.Cut(r.Query, ":")
			s.Order = httpsms.Order{
				From: httpsms.Number(m.Source()), To: httpsms.Number(m.Dest()), Text: m.Text(), Alphabet: m.Alphabet,
			}
			return true
		},
		Answer: func(_ *httpsms.Submission, r httpsms.Result) *httpsms.Answer {
			return &httpsms.Answer{Status: http.StatusOK, ContentType: "text/plain", Body: []byte(r.Code.String())}
		},
		Denied: func(*httpsms.Submission) *httpsms.Answer { return &httpsms.Answer{Status: http.StatusForbidden} },
		Busy:   func() *httpsms.Answer { return &httpsms.Answer{Status: http.StatusServiceUnavailable} },
	}
}
