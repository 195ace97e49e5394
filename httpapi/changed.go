package httpapi

import (
	"pmg/gateway/operate"
	"pmg/protocols"
	"pmg/protocols/httpsms/own"
	"pmg/sms"
)

// patchMessage changes a message that waits.
func (x *api) patchMessage() {
	body, ok := x.readJSON(maxMessageBody)
	if !ok {
		return
	}
	change, p := own.ReadChange(body, x.now())
	if p != nil {
		x.problem(p)
		return
	}
	o, ok := x.operation(protocols.Operation{Kind: protocols.Replace, Change: change.Apply})
	if !ok {
		return
	}
	switch o.Code {
	case sms.OK:
		x.getMessage()
	case sms.UnknownMessage:
		x.problem(noMessage())
	case sms.Rejected:
		x.notChanged()
	default:
		x.problem(own.Refused("", o.Code))
	}
}

// notChanged tells why a message was not changed.
func (x *api) notChanged() {
	o, ok := x.operation(protocols.Operation{Kind: protocols.Query})
	if !ok {
		return
	}
	x.problem(whyNot(o))
}

// whyNot returns the problem of a message that was not changed, of what a query knows of it.
func whyNot(o *operate.Operation) *own.Problem {
	switch {
	case o.Code != sms.OK:
		return noMessage()
	case o.Waits != nil:
		return own.NewProblem("not-changeable", "")
	}
	return tooLate(&o.Known)
}
