package v1

import (
	"net/http"

	"pmg/protocols/httpsms/own"
)

// listMessages answers with a page of messages, the latest first.
func (h *handler) listMessages() {
	l, p := own.ReadList(h.x.Request.URL.RawQuery)
	if p != nil {
		h.problem(p)
		return
	}
	page := struct {
		Messages []own.Known `json:"messages"`
		Next     string      `json:"next_cursor,omitempty"`
	}{}
	var last uint64
	if page.Messages, last, p = h.api.List(h.x, l); p != nil {
		h.problem(p)
		return
	}
	if last != 0 {
		page.Next = l.Cursor(last)
		h.x.Writer.Header().Set("Link", "</v1/messages?"+l.Next(last)+`>; rel="next"`)
	}
	h.answerJSON(http.StatusOK, page)
}
