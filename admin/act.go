package admin

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"pmg/admin/access"
	"pmg/gateway/operate"
)

// Base is the beginning of the paths of requests, except those with conventional paths: /metrics, /healthz,
// /readyz and /debug/pprof.
const Base = "/admin/v1"

// An Action changes the gateway. It is a POST request to Base and the action's name. The parameters are a
// form or the query, and the answer is JSON. The operators' pages offer actions as forms.
type Action struct {
	Name  string
	Scope access.Scope
	Does  string
	do    func(*Server, *http.Request) (any, error)
}

// Actions returns the actions of operators, each with the scope that it needs.
func Actions() []Action {
	return []Action{
		{"kick", access.Operate, "ends sessions", (*Server).kick},
		{"hold", access.Operate, "holds the messages of a connector", (*Server).hold},
		{"release", access.Operate, "ends the hold of a connector", (*Server).release},
		{"connect", access.Operate, "connects a connector now", (*Server).connect},
		{"queue/" + operate.DeleteMessages, access.Operate, "deletes waiting messages", change(operate.DeleteMessages)},
		{
			"queue/" + operate.MoveMessages, access.Operate, "moves waiting messages to another connector",
			change(operate.MoveMessages),
		},
		{
			"queue/" + operate.RetryMessages, access.Operate, "routes messages that were put aside again",
			change(operate.RetryMessages),
		},
		{"webhooks/enable", access.Operate, "enables the disabled servers of an account", (*Server).enable},
		{"webhooks/retry", access.Operate, "calls the resting servers of an account now", (*Server).retryWebhooks},
		{
			"webhooks/test", access.Operate, "calls the webhook of an account with a test event",
			(*Server).testWebhook,
		},
		{"mail/test", access.Operate, "sends a mail to an address", testMail},
		{"lists/add", access.Operate, "adds numbers to a list", changeList(true)},
		{"lists/remove", access.Operate, "removes numbers from a list", changeList(false)},
		{"credit/add", access.Administer, "records a payment of an account", addCredit},
		{"forget", access.Administer, "removes stored data about numbers", forget},
		{"try", access.Administer, "submits a message as an account", (*Server).try},
		{"store/backup", access.Administer, "copies the store", (*Server).backup},
		{"reload", access.Administer, "reads the configuration again", (*Server).reload},
	}
}

// A List shows data to callers with the scope look. It is a GET request to Base and the list's name, and the answer is JSON.
type List struct {
	Name  string
	Shows string
	show  func(*Server, http.ResponseWriter, *http.Request)
}

// Lists returns the lists that operators may see.
func Lists() []List {
	return []List{
		{"status", "the gateway, its connectors and accounts, with ?sessions=1 the sessions", (*Server).status},
		{"history", "the figures of the last hour, of the gateway, of ?connector= or of ?account=", (*Server).history},
		{"credit", "the money of accounts, or of ?account=", showCredit},
		{"credit/history", "the payments of ?account=", creditHistory},
		{"statement", "what ?account= was charged in ?month=, or ?connector= charges, as CSV with ?format=csv", showStatement},
		{"statement/ledger", "the balance of ?account= with its last event, and the payments since ?month= began", showLedger},
		{"forgetting", "whether a request to forget numbers is under way", showForgetting},
		{"listed", "the names of the lists that have ?number=", showListed},
		{numberName, "whether a list has a number, and the history of that", showNumber},
		{"lists/{name}/export", "a list with its changes, as CSV, with ?all=1 also the removed numbers", exportList},
		{"queue", "messages in the store", (*Server).queue},
		{"queue/sums", "counts of waiting messages, by peer and origin", (*Server).sums},
		{"messages", "the fates of the messages that ?q= selects: a number, an id, a reference", (*Server).messages},
		{"messages/{id}", "the story of one message", (*Server).message},
		{"stats", "sums of events by day, ?by= account, connector and others, as CSV with ?format=csv", showStatistics},
		{"webhooks", "servers that webhooks call", (*Server).webhooks},
		{"webhooks/attempts", "the last calls of webhooks", (*Server).attempts},
	}
}

// Do carries out an action.
func (s *Server) Do(a *Action, r *http.Request) (any, error) {
	access.Named(r, a.Name)
	return a.do(s, r)
}

// A refusal is the reason why a request is refused, with the status of the answer.
type refusal struct {
	code int
	error
}

func refuse(code int, text string) error { return refusal{code, errors.New(text)} }

// StatusOf returns the status of the answer to a request that has failed.
func StatusOf(err error) int {
	var r refusal
	if errors.As(err, &r) {
		return r.code
	}
	return http.StatusConflict
}

// actTime is the time limit of an action; copying the store takes longest.
const actTime = time.Hour

// serve answers requests for an action.
func (s *Server) serve(a Action) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		Lasts(w, actTime)
		v, err := s.Do(&a, r)
		if err != nil {
			http.Error(w, strings.TrimSpace(err.Error()), StatusOf(err))
			return
		}
		answerJSON(w, v, nil)
	}
}

// A ReloadFunc makes the gateway read its configuration again, and returns a report of
// the changes for people. file is the configuration that the caller expects, or "" for
// any. force accepts removals that are probably a mistake.
type ReloadFunc func(ctx context.Context, file string, force bool) (report string, err error)

// Reloaded is the answer to a request to reload.
type Reloaded struct {
	Report []string `json:"report"` // lines for people
}

// reload reads the configuration again. It reads only the gateway's own file, and never a file that a request names.
func (s *Server) reload(r *http.Request) (any, error) {
	if s.reloads == nil {
		return nil, refuse(http.StatusNotFound, "cannot reload: this gateway has no file")
	}
	report, err := s.reloads(r.Context(), r.FormValue("file"), r.FormValue("force") != "")
	if err != nil {
		return nil, err
	}
	done := Reloaded{strings.Split(report, "\n")}
	access.After(r, done.Report)
	return done, nil
}
