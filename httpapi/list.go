package httpapi

import (
	"errors"
	"net/http"

	"pmg/gateway/operate"
	"pmg/protocols/httpsms/own"
)

// listMessages tells what is known of messages, the latest first, a page at a time.
func (x *api) listMessages() {
	l, p := own.ReadList(x.r.URL.RawQuery)
	if p != nil {
		x.problem(p)
		return
	}
	page := struct {
		Messages []own.Known `json:"messages"`
		Next     string      `json:"next_cursor,omitempty"`
	}{Messages: []own.Known{}}
	last, err := x.gateway.Operate.List(x.r.Context(), x.account, l.Below, l.Since, func(o *operate.Known) bool {
		if k := x.callers.engine.shown(o); l.Has(&k) {
			page.Messages = append(page.Messages, k)
		}
		return len(page.Messages) < l.Limit
	})
	switch {
	case errors.Is(err, operate.ErrBusy):
		x.problem(own.NewProblem("rate-limited", "another list is made, for the account or for others"))
		return
	case errors.Is(err, operate.ErrNoList), errors.Is(err, operate.ErrNotReady):
		x.problem(own.NewProblem("unavailable", err.Error()))
		return
	case err != nil:
		if x.gateway.Node.News.Is("list failed") {
			x.gateway.Node.Log.Error().Err(err).Str("account", x.account.SystemID).Msg("cannot list the messages of an account")
		}
		x.problem(own.NewProblem("unavailable", ""))
		return
	}
	if last != 0 {
		page.Next = l.Cursor(last)
		x.w.Header().Set("Link", "</v1/messages?"+l.Next(last)+`>; rel="next"`)
	}
	x.answerJSON(http.StatusOK, page)
}
