package kannel

import "pmg/protocols/httpsms"

// Payload is what requests of sendsms carry.
func Payload() *httpsms.Payload {
	return &httpsms.Payload{
		Dialect: "kannel", Path: "/cgi-bin/sendsms", Read: readOne,
		Answer: func(_ *httpsms.Submission, r httpsms.Result) *httpsms.Answer { return Answer([]httpsms.Result{r}) },
		Denied: func(*httpsms.Submission) *httpsms.Answer { return Denied() },
		Busy:   func() *httpsms.Answer { return httpsms.Later(Busy()) },
	}
}

// readOne reads a request for one message.
func readOne(r *httpsms.Request, s *httpsms.Submission) bool {
	send, refusal := Read(r)
	if refusal != nil {
		return false
	}
	s.Name, s.Password = send.Credentials()
	orders, refusal := send.Orders(0, Defaults{Service: s.Name})
	if refusal != nil || len(orders) != 1 || len(send.Dropped) > 0 {
		return false
	}
	if s.Order = orders[0]; s.Order.Context.URL != "" {
		s.Calls = Example(s.Order.Context.URL)
	}
	return true
}
