package v1

import (
	"pmg/gateway/operate"
	"pmg/protocols"
	"pmg/protocols/httpsms/own"
	"pmg/sms"
)

// patchMessage changes a message that waits.
func (h *handler) patchMessage() {
	body, ok := h.readJSON(maxMessageBody)
	if !ok {
		return
	}
	change, p := h.api.reader.Change(body, h.now())
	if p != nil {
		h.problem(p)
		return
	}
	o, ok := h.operation(protocols.Operation{Kind: protocols.Replace, Change: change.Apply})
	if !ok {
		return
	}
	switch o.Code {
	case sms.OK:
		h.getMessage()
	case sms.UnknownMessage:
		h.problem(noMessage())
	case sms.Rejected:
		h.notChanged()
	default:
		h.problem(own.Refused("", o.Code, ""))
	}
}

// notChanged answers why a message was not changed.
func (h *handler) notChanged() {
	o, ok := h.operation(protocols.Operation{Kind: protocols.Query})
	if !ok {
		return
	}
	h.problem(whyNot(o))
}

// whyNot returns the reason why a message was not changed, derived from a query of the message.
func whyNot(o *operate.Operation) *own.Problem {
	switch {
	case o.Code != sms.OK:
		return noMessage()
	case o.Waits != nil:
		return own.NewProblem("not-changeable", "")
	}
	return tooLate(&o.Known)
}
