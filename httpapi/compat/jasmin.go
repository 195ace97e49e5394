package compat

import (
	"math/rand/v2"
	"net/http"

	"pmg/gateway/request"
	"pmg/httpapi/server"
	"pmg/protocols/httpsms"
	"pmg/protocols/httpsms/jasmin"
	"pmg/sms"
)

// JasminRoutes adds the paths of Jasmin, of both interfaces of Jasmin, to those of a listener.
func (c *Dialects) JasminRoutes(l *server.Listener, m *http.ServeMux) {
	for _, path := range []string{
		jasmin.Send, jasmin.Rate, jasmin.Balance, "POST " + jasmin.SecureSend, "POST " + jasmin.SecureBatch,
		"GET " + jasmin.SecureRate, "GET " + jasmin.SecureStatus,
	} {
		m.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			if h := c.begin(l, w, r); mayAct(r) {
				h.jasmin()
			} else {
				h.x.AnswerAsk(jasmin.NotAllowed())
			}
		})
	}
	for path, answer := range map[string]func() *httpsms.Answer{"/ping": jasmin.Ping, "/{$}": jasmin.Root} {
		m.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) { l.Begin(w, r).AnswerAsk(answer()) })
	}
}

// jasmin answers a request of an account to either of Jasmin's interfaces.
func (h *handler) jasmin() {
	defer h.x.End()
	r := h.x.Head()
	name, password, first := jasmin.Login(r)
	if first = first && h.x.Request.ContentLength != 0; first && !h.x.LogIn(name, password) {
		h.answered(jasmin.Denied(r.Path, name))
		return
	}
	if h.x.Crowded {
		h.answered(httpsms.Later(jasmin.Busy(r.Path)))
		return
	}
	if err := h.request(r, jasmin.MaxRequest); err != nil {
		h.answered(unread(err, jasmin.TooLarge(r.Path), jasmin.Busy(r.Path), jasmin.Unread(r.Path)))
		return
	}
	q, refusal := jasmin.Read(r)
	if refusal != nil {
		h.answered(refusal)
		return
	}
	if name, password = q.Credentials(); !first && !h.x.LogIn(name, password) {
		h.answered(q.Denied())
		return
	}
	if h.x.Crowded {
		h.answered(httpsms.Later(jasmin.Busy(r.Path)))
		return
	}
	if !q.Submits() {
		q.Balance = available(&h.x.Source().Origin.Tally.Credit)
		h.x.AnswerAsk(q.Answer(h.rated(q)))
		return
	}
	orders, refusal := q.Orders(h.dialects.rooms.Node.Clock.WallNow(), httpsms.UUID(rand.Uint64()))
	for _, url := range q.URLs() {
		if refusal == nil && h.x.MayCall(url) != nil {
			h.notCalled(url)
			refusal = q.NotCalled(url)
		}
	}
	if refusal != nil {
		h.answered(refusal)
		return
	}
	var calls []*httpsms.Call
	h.submitAll(orders, func(results []httpsms.Result) *httpsms.Answer {
		calls = q.Calls(results)
		return q.Answer(results)
	})
	if len(calls) > 0 {
		h.dialects.webhooks.CallOnce(h.x.Account.Config(), calls)
	}
}

// rated returns the preview of a rate request's message, nil if the request has no message.
func (h *handler) rated(q *jasmin.Request) []httpsms.Result {
	o, ok := q.Rated(h.dialects.rooms.Node.Clock.WallNow())
	if !ok {
		return nil
	}
	r, _ := h.dialects.rooms.Submitter.Preview(h.x.Request.Context(), h.x.Source(), request.Item{Fill: o.Fill})
	if r.Unit != 0 {
		q.UnitRate = r.Unit.String()
	}
	return []httpsms.Result{{Code: r.Code}}
}

// available returns the amount that an account may still spend, "" if the account is not charged, or may owe any sum.
func available(c *sms.Credit) string {
	left, limited := c.Available()
	if c.Terms().List == "" || !limited {
		return ""
	}
	return left.String()
}
