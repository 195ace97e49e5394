package webhook

import (
	"pmg/connector"
	"pmg/httpapi/server"
	"pmg/internal/httpcall"
	"pmg/pdulog"
	"pmg/protocols/httpsms"
	"pmg/protocols/httpsms/own"
	"pmg/sms"
)

// Events makes events of the messages in clients' lanes.
type Events struct {
	rooms Rooms
	logOf func(*connector.Connector) *server.Log // returns a connector's log; nil: the connector has no log
}

// NewEvents returns the maker of events. logOf returns the log of a connector, nil if it has none.
func NewEvents(rooms Rooms, logOf func(*connector.Connector) *server.Log) *Events {
	return &Events{rooms: rooms, logOf: logOf}
}

// EventID returns the id of a message's event, the same at each attempt.
func EventID(m *sms.Message) string { return EventPrefix + sms.FormatID(m.ID) }

// EventPrefix is the prefix of the ids of events.
const EventPrefix = "evt_"

// aboutOf returns the id of the message that a receipt is about, or of the message itself.
func aboutOf(m *sms.Message) uint64 {
	if r, ok := m.Report(); ok {
		return r.Known
	}
	return m.ID
}

// PublicName returns the name under which clients see a connector to an SMSC, "" if they see neither the connector nor the SMSC's
// ids.
func (v *Events) PublicName(connector string) string {
	if c := v.rooms.Options.Connector(connector); c != nil {
		return c.Config().PublicName
	}
	return ""
}

// Of returns the event of a message in a lane. The caller calls end after using the event.
func (v *Events) Of(l *connector.Lane, m *sms.Message) (e *httpsms.Event, end func()) {
	out, end := v.leaving(l, m)
	e = &httpsms.Event{
		ID: aboutOf(m), Attempt: m.ID, Account: l.Account, Connector: v.PublicName(m.Origin.Connector),
		At: v.rooms.Node.Clock.Wall(m.Arrived),
	}
	a := v.rooms.Options.Account(l.Account)
	if a != nil && a.Policies.ShowNetwork {
		e.Network = m.Network.String()
	}
	r, ok := m.Report()
	if !ok {
		e.Message = out
		return e, end
	}
	e.Report, e.From, e.To, e.Taken = &r, m.Dest(), m.Source(), r.Taken // the receipt's recipient is the message's sender
	if e.Context, _ = sms.ReadContext(r.Context); a == nil || !a.Policies.ShowPrice {
		e.Context.Quote = sms.Quote{}
	}
	e.Status, e.Reason = httpsms.AnswerOf(r.Answer)
	if e.Connector == "" {
		r.ID = nil
	}
	return e, end
}

// leaving returns a message from a mobile as the client gets it: m, or a copy that the rules of its account
// and connector have changed. end releases the copy.
func (v *Events) leaving(l *connector.Lane, m *sms.Message) (out *sms.Message, end func()) {
	end = func() {}
	if m.Kind == sms.Receipt {
		return m, end
	}
	to := connector.Source{Connector: l.Home(), Account: v.rooms.Logins.Accounts().Account(l.Account)}
	if out = v.rooms.Converter.Leaving(&to, m); out != m {
		end = out.Release
	}
	return out, end
}

// Log writes the call with an event, and its answer, to the pdu log of the lane's connector.
func (v *Events) Log(l *connector.Lane, m *sms.Message, e *httpsms.Event, request *httpsms.Call, o httpcall.Outcome) {
	log := v.logOf(l.Home())
	if log == nil {
		return
	}
	number := log.Next()
	about := pdulog.About{ID: e.ID, Account: l.Account}
	var p httpsms.PDU
	p.Begin(httpsms.Told, number, 0)
	p.Add("method", request.Method)
	p.Add("url", httpcall.WithoutQuery(request.URL))
	p.Add("event", sms.FormatID(m.ID))
	p.Add("reference", e.Context.Reference)
	if e.Report != nil {
		p.Add("state", own.StateOf(e.Report.State, e.Taken || !e.Report.Untaken))
	}
	log.Line(false, &p, about)
	p.Begin(httpsms.ToldAnswer, number, statusOf(o))
	p.Add("error", o.Err)
	log.Line(true, &p, about)
	log.CountExchange(httpsms.Told, false, p.Status())
}
