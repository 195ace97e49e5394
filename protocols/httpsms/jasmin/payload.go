package jasmin

import (
	"net/http"

	"pmg/protocols/httpsms"
)

// Payloads are what requests for one message carry, in both interfaces.
func Payloads() []*httpsms.Payload {
	return []*httpsms.Payload{payloadAt(Send), payloadAt(SecureSend)}
}

func payloadAt(path string) *httpsms.Payload {
	return &httpsms.Payload{
		Dialect: "jasmin", Path: path, Read: readOne,
		Answer: func(s *httpsms.Submission, r httpsms.Result) *httpsms.Answer {
			q := &Request{path: path, username: s.Name}
			return q.Answer([]httpsms.Result{r})
		},
		Denied: func(s *httpsms.Submission) *httpsms.Answer { return Denied(path, s.Name) },
		Busy:   func() *httpsms.Answer { return httpsms.Later(Busy(path)) },
	}
}

// readOne reads a request for one message. Those for a delivery time are not read here: it may be absolute.
func readOne(r *httpsms.Request, s *httpsms.Submission) bool {
	if r.Path == SecureSend && r.Method != http.MethodPost {
		return false
	}
	q, refusal := Read(r)
	if refusal != nil {
		return false
	}
	orders, refusal := q.Orders(0, "")
	if refusal != nil || len(orders) != 1 || orders[0].DeliverAt != 0 {
		return false
	}
	s.Name, s.Password = q.Credentials()
	s.Order, s.Calls = orders[0], orders[0].Context.URL
	return true
}
