package httpapi

import (
	"net/http"

	"pmg/gateway/request"
	"pmg/protocols/httpsms/own"
)

// preview tells what would become of a message, which is not sent.
func preview(x *exchange) {
	body, ok := x.readJSON(maxMessageBody)
	if !ok {
		return
	}
	m, p := own.ReadMessage(body, x.now())
	if p == nil {
		p = x.mayCall(m.Context.URL)
	}
	if p != nil {
		x.problem(p)
		return
	}
	r, to := x.gateway.Requests.Preview(x.r.Context(), x.source(), request.Item{Fill: m.Fill, Parts: m.MaxParts})
	if p := refusal(&r); p != nil {
		x.problem(p)
		return
	}
	x.answerJSON(http.StatusOK, m.Previewed(r.Parts, to))
}
