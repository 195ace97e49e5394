package settle

import (
	"cmp"
	"fmt"

	"github.com/rs/zerolog"

	"pmg/connector"
	"pmg/gateway/route"
	"pmg/sms"
)

// logNotTaken logs that an SMSC has refused a message temporarily, at most once a minute for each
// connector.
func (d *Settler) logNotTaken(l *connector.Lane, m *sms.Message, a sms.Answer) {
	if home := l.Home(); d.node.LogLimits.NotTaken.Next(home.Name, a.At) {
		aboutMessage(d.node.Log.Warn(), l, m, a, AttemptsOf(m, a.Code, 0)).Msg(
			"the peer did not take a message; it is sent again",
		)
	}
}

// logFailover logs that a message goes to another target of its route, at most once a minute for
// each connector.
func (d *Settler) logFailover(l, to *connector.Lane, m *sms.Message, a sms.Answer) {
	if d.node.LogLimits.Failovers.Next(l.Home().Name, a.At) {
		aboutMessage(d.node.Log.Warn(), l, m, a, AttemptsOf(m, a.Code, 0)).Str("to", route.Title(to)).Msg(
			"the peer did not take a message; it goes to another target of its route",
		)
	}
}

// aboutMessage adds fields to a log entry: the message, how often it was tried in vain, and its
// answer.
func aboutMessage(e *zerolog.Event, l *connector.Lane, m *sms.Message, a sms.Answer, failed uint8) *zerolog.Event {
	home := l.Home()
	e = e.Str("connector", home.Name).Str("id", sms.FormatID(m.ID)).Stringer("reason", a.Code)
	if failed > 0 {
		e = e.Uint8("failed_attempts", failed)
	}
	if l.ToClient() {
		e = e.Str("to_account", l.Account)
	}
	if account := m.Account(); account != "" {
		e = e.Str("account", account)
	}
	if a.Status != 0 {
		e = e.Str("status", cmp.Or(home.Driver.StatusName(a.Status), fmt.Sprintf("0x%x", a.Status)))
	}
	return e
}
