package httpapi

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"pmg/gateway/request"
	"pmg/httpapi/body"
	"pmg/protocols/httpsms"
	"pmg/protocols/httpsms/kannel"
	"pmg/sms"
)

// kannelRoutes has the requests of Kannel's clients answered.
func (l *listener) kannelRoutes(m *http.ServeMux) {
	m.HandleFunc("/cgi-bin/sendsms", func(w http.ResponseWriter, r *http.Request) {
		if x := l.exchange(w, r); mayAct(r) {
			x.sendsms()
		} else {
			x.asked(kannel.NotAllowed())
		}
	})
	for _, path := range []string{"/status", "/status.txt", "/status.xml"} {
		for _, path := range []string{path, "/cgi-bin" + path} { // Kannel answers both
			m.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) { l.exchange(w, r).status(strings.HasSuffix(path, ".xml")) })
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
func (x *exchange) sendsms() {
	defer x.end()
	r := x.head()
	name, password, first := kannel.Login(r)
	if first = first && x.r.ContentLength != 0; first && !x.logIn(name, password) {
		x.answered(kannel.Denied())
		return
	}
	if x.crowded {
		x.answered(later(kannel.Busy()))
		return
	}
	if err := x.request(r, kannel.MaxRequest); err != nil {
		x.answered(unread(err, kannel.TooLarge(), kannel.Busy(), kannel.Denied()))
		return
	}
	s, refusal := kannel.Read(r)
	if refusal != nil {
		x.answered(refusal)
		return
	}
	if name, password = s.Credentials(); !first && !x.logIn(name, password) {
		x.answered(kannel.Denied())
		return
	}
	if x.crowded {
		x.answered(later(kannel.Busy()))
		return
	}
	orders, refusal := s.Orders(x.gateway.Node.Clock.WallNow(), kannel.Defaults{
		Senderless: x.account.Config().RewriteIn() != nil || x.connector.Config().RewriteIn() != nil, Service: x.account.SystemID,
	})
	if refusal == nil && len(orders) > 0 && x.mayCall(kannel.Example(orders[0].Context.URL)) != nil {
		x.notCalled(orders[0].Context.URL)
		refusal = kannel.NotCalled()
	}
	if refusal != nil {
		x.answered(refusal)
		return
	}
	x.leftOut(s.Dropped)
	x.submitAll(orders, kannel.Answer)
}

// leftOut tells the operator that a request has receivers that are no numbers, now and then: its client is not told.
func (x *exchange) leftOut(receivers []string) {
	if len(receivers) > 0 && x.gateway.Node.News.Is("left out: "+x.account.SystemID) {
		x.gateway.Node.Log.Warn().Str("account", x.account.SystemID).Str("connector", x.connector.Name).Int("receivers", len(receivers)).
			Msg("receivers of a request were left out because they are no numbers, as Kannel does: the client must send digits, with + in front or without")
	}
}

// submitAll submits the orders of a request, and answers it.
func (x *exchange) submitAll(orders []httpsms.Order, answer func([]httpsms.Result) *httpsms.Answer) {
	items := make([]request.Item, len(orders))
	for i := range orders {
		x.trace(&orders[i])
		items[i].Fill = orders[i].Fill
	}
	done := x.gateway.Requests.Submit(x.r.Context(), x.source(), items)
	results := make([]httpsms.Result, len(done))
	for i, r := range done {
		results[i] = httpsms.Result{ID: r.ID, Code: r.Code, Parts: r.Parts}
	}
	a := answer(results)
	x.answer(a)
	for i := range orders {
		status := a.Status
		if results[i].Code != sms.OK && status < http.StatusBadRequest {
			status = http.StatusBadRequest // one of several receivers
		}
		x.logs(httpsms.Submit, &orders[i], status, results[i].ID)
	}
}

// answered answers a request that submits nothing.
func (x *exchange) answered(a *httpsms.Answer) {
	x.answer(a)
	x.logs(httpsms.Submit, nil, a.Status, 0)
}

// head returns the request for a dialect, without its body.
func (x *exchange) head() *httpsms.Request {
	return &httpsms.Request{Method: x.r.Method, Path: x.r.URL.Path, Query: x.r.URL.RawQuery, Header: x.r.Header}
}

// maxStranger is how many octets a body may have in which the credentials are, or none.
const maxStranger = 256 << 10

// request reads the body of a request for a dialect, of most octets at most, and of fewer before a login.
func (x *exchange) request(r *httpsms.Request, most int64) (err error) {
	if x.account != nil {
		r.Body, err = x.body(most, x.account.SystemID)
	} else {
		r.Body, err = x.body(min(most, maxStranger), "")
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
func (x *exchange) notCalled(url string) {
	if x.gateway.Node.News.Is("not called: " + x.account.SystemID) {
		x.gateway.Node.Log.Warn().Str("account", x.account.SystemID).Str("connector", x.connector.Name).Str("url", withoutQuery(url)).
			Msg("a message was refused because its URL may not be called: add what it begins with to callback_urls of the account, or set callbacks: public")
	}
}
