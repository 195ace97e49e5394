package protocols

import "pmg/sms"

// Alerts handles PDUs in which an SMSC says that a mobile, which a client could not reach, is
// available again. They carry no text, and nothing answers them.
type Alerts interface {
	// Alert fills m from p after an Action of kind Alert: the source is the mobile, the
	// destination is the client. m does not point into p.
	Alert(p PDU, m *sms.Message)
	// TakesAlerts reports whether the peer can be sent one. Its answer does not change after
	// the login.
	TakesAlerts() bool
	// EncodeAlert fills p with the PDU that says what m does. p's slices point into m.
	EncodeAlert(p PDU, m *sms.Message)
}

// NoAlerts implements Alerts for protocols that have none.
type NoAlerts struct{}

// Alert implements Alerts.
func (NoAlerts) Alert(PDU, *sms.Message) {}

// TakesAlerts implements Alerts.
func (NoAlerts) TakesAlerts() bool { return false }

// EncodeAlert implements Alerts.
func (NoAlerts) EncodeAlert(PDU, *sms.Message) {}
