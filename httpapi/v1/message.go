package v1

import (
	"encoding/json"
	"net/http"

	"pmg/gateway/operate"
	"pmg/protocols"
	"pmg/protocols/httpsms"
	"pmg/protocols/httpsms/own"
	"pmg/sms"
)

// operation performs an operation on the message in the path. If it fails, it answers the request.
func (h *handler) operation(o protocols.Operation) (*operate.Operation, bool) {
	begun, p := h.api.operate(h.x, h.x.Request.PathValue("id"), o)
	if p != nil {
		h.problem(p)
	}
	return begun, p == nil
}

// getMessage answers with the known facts about a message.
func (h *handler) getMessage() {
	k, p := h.api.Find(h.x, h.x.Request.PathValue("id"))
	if p != nil {
		h.problem(p)
		return
	}
	h.answerJSON(http.StatusOK, k)
}

// known returns the known facts about a message, with the connector's internal name, and its network.
func known(o *operate.Known) own.Known {
	if m := o.Waits; m != nil {
		source, dest := m.Source(), m.Dest()
		if s, ok := m.Submitted(); ok {
			source, dest = s.Source, s.Dest
		}
		state := own.Queued
		if o.Result.State == sms.StateScheduled {
			state = own.Scheduled
		}
		k := own.KnownOf(o.Result.ID, source, dest, m.Context(), state, m.Arrived, m.DeliverAt, m.Expires)
		k.Parts, k.Network = int(max(m.Parts, sms.PartsOf(m.Context()), 1)), m.Network.String()
		k.Quote = own.QuoteOf(sms.QuoteOf(m.Context()))
		return k
	}
	v := o.Left
	source, dest := v.Source, v.Dest
	if s, ok := sms.ReadSubmitted(v.Submitted); ok {
		source, dest = s.Source, s.Dest
	}
	f, taken := &o.Fate, len(v.By) > 0
	if o.Result.State.Final() {
		taken = !f.Untaken
	}
	k := own.KnownOf(o.Result.ID, source, dest, v.Context, own.StateOf(o.Result.State, taken), v.Arrived, v.DeliverAt, 0)
	k.At, k.Connector, k.SMSCID = own.At(o.Result.Since), string(v.By), string(v.PeerID)
	k.Parts, k.NetworkError = int(max(f.Parts, sms.PartsOf(v.Context))), string(f.Err)
	k.SMSCStatus, k.Reason = httpsms.AnswerOf(f.Answer)
	k.Network, k.Quote = v.Network.String(), own.QuoteOf(sms.QuoteOf(v.Context))
	return k
}

// deleteMessage cancels a message that has not left.
func (h *handler) deleteMessage() {
	o, ok := h.operation(protocols.Operation{Kind: protocols.Cancel})
	if !ok {
		return
	}
	switch o.Code {
	case sms.OK:
		h.answerJSON(http.StatusAccepted, struct {
			ID    string `json:"id"`
			State string `json:"state"`
		}{sms.FormatID(o.Result.ID), own.StateOf(sms.StateDeleted, false)})
	case sms.Undecided:
		h.problem(own.Refused("", o.Code, ""))
	case sms.SystemError, sms.Throttled:
		h.problem(own.NewProblem("unavailable", ""))
	case sms.UnknownMessage:
		h.problem(noMessage())
	default:
		if o, ok = h.operation(protocols.Operation{Kind: protocols.Query}); !ok {
			return
		}
		if o.Code == sms.OK {
			h.problem(tooLate(&o.Known))
		} else {
			h.problem(noMessage())
		}
	}
}

// tooLate returns the reason why a message cannot be cancelled or changed any more.
func tooLate(o *operate.Known) *own.Problem {
	detail := "it has left the gateway"
	switch {
	case o.Waits != nil:
		detail = "it is being sent"
	case o.Result.State.Final():
		detail = "it is " + known(o).State + " already"
	}
	return own.NewProblem("already-sent", detail)
}

// noMessage returns the problem that the account has no message with the id in the path.
func noMessage() *own.Problem {
	return own.NewProblem("not-found", "no message of the account has this id, or it is no longer known")
}

// answerJSON answers with a value.
func (h *handler) answerJSON(status int, v any) {
	out, err := json.Marshal(v)
	if err != nil {
		h.problem(own.NewProblem("internal", err.Error()))
		return
	}
	h.x.Answer(&httpsms.Answer{Status: status, ContentType: "application/json", Body: append(out, '\n')})
	h.x.LogRequest(httpsms.Ask, nil, status, httpsms.Result{})
}
