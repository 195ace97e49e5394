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
	f := webhooks.Filter{
		Account: r.FormValue("account"), Endpoint: r.FormValue("endpoint"), ID: r.FormValue("id"),
		Replies: r.FormValue("replies") != "",
	}
	var err error
	if f.Limit, err = strconv.Atoi(cmp.Or(r.FormValue("limit"), "100")); err != nil || f.Limit < 1 {
		http.Error(w, "cannot list attempts: limit must be a number above 0", http.StatusBadRequest)
		return
	}
	if f.Replies {
		access.Acts(r)
		if c := access.CallerOf(r); !c.SeesTexts() {
			access.Forbid(w, c, access.Operate)
			return
		}
	}
	answerJSON(w, s.view.gateway.Webhooks.Attempts(f), nil)
}

// Enabled is the answer to a request to have servers called again that are disabled.
type Enabled struct {
	Account string   `json:"account"`
	Servers []string `json:"servers"`
}

// enable has the servers of ?account=name called again that are disabled.
func (s *Server) enable(r *http.Request) (any, error) {
	name := r.FormValue("account")
	if s.view.gateway.Table.Account(name) == nil {
		return nil, refuse(http.StatusNotFound, "cannot enable webhooks: there is no such account")
	}
	answer := Enabled{name, s.view.gateway.Webhooks.Enable(name, access.CallerOf(r).String())}
	access.After(r, answer)
	return answer, nil
}

// Called is the answer to a request to call servers now.
type Called struct {
	Account string   `json:"account"`
	Servers []string `json:"servers"` // those that have events waiting
}

// retryWebhooks calls the servers of ?account=name now that have events waiting.
func (s *Server) retryWebhooks(r *http.Request) (any, error) {
	name := r.FormValue("account")
	if s.view.gateway.Table.Account(name) == nil {
		return nil, refuse(http.StatusNotFound, "cannot retry webhooks: there is no such account")
	}
	answer := Called{name, s.view.gateway.Webhooks.Retry(name, access.CallerOf(r).String())}
	access.After(r, answer)
	return answer, nil
}

// testWebhook calls the webhook of ?account=name with an event that tells nothing, with ?fallback=1 its webhook_fallback.
func (s *Server) testWebhook(r *http.Request) (any, error) {
	a, err := s.view.gateway.Webhooks.Test(r.Context(), r.FormValue("account"), r.FormValue("fallback") != "")
	access.After(r, a)
	return a, err
}
