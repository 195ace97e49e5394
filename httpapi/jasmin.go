package httpapi

import (
	"errors"
	"math/rand/v2"
	"net/http"

	"pmg/config"
	"pmg/httpapi/call"
	"pmg/protocols/httpsms"
	"pmg/protocols/httpsms/jasmin"
)

// jasminRoutes has the requests of Jasmin's clients answered, those of both its interfaces.
func (l *listener) jasminRoutes(m *http.ServeMux) {
	for _, path := range []string{
		jasmin.Send, jasmin.Rate, jasmin.Balance, "POST " + jasmin.SecureSend, "POST " + jasmin.SecureBatch,
		"GET " + jasmin.SecureRate, "GET " + jasmin.SecureStatus,
	} {
		m.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) { l.exchange(w, r).jasmin() })
	}
	for path, answer := range map[string]func() *httpsms.Answer{"/ping": jasmin.Ping, "/{$}": jasmin.Root} {
		m.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) { l.exchange(w, r).asked(answer()) })
	}
}

// asked answers a request that cannot submit anything.
func (x *exchange) asked(a *httpsms.Answer) {
	x.answer(a)
	x.logs(httpsms.Ask, nil, a.Status, 0)
}

// jasmin answers a request of an account to either of Jasmin's interfaces.
func (x *exchange) jasmin() {
	r, err := x.request(jasmin.MaxRequest)
	switch {
	case errors.Is(err, errTooLarge):
		x.answered(jasmin.TooLarge(x.r.URL.Path))
		return
	case err != nil:
		x.answered(jasmin.Unread(x.r.URL.Path))
		return
	}
	q, refusal := jasmin.Read(r)
	if refusal != nil {
		x.answered(refusal)
		return
	}
	if name, password := q.Credentials(); !x.logIn(x.r.Context(), name, password) {
		x.answered(q.Denied())
		return
	}
	if !q.Submits() {
		x.asked(q.Answer(nil))
		return
	}
	orders, refusal := q.Orders(x.gateway.Clock.WallNow(), httpsms.UUID(rand.Uint64()))
	for _, url := range q.URLs() {
		if refusal == nil && x.mayCall(url) != nil {
			x.notCalled(url)
			refusal = q.NotCalled(url)
		}
	}
	if refusal != nil {
		x.answered(refusal)
		return
	}
	var calls []*httpsms.Call
	x.submitAll(orders, func(results []httpsms.Result) *httpsms.Answer {
		calls = q.Calls(results)
		return q.Answer(results)
	})
	if len(calls) > 0 {
		x.callers.once(x.account.Config(), calls)
	}
}

// once makes calls of an account in their order, each once, as long as somebody answers them.
func (c *callers) once(a *config.Account, calls []*httpsms.Call) {
	c.start(func() {
		for _, request := range calls {
			to, err := call.Allowed(a.CallbackURLs, a.CallbacksTo == config.PublicCallbacks, request.URL)
			if err != nil || c.caller.Do(c.ctx, request, to).Status == 0 {
				return
			}
		}
	})
}
