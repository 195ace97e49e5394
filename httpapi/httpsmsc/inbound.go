package httpsmsc

import (
	"errors"
	"net/http"

	"pmg/connector"
	"pmg/httpapi/body"
	"pmg/httpapi/server"
	"pmg/pdulog"
	"pmg/protocols/httpsms"
	"pmg/protocols/httpsms/smsc"
	"pmg/sms"
)

// Routes adds the paths of the callbacks by which SMSCs deliver receipts and messages from mobiles. of returns the SMSC of a
// connector, nil if the connector has none.
func Routes(l *server.Listener, m *http.ServeMux, of func(connector string) *SMSC) {
	for _, kind := range []string{smsc.Receipts, smsc.Inbound} {
		m.HandleFunc(smsc.Path("{connector}", kind), func(w http.ResponseWriter, r *http.Request) {
			x, name := l.Begin(w, r), r.PathValue("connector")
			callback(x, of(name), name, kind)
		})
	}
}

// callback answers a request of the SMSC of v; v is nil if no SMSC has the name.
func callback(x *server.Exchange, v *SMSC, name, kind string) {
	defer x.End()
	if v == nil || v.current.Load().form.Listener() != x.Connector.Name {
		refuses(x, http.StatusNotFound, "there is no such connector here")
		return
	}
	c := v.current.Load().form
	r := x.Head()
	if !c.Admits(r, x.Conn.Remote.Addr()) {
		if v.rooms.Node.Repeats.First("callback: " + name) {
			v.rooms.Node.Log.Warn().Str("connector", name).Stringer("remote", x.Conn.Remote).Msg(
				"a callback of an SMSC was refused: it lacks callbacks.secret, or comes from another " +
					"address than callbacks.networks",
			)
		}
		refuses(x, http.StatusForbidden, "the secret is missing or wrong, or the address is not in callbacks.networks")
		return
	}
	var err error
	if r.Body, err = x.ReadBody(smsc.MaxCallback, "from "+name); errors.Is(err, body.ErrFull) {
		refuses(x, http.StatusServiceUnavailable, "too many large bodies are being read")
		return
	} else if err != nil {
		refuses(x, http.StatusRequestEntityTooLarge, "the body is too large, or incomplete")
		return
	}
	k := c.ReadCallback(r)
	x.Conn.LoggedIn()
	status, why := v.brought(k, kind, x)
	if status != http.StatusOK {
		refuses(x, status, why)
		return
	}
	x.Answer(&httpsms.Answer{Status: http.StatusOK, ContentType: "text/plain; charset=utf-8", Body: []byte(c.Reply())})
}

// refuses answers a refused request of an SMSC.
func refuses(x *server.Exchange, status int, why string) {
	a := &httpsms.Answer{Status: status, ContentType: "text/plain; charset=utf-8", Body: []byte(why + "\n")}
	if status == http.StatusServiceUnavailable {
		a.Header = [][2]string{{"Retry-After", "5"}}
	}
	x.Answer(a)
}

// An item is a receipt, or a message from a mobile.
type item struct {
	fill func(*sms.Message) sms.Code
	log  func(*httpsms.PDU)
}

// items returns the receipts and messages of a callback.
func items(k *smsc.Callback, kind string) (all []item, err error) {
	if kind == smsc.Receipts {
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
			p.AddText("text", httpsms.TextOf(&o))
		}})
	}
	return all, err
}

// brought handles the receipts and messages of a callback, and returns the answer.
func (v *SMSC) brought(k *smsc.Callback, kind string, x *server.Exchange) (status int, why string) {
	all, err := items(k, kind)
	if err != nil {
		return http.StatusBadRequest, err.Error()
	}
	rooms := &v.rooms
	from := &connector.Source{Connector: v.connector, Remote: x.Conn.Remote, Origin: rooms.Node.Origins.Of("", v.connector.Name)}
	status = http.StatusOK
	for _, one := range all {
		r := rooms.Deliverer.Deliver(from, one.fill)
		answer := statusOfDelivery(r.Code)
		v.logDelivery(x, one, pdulog.About{ID: r.ID, Refusal: sms.Refusal{Code: r.Code, Step: r.Step}}, answer)
		if answer != http.StatusOK && status != http.StatusServiceUnavailable {
			status, why = answer, "not taken: "+r.Code.String()
		}
	}
	return status, why
}

// statusOfDelivery returns the HTTP status for the result of an SMSC's delivery.
func statusOfDelivery(code sms.Code) int {
	switch {
	case code == sms.OK:
		return http.StatusOK
	case code.Retryable():
		return http.StatusServiceUnavailable
	}
	return http.StatusUnprocessableEntity
}

// logDelivery writes an SMSC's delivery, and the answer, to the pdu log of the connector.
func (v *SMSC) logDelivery(x *server.Exchange, one item, about pdulog.About, status int) {
	number := v.log.Next()
	var p httpsms.PDU
	p.Begin(httpsms.Deliver, number, 0)
	p.Add("remote", x.Conn.Remote.String())
	one.log(&p)
	v.log.Line(true, &p, pdulog.About{ID: about.ID})
	p.Begin(httpsms.DeliverAnswer, number, uint32(status))
	v.log.Line(false, &p, about)
	v.log.CountExchange(httpsms.Deliver, true, p.Status())
}
