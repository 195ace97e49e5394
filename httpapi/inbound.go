package httpapi

import (
	"errors"
	"net/http"

	"pmg/connector"
	"pmg/httpapi/body"
	"pmg/pdulog"
	"pmg/protocols/httpsms"
	"pmg/protocols/httpsms/centre"
	"pmg/sms"
)

// callbackRoutes has SMS centres that are called by HTTP answered, which bring receipts and messages from mobiles.
func (l *listener) callbackRoutes(m *http.ServeMux) {
	for _, kind := range []string{centre.Receipts, centre.Inbound} {
		m.HandleFunc(centre.Path("{connector}", kind), func(w http.ResponseWriter, r *http.Request) {
			l.exchange(w, r).callback(r.PathValue("connector"), kind)
		})
	}
}

// callback answers a request of an SMS centre.
func (x *exchange) callback(name, kind string) {
	defer x.end()
	v := x.callers.engine.outboundOf(x.gateway.Table.Connector(name))
	if v == nil || v.current.Load().centre.Listener() != x.connector.Name {
		x.refuses(http.StatusNotFound, "there is no such connector here")
		return
	}
	c := v.current.Load().centre
	r := x.head()
	if !c.Admits(r, x.conn.remote.Addr()) {
		if x.gateway.Node.News.Is("callback: " + name) {
			x.gateway.Node.Log.Warn().Str("connector", name).Stringer("remote", x.conn.remote).Msg("a callback of an SMS centre was refused: it does not show callbacks.secret, or comes from another address than callbacks.networks")
		}
		x.refuses(http.StatusForbidden, "it does not show the secret, or comes from another address")
		return
	}
	var err error
	if r.Body, err = x.body(centre.MaxCallback, "from "+name); errors.Is(err, body.ErrFull) {
		x.refuses(http.StatusServiceUnavailable, "too many large bodies are being read")
		return
	} else if err != nil {
		x.refuses(http.StatusRequestEntityTooLarge, "its body is too large, or does not end")
		return
	}
	k := c.ReadCallback(r)
	x.conn.loggedIn()
	status, why := v.brought(k, kind, x)
	if status != http.StatusOK {
		x.refuses(status, why)
		return
	}
	x.answer(&httpsms.Answer{Status: http.StatusOK, ContentType: "text/plain; charset=utf-8", Body: []byte(c.Reply())})
}

// refuses answers a request of an SMS centre that was not taken.
func (x *exchange) refuses(status int, why string) {
	a := &httpsms.Answer{Status: status, ContentType: "text/plain; charset=utf-8", Body: []byte(why + "\n")}
	if status == http.StatusServiceUnavailable {
		a.Header = [][2]string{{"Retry-After", "5"}}
	}
	x.answer(a)
}

// An item is a receipt, or a message from a mobile.
type item struct {
	fill func(*sms.Message) sms.Code
	log  func(*httpsms.PDU)
}

// items returns what a callback brings.
func items(k *centre.Callback, kind string) (all []item, err error) {
	if kind == centre.Receipts {
		list, err := k.Receipts()
		for _, r := range list {
			if r.Ignored {
				continue
			}
			all = append(all, item{r.Fill, func(p *httpsms.PDU) {
				p.Add("message_id", r.ID)
				p.Add("state", r.Word)
				p.Add("error", r.Error)
			}})
		}
		return all, err
	}
	list, err := k.Messages()
	for _, o := range list {
		fill := func(m *sms.Message) sms.Code {
			code := o.Fill(m)
			m.Kind = sms.MO
			m.SetNative(0, nil)
			return code
		}
		all = append(all, item{fill, func(p *httpsms.PDU) {
			p.Add("from", o.From)
			p.Add("to", o.To)
			p.AddText("text", shown(&o))
		}})
	}
	return all, err
}

// brought takes in what a callback brings, and returns what it is answered with.
func (v *outbound) brought(k *centre.Callback, kind string, x *exchange) (status int, why string) {
	all, err := items(k, kind)
	if err != nil {
		return http.StatusBadRequest, err.Error()
	}
	g := v.engine.gateway
	from := &connector.Source{Connector: v.connector, Remote: x.conn.remote, Origin: g.Node.Origins.Of("", v.connector.Name)}
	status = http.StatusOK
	for _, one := range all {
		r := g.Requests.Deliver(from, one.fill)
		answer := statusOfDelivery(r.Code)
		v.logDelivery(x, one, r.ID, answer)
		if answer != http.StatusOK && status != http.StatusServiceUnavailable {
			status, why = answer, "not taken: "+r.Code.String()
		}
	}
	return status, why
}

// statusOfDelivery returns the status for what became of something that an SMS centre has brought.
func statusOfDelivery(code sms.Code) int {
	switch {
	case code == sms.OK:
		return http.StatusOK
	case code.Retryable():
		return http.StatusServiceUnavailable
	}
	return http.StatusUnprocessableEntity
}

// logDelivery writes what an SMS centre has brought, and its answer, to the pdu log of the connector.
func (v *outbound) logDelivery(x *exchange, one item, id uint64, status int) {
	number := v.number.Add(1)
	var p httpsms.PDU
	p.Begin(httpsms.Deliver, number, 0)
	p.Add("remote", x.conn.remote.String())
	one.log(&p)
	v.log.Line(true, &p, pdulog.About{ID: id})
	p.Begin(httpsms.DeliverAnswer, number, uint32(status))
	v.log.Line(false, &p, pdulog.About{ID: id})
	s := v.connector.Stats
	s.Count(httpsms.Deliver, true, 1)
	s.Count(httpsms.DeliverAnswer, false, 1)
	s.CountStatus(httpsms.DeliverAnswer, false, p.Status())
}
