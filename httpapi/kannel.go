package httpapi

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"pmg/gateway"
	"pmg/gateway/request"
	"pmg/httpapi/body"
	"pmg/protocols/httpsms"
	"pmg/protocols/httpsms/kannel"
	"pmg/sms"
)

// A compat answers requests in the forms of other gateways.
type compat struct {
	gateway  *gateway.Gateway
	webhooks *callers
	status   *kannelStatus
}

// A compatHandler answers a request.
type compatHandler struct {
	compat *compat
	x      *exchange
}

// begin begins to answer a request.
func (c *compat) begin(l *listener, w http.ResponseWriter, r *http.Request) *compatHandler {
	return &compatHandler{c, l.exchange(w, r)}
}

// kannelRoutes adds the paths of Kannel to those of a listener.
func (c *compat) kannelRoutes(l *listener, m *http.ServeMux) {
	m.HandleFunc("/cgi-bin/sendsms", func(w http.ResponseWriter, r *http.Request) {
		if h := c.begin(l, w, r); mayAct(r) {
			h.sendsms()
		} else {
			h.x.asked(kannel.NotAllowed())
		}
	})
	for _, path := range []string{"/status", "/status.txt", "/status.xml"} {
		for _, path := range []string{path, "/cgi-bin" + path} { // Kannel answers both
			m.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
				c.begin(l, w, r).showStatus(strings.HasSuffix(path, ".xml"))
			})
		}
	}
	if !slices.Contains(l.connector.Config().HTTP.Dialects, "pmg") { // which has answers of its own
		m.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { l.exchange(w, r).asked(kannel.Unknown()) })
	}
}

// mayAct reports whether a request has a method with which the clients of Kannel and Jasmin send. With others, a monitor that looks
// (HEAD) or a browser that asks before it sends (OPTIONS) would submit the message.
func mayAct(r *http.Request) bool { return r.Method == http.MethodGet || r.Method == http.MethodPost }

// sendsms answers a request of Kannel's sendsms.
func (h *compatHandler) sendsms() {
	defer h.x.end()
	r := h.x.head()
	name, password, first := kannel.Login(r)
	if first = first && h.x.r.ContentLength != 0; first && !h.x.logIn(name, password) {
		h.answered(kannel.Denied())
		return
	}
	if h.x.crowded {
		h.answered(later(kannel.Busy()))
		return
	}
	if err := h.request(r, kannel.MaxRequest); err != nil {
		h.answered(unread(err, kannel.TooLarge(), kannel.Busy(), kannel.Denied()))
		return
	}
	s, refusal := kannel.Read(r)
	if refusal != nil {
		h.answered(refusal)
		return
	}
	if name, password = s.Credentials(); !first && !h.x.logIn(name, password) {
		h.answered(kannel.Denied())
		return
	}
	if h.x.crowded {
		h.answered(later(kannel.Busy()))
		return
	}
	orders, refusal := s.Orders(h.compat.gateway.Node.Clock.WallNow(), kannel.Defaults{
		Senderless: h.x.account.Config().RewriteIn() != nil || h.x.connector.Config().RewriteIn() != nil, Service: h.x.account.SystemID,
	})
	if refusal == nil && len(orders) > 0 && h.x.mayCall(kannel.Example(orders[0].Context.URL)) != nil {
		h.notCalled(orders[0].Context.URL)
		refusal = kannel.NotCalled()
	}
	if refusal != nil {
		h.answered(refusal)
		return
	}
	h.leftOut(s.Dropped)
	h.submitAll(orders, kannel.Answer)
}

// leftOut tells the operator that a request has receivers that are no numbers, now and then: its client is not told.
func (h *compatHandler) leftOut(receivers []string) {
	if len(receivers) > 0 && h.compat.gateway.Node.News.Is("left out: "+h.x.account.SystemID) {
		h.compat.gateway.Node.Log.Warn().Str("account", h.x.account.SystemID).Str("connector", h.x.connector.Name).Int("receivers", len(receivers)).
			Msg("receivers of a request were left out because they are no numbers, as Kannel does: the client must send digits, with + in front or without")
	}
}

// submitAll submits the orders of a request, and answers it.
func (h *compatHandler) submitAll(orders []httpsms.Order, answer func([]httpsms.Result) *httpsms.Answer) {
	items := make([]request.Item, len(orders))
	for i := range orders {
		h.x.trace(&orders[i])
		items[i].Fill = orders[i].Fill
	}
	done := h.compat.gateway.Requests.Submit(h.x.r.Context(), h.x.source(), items)
	results := make([]httpsms.Result, len(done))
	for i, r := range done {
		results[i] = httpsms.Result{ID: r.ID, Code: r.Code, Parts: r.Parts}
	}
	a := answer(results)
	h.x.answer(a)
	for i := range orders {
		status := a.Status
		if results[i].Code != sms.OK && status < http.StatusBadRequest {
			status = http.StatusBadRequest // one of several receivers
		}
		h.x.logs(httpsms.Submit, &orders[i], status, results[i].ID)
	}
}

// answered answers a request that submits nothing.
func (h *compatHandler) answered(a *httpsms.Answer) {
	h.x.answer(a)
	h.x.logs(httpsms.Submit, nil, a.Status, 0)
}

// head returns the request for a dialect, without its body.
func (x *exchange) head() *httpsms.Request {
	return &httpsms.Request{Method: x.r.Method, Path: x.r.URL.Path, Query: x.r.URL.RawQuery, Header: x.r.Header}
}

// maxStranger is how many octets a body may have in which the credentials are, or none.
const maxStranger = 256 << 10

// request reads the body of a request for a dialect, of most octets at most, and of fewer before a login.
func (h *compatHandler) request(r *httpsms.Request, most int64) (err error) {
	if h.x.account != nil {
		r.Body, err = h.x.body(most, h.x.account.SystemID)
	} else {
		r.Body, err = h.x.body(min(most, maxStranger), "")
	}
	return err
}

// unread returns the answer to a request whose body was not read.
func unread(err error, large, full, broken *httpsms.Answer) *httpsms.Answer {
	switch {
	case errors.Is(err, body.ErrLarge):
		return large
	case errors.Is(err, body.ErrFull):
		return later(full)
	}
	return broken
}

// later returns an answer that says when the request may come again.
func later(a *httpsms.Answer) *httpsms.Answer {
	a.Header = append(a.Header, [2]string{"Retry-After", "5"})
	return a
}

// notCalled tells the operator that a client has named a URL which its account does not allow, now and then.
func (h *compatHandler) notCalled(url string) {
	if h.compat.gateway.Node.News.Is("not called: " + h.x.account.SystemID) {
		h.compat.gateway.Node.Log.Warn().Str("account", h.x.account.SystemID).Str("connector", h.x.connector.Name).Str("url", withoutQuery(url)).
			Msg("a message was refused because its URL may not be called: add what it begins with to callback_urls of the account, or set callbacks: public")
	}
}
