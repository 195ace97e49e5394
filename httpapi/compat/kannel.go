package compat

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"pmg/gateway/request"
	"pmg/httpapi/body"
	"pmg/httpapi/server"
	"pmg/httpapi/webhook"
	"pmg/internal/httpcall"
	"pmg/protocols/httpsms"
	"pmg/protocols/httpsms/kannel"
	"pmg/sms"
)

// Dialects answer requests in the forms of other gateways.
type Dialects struct {
	rooms    Rooms
	webhooks *webhook.Service
	status   *Status
}

// A handler answers a request.
type handler struct {
	dialects *Dialects
	x        *server.Exchange
}

// New returns the dialects of other gateways for a gateway.
func New(rooms Rooms, webhooks *webhook.Service, status *Status) *Dialects {
	return &Dialects{rooms: rooms, webhooks: webhooks, status: status}
}

// begin begins to answer a request.
func (c *Dialects) begin(l *server.Listener, w http.ResponseWriter, r *http.Request) *handler {
	return &handler{c, l.Begin(w, r)}
}

// KannelRoutes adds the paths of Kannel to those of a listener.
func (c *Dialects) KannelRoutes(l *server.Listener, m *http.ServeMux) {
	m.HandleFunc("/cgi-bin/sendsms", func(w http.ResponseWriter, r *http.Request) {
		if h := c.begin(l, w, r); mayAct(r) {
			h.sendsms()
		} else {
			h.x.AnswerAsk(kannel.NotAllowed())
		}
	})
	for _, path := range []string{"/status", "/status.txt", "/status.xml"} {
		for _, path := range []string{path, "/cgi-bin" + path} { // Kannel serves the path at both places
			m.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
				c.begin(l, w, r).showStatus(strings.HasSuffix(path, ".xml"))
			})
		}
	}
	if !slices.Contains(l.Connector.Config().HTTP.Dialects, "pmg") { // the dialect pmg answers errors itself
		m.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { l.Begin(w, r).AnswerAsk(kannel.Unknown()) })
	}
}

// mayAct reports whether a request has a method that clients of Kannel and Jasmin send messages with. Otherwise the HEAD of a
// monitor or the OPTIONS of a browser would submit a message.
func mayAct(r *http.Request) bool { return r.Method == http.MethodGet || r.Method == http.MethodPost }

// sendsms answers a request of Kannel's sendsms.
func (h *handler) sendsms() {
	defer h.x.End()
	r := h.x.Head()
	name, password, first := kannel.Login(r)
	if first = first && h.x.Request.ContentLength != 0; first && !h.x.LogIn(name, password) {
		h.answered(kannel.Denied())
		return
	}
	if h.x.Crowded {
		h.answered(httpsms.Later(kannel.Busy()))
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
	if name, password = s.Credentials(); !first && !h.x.LogIn(name, password) {
		h.answered(kannel.Denied())
		return
	}
	if h.x.Crowded {
		h.answered(httpsms.Later(kannel.Busy()))
		return
	}
	orders, refusal := s.Orders(h.dialects.rooms.Node.Clock.WallNow(), kannel.Defaults{
		Senderless: h.x.Account.Config().RewriteIn() != nil || h.x.Connector.Config().RewriteIn() != nil,
		Service:    h.x.Account.SystemID,
	})
	if refusal == nil && len(orders) > 0 && h.x.MayCall(kannel.Example(orders[0].Context.URL)) != nil {
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

// leftOut logs, at a limited rate, that a request has receivers that are not numbers, because the answer to the client does
// not report them.
func (h *handler) leftOut(receivers []string) {
	if len(receivers) > 0 && h.dialects.rooms.Node.Repeats.First("left out: "+h.x.Account.SystemID) {
		h.dialects.rooms.Node.Log.Warn().Str("account", h.x.Account.SystemID).Str("connector", h.x.Connector.Name).
			Int("receivers", len(receivers)).
			Msg(
				"receivers of a request were omitted, as by Kannel, because they are not numbers: the client must send " +
					"digits, with + in front or without",
			)
	}
}

// submitAll submits the orders of a request, and answers it.
func (h *handler) submitAll(orders []httpsms.Order, answer func([]httpsms.Result) *httpsms.Answer) {
	items := make([]request.Item, len(orders))
	for i := range orders {
		h.x.Trace(&orders[i])
		items[i].Fill = orders[i].Fill
	}
	done := h.dialects.rooms.Submitter.Submit(h.x.Request.Context(), h.x.Source(), items)
	results := make([]httpsms.Result, len(done))
	for i, r := range done {
		results[i] = httpsms.Result{ID: r.ID, Code: r.Code, Step: r.Step, Parts: r.Parts}
	}
	a := answer(results)
	cut := slices.ContainsFunc(results, func(r httpsms.Result) bool { return r.Code == sms.Undecided })
	if cut { // there is no answer in these dialects for an unknown outcome
		a = &httpsms.Answer{Status: http.StatusGatewayTimeout}
	} else {
		h.x.Answer(a)
	}
	for i := range orders {
		status := a.Status
		if results[i].Code != sms.OK && status < http.StatusBadRequest {
			status = http.StatusBadRequest // one of several receivers was refused
		}
		h.x.LogRequest(httpsms.Submit, &orders[i], status, results[i])
	}
	if cut {
		panic(http.ErrAbortHandler)
	}
}

// answered answers a request that does not submit anything.
func (h *handler) answered(a *httpsms.Answer) {
	h.x.Answer(a)
	h.x.LogRequest(httpsms.Submit, nil, a.Status, httpsms.Result{})
}

// maxStranger is the maximum size of a body before the login, which it may contain.
const maxStranger = 256 << 10

// request reads the body of a request for a dialect, of most octets at most, and of fewer before a login.
func (h *handler) request(r *httpsms.Request, most int64) (err error) {
	if h.x.Account != nil {
		r.Body, err = h.x.ReadBody(most, h.x.Account.SystemID)
	} else {
		r.Body, err = h.x.ReadBody(min(most, maxStranger), "")
	}
	return err
}

// unread returns the answer to a request whose body was not read.
func unread(err error, large, full, broken *httpsms.Answer) *httpsms.Answer {
	switch {
	case errors.Is(err, body.ErrLarge):
		return large
	case errors.Is(err, body.ErrFull):
		return httpsms.Later(full)
	}
	return broken
}

// notCalled logs, at a limited rate, that a client has named a URL that its account does not allow.
func (h *handler) notCalled(url string) {
	if h.dialects.rooms.Node.Repeats.First("not called: " + h.x.Account.SystemID) {
		h.dialects.rooms.Node.Log.Warn().Str("account", h.x.Account.SystemID).Str("connector", h.x.Connector.Name).
			Str("url", httpcall.WithoutQuery(url)).
			Msg(
				"a message was refused because its URL may not be called: add the beginning of the URL to callback_urls of " +
					"the account, or set callbacks: public",
			)
	}
}
