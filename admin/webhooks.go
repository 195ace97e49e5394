package admin

import (
	"cmp"
	"net/http"
	"strconv"
	"time"

	"pmg/admin/access"
	"pmg/connector"
	"pmg/gateway/webhooks"
)

// webhooks lists the servers of clients; ?account=name selects those of one account.
func (s *Server) webhooks(w http.ResponseWriter, r *http.Request) {
	answerJSON(w, s.view.gateway.Webhooks.Rows(r.FormValue("account")), nil)
}

// attempts lists the last deliveries to the servers. The replies of the servers are private, like texts of messages.
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
		access.MarkAudited(r)
		if c := access.CallerOf(r); !c.SeesTexts() {
			access.Forbid(w, c, access.Operate)
			return
		}
	}
	answerJSON(w, s.view.gateway.Webhooks.Attempts(f), nil)
}

// Called is the answer to a request to call servers now, or to enable them again.
type Called struct {
	Account string   `json:"account"`
	Servers []string `json:"servers"`
}

// enable enables the disabled webhooks of ?account=name.
func (s *Server) enable(r *http.Request) (any, error) {
	return s.call(r, "enable", s.view.gateway.Webhooks.Enable)
}

// retryWebhooks immediately calls the webhooks of ?account=name for which events wait.
func (s *Server) retryWebhooks(r *http.Request) (any, error) {
	return s.call(r, "retry", s.view.gateway.Webhooks.Retry)
}

func (s *Server) call(r *http.Request, what string, do func(account, operator string) []string) (any, error) {
	name := r.FormValue("account")
	if s.view.gateway.Table.Account(name) == nil {
		return nil, refuse(http.StatusNotFound, "cannot "+what+" webhooks: there is no such account")
	}
	answer := Called{name, do(name, access.CallerOf(r).String())}
	access.After(r, answer)
	return answer, nil
}

// testWebhook calls the webhook of ?account=name with a test event; with ?fallback=1, it calls webhook_fallback.
func (s *Server) testWebhook(r *http.Request) (any, error) {
	a, err := s.view.gateway.Webhooks.Test(r.Context(), r.FormValue("account"), r.FormValue("fallback") != "")
	access.After(r, a)
	return a, err
}

// Webhook is the state of the servers that are called with an account's events. Counts are over all servers of the account.
type Webhook struct {
	Account     string           `json:"account"`
	Servers     int              `json:"servers" metric:"servers" help:"Servers of the account that are called with its events, or were."`
	Failing     int              `json:"failing" metric:"servers_failing" help:"Servers of the account whose last call failed."`
	Resting     int              `json:"resting" metric:"servers_resting" help:"Servers of the account that are not called for a while, because they have failed often or asked for a pause."`
	Waiting     int64            `json:"waiting" metric:"events_waiting" help:"Events for the account's servers that wait or are under way."`
	Oldest      float64          `json:"oldest_seconds" metric:"oldest_seconds" help:"Age of the next event for the account's servers, 0 when none waits."`
	Calls       connector.Labels `json:"calls" metric:"calls_total" label:"result" help:"Calls of the account's servers, by result: taken or failed."`
	Failures    int              `json:"failures"`              // highest number of consecutive failures of a server
	LastError   string           `json:"last_error,omitempty"`  // error of the latest failed call
	RestsUntil  *time.Time       `json:"rests_until,omitempty"` // time of the next call of a server that rests
	Disabled    int              `json:"disabled"`              // number of disabled servers
	DeadLetters int64            `json:"dead_letters" metric:"dead_letters" help:"Events in the store that the account's servers did not take in time (pmg webhooks dead)."`
}

// State returns the state of the servers as a word: that of the worst server.
func (w Webhook) State() string {
	switch {
	case w.Disabled > 0:
		return "disabled"
	case w.Resting > 0:
		return "resting"
	case w.Failing > 0:
		return "failing"
	}
	return "ok"
}

// webhooksOf returns the rows of the accounts that have servers or dead letters, in the order of the configuration.
func (v *view) webhooksOf(now time.Time) (rows []Webhook) {
	dead := v.gateway.Settler.Dead.Counts()
	of, failed := map[string]*Webhook{}, map[string]time.Time{}
	for _, s := range v.gateway.Webhooks.Rows("") {
		w := of[s.Account]
		if w == nil {
			w = &Webhook{Account: s.Account, Calls: connector.Labels{"taken": 0, "failed": 0}}
			of[s.Account] = w
		}
		w.Servers++
		w.Waiting += s.Waiting
		w.Calls["taken"] += s.Succeeded
		w.Calls["failed"] += s.Failed
		if s.Failures > 0 {
			w.Failing++
			w.Failures = max(w.Failures, s.Failures)
		}
		if s.RestsUntil != nil {
			w.Resting++
			if w.RestsUntil == nil || s.RestsUntil.Before(*w.RestsUntil) {
				w.RestsUntil = s.RestsUntil
			}
		}
		if s.Disabled != nil {
			w.Disabled++
		}
		if s.Failures > 0 && s.LastFailure != nil && s.LastFailure.After(failed[s.Account]) {
			w.LastError, failed[s.Account] = s.LastError, *s.LastFailure
		}
		if s.Oldest != nil {
			w.Oldest = max(w.Oldest, now.Sub(*s.Oldest).Seconds())
		}
	}
	cfg := v.gateway.Node.Config()
	for i := range cfg.Accounts {
		name := cfg.Accounts[i].SystemID
		w := of[name]
		if w == nil && dead[name] > 0 {
			w = &Webhook{Account: name, Calls: connector.Labels{"taken": 0, "failed": 0}}
		}
		if w != nil {
			w.DeadLetters = dead[name]
			rows = append(rows, *w)
		}
	}
	return rows
}
