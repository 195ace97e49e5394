package httpsms

import "slices"

// A Payload is what requests to a path carry in an interface: how those are read that submit one message, and how they
// are answered. Its functions have no state.
type Payload struct {
	Dialect string // in option dialects of the connector
	Path    string
	// Read reads a request that submits one message. It reports false for every other request, also for one that must be
	// refused. The times of the order are nanoseconds from the request on.
	Read func(r *Request, s *Submission) bool
	// Answer returns the answer to a request whose message had this result.
	Answer func(s *Submission, r Result) *Answer
	Denied func(s *Submission) *Answer // the answer to wrong credentials
	Busy   func() *Answer              // the answer if the account has as many connections as it may
}

// A Submission is a request that submits one message.
type Submission struct {
	Name, Password string // the login of the request
	Order          Order
	Calls          string // the URL that the message names to be called; "": none
}

// orderAt returns the order of a request that has come now.
func (s *Submission) orderAt(now int64) (o Order) {
	o = s.Order
	if o.DeliverAt != 0 {
		o.DeliverAt += now
	}
	if o.Expires != 0 {
		o.Expires += now
	}
	return o
}

// payloadAt returns the payload at a path, nil if there is none.
func payloadAt(all []*Payload, path []byte) *Payload {
	for _, p := range all {
		if string(path) == p.Path {
			return p
		}
	}
	return nil
}

// payloadsOf returns the payloads of dialects.
func payloadsOf(all []*Payload, dialects []string) (some []*Payload) {
	for _, p := range all {
		if slices.Contains(dialects, p.Dialect) {
			some = append(some, p)
		}
	}
	return some
}
