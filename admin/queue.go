package admin

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"pmg/admin/access"
	"pmg/gateway/operate"
	"pmg/sms"
)

// queue lists messages of the store, a page for each request.
func (s *Server) queue(w http.ResponseWriter, r *http.Request) {
	q, err := queueQueryOf(r)
	if err != nil {
		http.Error(w, "cannot list messages: "+err.Error(), http.StatusBadRequest)
		return
	}
	if q.Text {
		access.MarkAudited(r)
		if c := access.CallerOf(r); !c.SeesTexts() {
			access.Forbid(w, c, access.Operate)
			return
		}
	}
	page, err := s.view.gateway.Operate.ListStored(q.Selection, q.From, q.Limit)
	answerJSON(w, page, err)
}

// sums shows how many messages wait, by peer and origin.
func (s *Server) sums(w http.ResponseWriter, _ *http.Request) {
	answerJSON(w, s.view.gateway.Operate.QueueSums(s.view.engine.Counters().Now), nil)
}

// change returns an action that deletes, moves or retries messages of the store, one page for each request.
func change(what string) func(*Server, *http.Request) (any, error) {
	return func(s *Server, r *http.Request) (any, error) {
		q, err := queueQueryOf(r)
		if err != nil {
			return nil, refuse(http.StatusBadRequest, "cannot change messages: "+err.Error())
		}
		change := operate.QueueChange{
			What: what, To: r.FormValue("to"), DryRun: r.FormValue("dry_run") != "", Operator: access.CallerOf(r).String(),
		}
		page, err := s.view.gateway.Operate.ChangeStored(r.Context(), change, q.Selection, q.From, q.Limit)
		results := map[string]int{}
		for i := range page.Messages {
			results[page.Messages[i].Result]++
		}
		access.After(r, results)
		return page, err
	}
}

// A QueueQuery is a request for a page of the messages in the store.
type QueueQuery struct {
	operate.Selection
	From  uint64 // id to begin with
	Limit int    // maximum number of messages
}

// Limits of a request of Pages.
const (
	pageSize  = 500
	idsAtOnce = 200
)

// Pages fetches one page after the other with the function ask, and passes each page to the function f. It stops after
// limit messages; a limit of 0 is no limit. more reports that the limit has cut off a page, so that further messages
// may exist.
func (q QueueQuery) Pages(
	limit int, ask func(QueueQuery) (operate.QueuePage, error), f func(operate.QueuePage) error,
) (more bool, err error) {
	left, parts := limit, [][]uint64{nil}
	if len(q.IDs) > 0 {
		parts = slices.Collect(slices.Chunk(q.IDs, idsAtOnce))
	}
	for _, q.IDs = range parts {
		for q.From, q.UpTo = 0, 0; ; {
			q.Limit = pageSize
			if limit > 0 {
				q.Limit = min(left, pageSize)
			}
			page, err := ask(q)
			if err == nil {
				err = f(page)
			}
			if err != nil {
				return false, err
			}
			left -= len(page.Messages)
			if limit > 0 && left <= 0 {
				return page.Next != 0, nil
			}
			if page.Next == 0 {
				break
			}
			q.From, q.UpTo = page.Next, page.UpTo
		}
	}
	return false, nil
}

// Values returns the query as parameters of a request.
func (q *QueueQuery) Values() url.Values {
	v := url.Values{"limit": {strconv.Itoa(q.Limit)}}
	for _, id := range q.IDs {
		v.Add("id", sms.FormatID(id))
	}
	for name, value := range map[string]string{
		"connector": q.Connector, "account": q.Account, "destination": q.Dest, "state": q.State, "kind": q.Kind,
		"delivery": q.Delivery,
	} {
		if value != "" {
			v.Set(name, value)
		}
	}
	if q.Older > 0 {
		v.Set("older", q.Older.String())
	}
	if q.From > 0 {
		v.Set("from", sms.FormatID(q.From))
	}
	if q.UpTo > 0 {
		v.Set("up_to", sms.FormatID(q.UpTo))
	}
	if q.Text {
		v.Set("text", "1")
	}
	for name, at := range map[string]time.Time{"since": q.Since, "until": q.Until} {
		if !at.IsZero() {
			v.Set(name, at.Format(time.RFC3339Nano))
		}
	}
	return v
}

// queueQueryOf reads a query in the form that Values returns.
func queueQueryOf(r *http.Request) (q QueueQuery, err error) {
	if err = r.ParseForm(); err != nil {
		return q, err
	}
	q.Selection = operate.Selection{
		Connector: r.Form.Get("connector"), Account: r.Form.Get("account"), Dest: r.Form.Get("destination"),
		State: r.Form.Get("state"), Kind: r.Form.Get("kind"), Delivery: r.Form.Get("delivery"), Text: r.Form.Get("text") != "",
	}
	for _, text := range r.Form["id"] {
		id, err := sms.ParseID(text)
		if err != nil {
			return q, err
		}
		q.IDs = append(q.IDs, id)
	}
	for name, to := range map[string]*uint64{"from": &q.From, "up_to": &q.UpTo} {
		if text := r.Form.Get(name); text != "" {
			if *to, err = sms.ParseID(text); err != nil {
				return q, err
			}
		}
	}
	for name, to := range map[string]*time.Time{"since": &q.Since, "until": &q.Until} {
		if text := r.Form.Get(name); text != "" {
			if *to, err = time.Parse(time.RFC3339Nano, text); err != nil {
				return q, err
			}
		}
	}
	if text := r.Form.Get("older"); text != "" {
		if q.Older, err = time.ParseDuration(text); err != nil {
			return q, err
		}
	}
	q.Limit, err = strconv.Atoi(cmp.Or(r.Form.Get("limit"), "100"))
	return q, err
}

// BackedUp is the answer to a request to copy the store.
type BackedUp struct {
	Directory string `json:"directory"`
}

// backup copies the store into a directory of the name ?name in store.backups.
func (s *Server) backup(r *http.Request) (any, error) {
	log := s.view.gateway.Node.Log.Info()
	dir, err := s.view.gateway.Keeper.BackUp(r.FormValue("name"))
	if err != nil {
		log = s.view.gateway.Node.Log.Error().Err(err)
	}
	log.Str("name", r.FormValue("name")).Stringer("operator", access.CallerOf(r)).Msg("an operator backs up the store")
	access.After(r, BackedUp{dir})
	return BackedUp{dir}, err
}

// answerJSON writes a value, or the error instead of a value.
func answerJSON(w http.ResponseWriter, v any, err error) {
	if err != nil {
		http.Error(w, strings.TrimSpace(err.Error()), http.StatusConflict)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}
