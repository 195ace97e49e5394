package v1

import (
	"errors"
	"net/http"

	"pmg/gateway/operate"
	"pmg/protocols/httpsms/own"
)

// listMessages answers with what is known of messages, the latest first, a page at a time.
func (h *handler) listMessages() {
	l, p := own.ReadList(h.x.Request.URL.RawQuery)
	if p != nil {
		h.problem(p)
		return
	}
	page := struct {
		Messages []own.Known `json:"messages"`
		Next     string      `json:"next_cursor,omitempty"`
	}{Messages: []own.Known{}}
	last, err := h.api.rooms.Operations.List(h.x.Request.Context(), h.x.Account, l.Below, l.Since, func(o *operate.Known) bool {
		if k := shown(h, o); l.Has(&k) {
			page.Messages = append(page.Messages, k)
		}
		return len(page.Messages) < l.Limit
	})
	switch {
	case errors.Is(err, operate.ErrBusy):
		h.problem(own.NewProblem("rate-limited", "another list is made, for the account or for others"))
		return
	case errors.Is(err, operate.ErrNoList), errors.Is(err, operate.ErrNotReady):
		h.problem(own.NewProblem("unavailable", err.Error()))
		return
	case err != nil:
		if h.api.rooms.Node.Repeats.First("list failed") {
			h.api.rooms.Node.Log.Error().Err(err).Str("account", h.x.Account.SystemID).Msg(
				"cannot list the messages of an account",
			)
		}
		h.problem(own.NewProblem("unavailable", ""))
		return
	}
	if last != 0 {
		page.Next = l.Cursor(last)
		h.x.Writer.Header().Set("Link", "</v1/messages?"+l.Next(last)+`>; rel="next"`)
	}
	h.answerJSON(http.StatusOK, page)
}
