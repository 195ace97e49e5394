package admin

import (
	"cmp"
	"net/http"
	"strconv"

	"pmg/admin/access"
	"pmg/gateway/webhooks"
)

// webhooks lists the servers of clients, those of ?account=name.
func (s *Server) webhooks(w http.ResponseWriter, r *http.Request) {
	answerJSON(w, s.view.gateway.Webhooks.Rows(r.FormValue("account")), nil)
}

// attempts lists the last attempts to tell them something. What they reply is private, as texts of messages are.
func (s *Server) attempts(w http.ResponseWriter, r *http.Request) {
	f := webhooks.Filter{Account: r.FormValue("account"), Endpoint: r.FormValue("endpoint"), ID: r.FormValue("id"), Replies: r.FormValue("replies") != ""}
	var err error
	if f.Limit, err = strconv.Atoi(cmp.Or(r.FormValue("limit"), "100")); err != nil || f.Limit < 1 {
		http.Error(w, "cannot list attempts: limit must be a number above 0", http.StatusBadRequest)
		return
	}
	if f.Replies {
		access.Acts(r)
		if c := access.CallerOf(r); c.Scope < access.Act {
			access.Forbid(w, c)
			return
		}
	}
	answerJSON(w, s.view.gateway.Webhooks.Attempts(f), nil)
}
