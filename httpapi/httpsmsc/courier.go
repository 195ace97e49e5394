package httpsmsc

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"pmg/connector"
	"pmg/connector/worker"
	"pmg/gateway/convert"
	"pmg/internal/httpcall"
	"pmg/pdulog"
	"pmg/protocols/httpsms"
	"pmg/protocols/httpsms/smsc"
	"pmg/sms"
)

// A courier calls an SMSC with fixed options. Its worker is the courier of the connector's lane: each slot is a call.
type courier struct {
	smsc   *SMSC
	form   *smsc.SMSC
	sender *httpcall.Sender
	tokens *tokens // nil: calls need no token
	window int
	lost   chan string // the reason why messages cannot be sent
	works  atomic.Bool // the SMSC has accepted a message
	worker *worker.Worker
}

// newCourier returns a courier with the present options of a connector.
func newCourier(v *SMSC) (*courier, error) {
	cfg := v.connector.Config()
	c, problems := cfg.SMSC()
	if c == nil {
		return nil, fmt.Errorf(
			"cannot call the SMSC of connector %s: %s %s", cfg.Name, problems[0].Option, problems[0].Text,
		)
	}
	host := c.Address().Hostname()
	o := senderOptions(v.connector, host, v.rooms.Holds)
	w := &courier{smsc: v, form: c, sender: httpcall.New(o), window: o.Connections, lost: make(chan string, 1)}
	w.worker = worker.New(v.engine, v.lane, worker.Options{
		Group: v.group, Most: w.window, Batch: func() int { return 1 }, Work: w.carry,
		Log: v.rooms.Node.Log.With().Str("connector", v.connector.Name).Logger(),
	})
	if t := c.TokenCall(); t != nil {
		if u, err := url.Parse(t.URL); err != nil || u.Hostname() != host {
			o.TLS = nil
		}
		w.tokens = newTokens(t, o, v.rooms.Node.Clock.Now)
	}
	return w, nil
}

// close closes the idle connections.
func (w *courier) close() {
	w.sender.Close()
	w.tokens.close()
}

// try returns the reason why messages cannot be sent now, or "".
func (w *courier) try(ctx context.Context) (why string) {
	if why = w.sender.Try(ctx, w.form.Address()); why != "" {
		return w.form.Address().Host + " " + why
	}
	_, why = w.tokens.get(ctx, "")
	return why
}

// lose records the reason why messages cannot be sent.
func (w *courier) lose(why string) {
	select {
	case w.lost <- why:
	default: // a reason is already recorded
	}
}

// carry sends the message of a slot, and reports the outcome to the lane. A panic affects only the message.
func (w *courier) carry(slots []*connector.Slot) {
	one := worker.Answer{Slot: slots[0]}
	one.Answer.Code = sms.Unsupported // an operation about a message: the SMSC has no request for operations
	if one.Slot.Inquiry == nil {
		one.Answer.Code = sms.Faulty
		w.worker.Guard(one.Slot.Message, "a call failed at a message; it is put aside", func() {
			one.Unsent, one.Answer = w.send(one.Slot)
		})
	}
	w.worker.Report(one)
}

// send sends the message of a slot. unsent means that the SMSC has not accepted the message, and that messages cannot be sent
// now.
func (w *courier) send(s *connector.Slot) (unsent bool, a sms.Answer) {
	rooms, m := &w.smsc.rooms, s.Leaving()
	s.Sent = rooms.Node.Clock.Now()
	if code := rooms.Converter.Refuses(s); code != sms.OK {
		return false, sms.Answer{Code: code}
	}
	out := rooms.Converter.Leaving(
		&connector.Source{Connector: w.smsc.connector, Origin: rooms.Node.Origins.Of("", w.smsc.connector.Name)}, m,
	)
	if out != m {
		defer out.Release()
	}
	v, ok := smsc.ValuesOf(out, wallOf(rooms.Node.Clock.Ahead(), out.Expires), rooms.Node.Clock.WallNow())
	lacks := "its text cannot be read"
	if ok {
		lacks = w.form.Lacks(&v)
	}
	if lacks != "" {
		rooms.Node.Log.Warn().Str("id", sms.FormatID(m.ID)).Str("connector", w.smsc.connector.Name).
			Msg("message refused: " + lacks)
		return false, sms.Answer{Code: sms.Rejected}
	}
	v.ID, v.Notify, v.ReceiptURL = m.ID, convert.Asks(m, w.smsc.connector.Config()), w.form.ReceiptURL(m.ID)
	var why string
	if v.Token, why = w.tokens.get(w.smsc.group, ""); why != "" {
		w.lose(why)
		return true, a
	}
	t := w.call(m, &v)
	if v.Token == "" || t.answer.Status != http.StatusUnauthorized {
		return w.judge(&t)
	}
	switch v.Token, why = w.tokens.get(w.smsc.group, t.token); {
	case why != "":
		w.ends(&t, uint32(t.answer.Status), "")
		w.lose(why)
		return true, a
	case v.Token != t.token: // the SMSC refused the old token, so that the message is sent once more
		w.ends(&t, uint32(t.answer.Status), "")
		t = w.call(m, &v)
	}
	return w.judge(&t)
}

