package v1

import (
	"context"
	"crypto/sha256"
	"errors"

	"pmg/connector"
	"pmg/gateway/operate"
	"pmg/gateway/request"
	"pmg/httpapi/server"
	"pmg/protocols"
	"pmg/protocols/httpsms"
	"pmg/protocols/httpsms/own"
	"pmg/sms"
)

// The following operations have a known account. The API and the pages for customers use them.

// operate performs an operation on a message of the request's account.
func (a *API) operate(x *server.Exchange, id string, o protocols.Operation) (*operate.Operation, *own.Problem) {
	number, err := httpsms.ParseID(id)
	operations := a.rooms.Operations
	switch {
	case err != nil:
		return nil, noMessage()
	case !operations.MayBegin(x.Account):
		x.Refused.Code = sms.Throttled
		return nil, own.NewProblem("rate-limited", "too many operations of the account are in progress")
	}
	o.ID, o.ByID = number, true
	begun := operations.Begin(x.Account, protocols.HTTP, o)
	if begun.Run(); begun.Code != sms.OK && x.Refused.Code == sms.OK { // only the first refusal is recorded
		x.Refused = httpsms.Result{ID: begun.Result.ID, Code: begun.Code, Step: begun.Step}
	}
	return begun, nil
}

// Find returns the account's view of its message with an id.
func (a *API) Find(x *server.Exchange, id string) (*own.Known, *own.Problem) {
	o, p := a.operate(x, id, protocols.Operation{Kind: protocols.Query})
	switch {
	case p != nil:
		return nil, p
	case o.Code == sms.SystemError || o.Code == sms.Throttled:
		return nil, own.NewProblem("unavailable", "")
	case o.Code != sms.OK:
		return nil, noMessage()
	}
	k := a.shown(x, &o.Known)
	return &k, nil
}

// shown returns the account's view of a message.
func (a *API) shown(x *server.Exchange, o *operate.Known) own.Known {
	k := known(o)
	if k.Connector = a.events.PublicName(k.Connector); k.Connector == "" {
		k.SMSCID = ""
	}
	of := &x.Account.Config().Policies
	if !of.ShowNetwork {
		k.Network = ""
	}
	if !of.ShowPrice {
		k.Quote = own.Quote{}
	}
	return k
}

// priceOf returns the price of a message, unknown if the account may not see it.
func priceOf(x *server.Exchange, q sms.Quote) sms.Quote {
	if !x.Account.Config().Policies.ShowPrice {
		return sms.Quote{}
	}
	return q
}

// List returns the account's view of its messages, the latest first, and the id below which the next page
// begins; 0: there is no next page.
func (a *API) List(x *server.Exchange, l *own.List) (page []own.Known, last uint64, p *own.Problem) {
	page = []own.Known{}
	last, err := a.rooms.Operations.List(x.Request.Context(), x.Account, l.Below, l.Since, func(o *operate.Known) bool {
		if k := a.shown(x, o); l.Has(&k) {
			page = append(page, k)
		}
		return len(page) < l.Limit
	})
	switch {
	case errors.Is(err, operate.ErrBusy):
		return nil, 0, own.NewProblem("rate-limited", "too many lists are being made, for this account or for others")
	case errors.Is(err, operate.ErrNoList), errors.Is(err, operate.ErrNotReady):
		return nil, 0, own.NewProblem("unavailable", err.Error())
	case err != nil:
		if a.rooms.Node.Repeats.First("list failed") {
			a.rooms.Node.Log.Error().Err(err).Str("account", x.Account.SystemID).Msg("cannot list the messages of an account")
		}
		return nil, 0, own.NewProblem("unavailable", "")
	}
	return page, last, nil
}

// itemOf returns a message as an item to submit.
func itemOf(m *own.Message) request.Item {
	return request.Item{Fill: m.Fill, Parts: m.MaxParts, Strict: true}
}

// Preview returns the outcome that a message would have, and the public name of the connector by which it
// would leave. The message is not sent.
func (a *API) Preview(x *server.Exchange, m *own.Message) (request.Result, string, *own.Problem) {
	return a.PreviewFrom(x.Request.Context(), x.Source(), m)
}

// PreviewFrom is Preview for a source whose request may have ended.
func (a *API) PreviewFrom(
	ctx context.Context, from *connector.Source, m *own.Message,
) (request.Result, string, *own.Problem) {
	r, to := a.rooms.Submitter.Preview(ctx, from, itemOf(m))
	return r, a.events.PublicName(to), refusal(&r)
}

// Submit submits a message. A repeated message with the same key and body is not sent again; "" is no key.
func (a *API) Submit(x *server.Exchange, m *own.Message, key string, body []byte) (request.Result, *own.Problem) {
	x.Trace(&m.Order)
	return a.SubmitFrom(x.Request.Context(), x.Source(), m, key, body)
}

// SubmitFrom is Submit for a source whose request may have ended.
func (a *API) SubmitFrom(
	ctx context.Context, from *connector.Source, m *own.Message, key string, body []byte,
) (request.Result, *own.Problem) {
	item := itemOf(m)
	if item.Key = key; key != "" {
		item.Payload = sha256.Sum256(body)
	}
	r := a.rooms.Submitter.Submit(ctx, from, []request.Item{item})[0]
	return r, refusal(&r)
}