// An attempt is a call with a message, and its answer.
type attempt struct {
	message *sms.Message
	number  uint32
	token   string // token with which the message was sent
	answer  httpcall.Answer
}

// call calls the SMSC.
func (w *courier) call(m *sms.Message, v *smsc.Values) attempt {
	request := w.form.Call(v)
	httpcall.AddTrace(request, w.smsc.rooms.Tracer.Traceparent(m))
	number := w.begins(m, v, request)
	return attempt{m, number, v.Token, w.sender.Send(w.smsc.group, request)}
}

// wallOf converts a time of the engine's clock to the wall clock; 0 stays 0.
func wallOf(ahead, t int64) int64 {
	if t == 0 {
		return 0
	}
	return t + ahead
}

// judge returns the outcome of a message from the SMSC's answer.
func (w *courier) judge(t *attempt) (unsent bool, a sms.Answer) {
	m, answer := t.message, &t.answer
	if answer.Status == 0 {
		w.ends(t, httpsms.NoAnswer, "")
		if !answer.Sent {
			w.lose(w.form.Address().Host + " " + answer.Err)
			return true, a
		}
		return false, sms.Answer{Code: sms.Timeout, Status: httpsms.NoAnswer}
	}
	verdict := w.form.Judge(answer.Status, answer.Header, answer.Body)
	a = sms.Answer{Code: verdict.Code, Status: uint32(answer.Status)}
	switch verdict.Code {
	case sms.OK:
		if w.works.Store(true); verdict.ID == "" {
			verdict.ID = sms.FormatID(m.ID)
		}
		a.PeerID = []byte(verdict.ID)
		rooms, cfg := &w.smsc.rooms, w.smsc.connector.Config()
		rooms.Receipts.RecordAnswer(rooms.Receipts.Of(cfg), cfg, m, a.PeerID)
	case sms.Timeout:
		if w.smsc.rooms.Node.Repeats.First("not understood: " + w.smsc.connector.Name) {
			w.smsc.rooms.Node.Log.Warn().Str("connector", w.smsc.connector.Name).Str("id", sms.FormatID(m.ID)).
				Int("status", answer.Status).
				Msg(
					"the SMSC's answer to a message matches none of answers, so that on_unknown decides: the pdu log " +
						"has its beginning",
				)
		}
	}
	w.ends(t, uint32(answer.Status), verdict.ID)
	if answer.RetryAfter > 0 && verdict.Code.Retryable() && verdict.Code != sms.Timeout {
		w.worker.Pause(min(answer.RetryAfter, longestPause), nil)
	}
	return false, a
}

// longestPause is the limit of the pause that an SMSC may ask for.
const longestPause = 5 * time.Minute

// begins writes a call to the pdu log, and returns its number.
func (w *courier) begins(m *sms.Message, v *smsc.Values, request *httpsms.Call) (number uint32) {
	number = w.smsc.log.Next()
	w.smsc.connector.Stats.Count(httpsms.Submit, false, 1)
	if !w.smsc.log.IsEnabled() {
		return number
	}
	var p httpsms.PDU
	p.Begin(httpsms.Submit, number, 0)
	p.Add("method", request.Method)
	p.Add("url", httpcall.WithoutQuery(request.URL))
	p.Add("from", v.From)
	p.Add("to", v.To)
	text := []byte(v.Text)
	if v.Coding == smsc.Binary {
		text = v.Octets
	}
	p.AddText("text", text)
	w.smsc.log.Line(false, &p, pdulog.About{ID: m.ID, Account: m.Account()})
	return number
}

// shownAnswer is the number of octets of an unsuccessful answer in the pdu log.
const shownAnswer = 200

// ends writes the result of a call to the pdu log.
func (w *courier) ends(t *attempt, status uint32, id string) {
	var p httpsms.PDU
	p.Begin(httpsms.SubmitAnswer, t.number, status)
	p.Add("message_id", id)
	p.Add("error", t.answer.Err)
	if said := t.answer.Body; id == "" && len(said) > 0 {
		if t.token != "" {
			said = bytes.ReplaceAll(said, []byte(t.token), []byte("***"))
		}
		p.AddText("answer", said[:min(len(said), shownAnswer)])
	}
	w.smsc.log.CountAnswer(httpsms.SubmitAnswer, true, p.Status())
	w.smsc.log.Line(true, &p, pdulog.About{ID: t.message.ID, Account: t.message.Account()})
}
