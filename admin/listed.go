package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"pmg/admin/access"
	"pmg/gateway/lists"
	"pmg/sms/numbers"
)

// Limits of requests about numbers of lists.
const (
	mostNumbers = 1000             // numbers that a request may add or remove
	maxReasons  = 4 << 10          // octets of a body with a reason
	exportTime  = 10 * time.Minute // time limit of an export, which may have ten million rows
	mostExports = 2                // exports that run at the same time
)

// ChangedList is how many numbers were added to a list, or removed from it. The others were before.
type ChangedList struct {
	Changed int `json:"changed"`
}

// changeList returns the action that adds each ?number= to ?list=, or removes it, for ?reason=.
func changeList(on bool) func(*Server, *http.Request) (any, error) {
	return func(s *Server, r *http.Request) (any, error) {
		name := r.FormValue("list") // reads the form
		all := r.Form["number"]
		if len(all) == 0 || len(all) > mostNumbers {
			return nil, refuse(http.StatusBadRequest, fmt.Sprintf("cannot change a list: give 1 to %d numbers", mostNumbers))
		}
		from := numbers.Origin{Source: numbers.API, Who: access.CallerOf(r).Owner(), Reason: r.FormValue("reason")}
		if strings.HasPrefix(r.URL.Path, PagesBase) {
			from.Source = numbers.Page
		}
		n, err := s.view.gateway.Lists.Change(name, on, from, all...)
		if err != nil {
			return nil, refusedList("change", name, err)
		}
		return ChangedList{n}, nil
	}
}

// refusedList returns the refusal of a request about a list.
func refusedList(verb, name string, err error) error {
	var bad numbers.BadEntry
	switch {
	case errors.Is(err, lists.ErrNoList):
		return refuse(http.StatusNotFound, fmt.Sprintf("cannot %s list %.100s: %v", verb, name, err))
	case errors.As(err, &bad):
		return refuse(http.StatusUnprocessableEntity, err.Error())
	case errors.Is(err, context.DeadlineExceeded):
		text := fmt.Sprintf("cannot %s list %s: that takes too long; try again later", verb, name)
		return refuse(http.StatusServiceUnavailable, text)
	}
	return refuse(http.StatusInternalServerError, err.Error())
}

// changeNumber returns the handler that adds the number of its path to a list, or removes it, as an action does. Also a refused
// request has the name of the action in the audit log, because the path has the number.
func changeNumber(s *Server, a Action) http.HandlerFunc {
	h := s.guard.May(a.Scope, s.limiters.limited(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reason, err := reasonOf(w, r)
		var v any
		if err == nil {
			r.Form = url.Values{"list": {r.PathValue("name")}, "number": {r.PathValue("number")}, "reason": {reason}}
			v, err = s.Do(&a, r)
		}
		answerFound(w, v, err)
	})))
	return func(w http.ResponseWriter, r *http.Request) {
		access.Named(r, a.Name)
		h.ServeHTTP(w, r)
	}
}

// numberName is the name of a number of a list, in paths.
const numberName = "lists/{name}/numbers/{number}"

// numberMethods returns the methods with which actions are carried out about the number of a path.
func numberMethods() map[string]string {
	return map[string]string{"lists/add": http.MethodPut, "lists/remove": http.MethodDelete}
}

// reasonOf returns the reason of a change: of the body of PUT, and the parameter of DELETE.
func reasonOf(w http.ResponseWriter, r *http.Request) (string, error) {
	if r.Method == http.MethodDelete {
		return r.URL.Query().Get("reason"), nil
	}
	var body struct {
		Reason string `json:"reason"`
	}
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxReasons))
	d.DisallowUnknownFields()
	err := d.Decode(&body)
	if errors.Is(err, io.EOF) { // no body, no reason
		return "", nil
	}
	if _, more := d.Token(); err == nil && !errors.Is(more, io.EOF) {
		err = errors.New("something is behind it")
	}
	if err != nil {
		return "", refuse(http.StatusBadRequest, `cannot change a list: the body must be such as {"reason":"asked by letter"}: `+err.Error())
	}
	return body.Reason, nil
}

// showListed shows the names of the lists that have ?number=.
func showListed(s *Server, w http.ResponseWriter, r *http.Request) {
	names := s.view.gateway.Lists.With([]string{r.FormValue("number")})
	if names == nil {
		names = []string{}
	}
	answerJSON(w, struct {
		Lists []string `json:"lists"`
	}{names}, nil)
}

// A Listed is what a list knows of a number.
type Listed struct {
	List    string        `json:"list"`
	Number  string        `json:"number"`
	On      bool          `json:"on"`
	By      numbers.Place `json:"by,omitempty"` // what decides that
	History []ListChange  `json:"history"`      // the latest changes, the latest first
}

// A ListChange is a change of a list beside its file.
type ListChange struct {
	Number string         `json:"number"`
	Change string         `json:"change"` // added, or removed
	Time   *time.Time     `json:"time,omitempty"`
	Source numbers.Source `json:"source,omitempty"`
	Who    string         `json:"who,omitempty"`
	ID     string         `json:"id,omitempty"` // the message of a mobile
	Reason string         `json:"reason,omitempty"`
}

// ListedOf returns what a list has found, as it is shown.
func ListedOf(name, number string, f numbers.Found) *Listed {
	return &Listed{name, number, f.On, f.By, listChangesOf(f.History)}
}

// listChangesOf returns changes as they are shown.
func listChangesOf(all []numbers.Change) []ListChange {
	shown := make([]ListChange, len(all))
	for i := range all {
		c := &all[i]
		shown[i] = ListChange{Number: c.Entry, Change: "removed", Source: c.Source, Who: c.Who, ID: c.ID, Reason: c.Reason}
		if c.On {
			shown[i].Change = "added"
		}
		if !c.At.IsZero() {
			shown[i].Time = &c.At
		}
	}
	return shown
}

// LookUp returns what a list of a server's gateway knows of a number. It reads the list's changes.
func LookUp(s *Server, r *http.Request, name, number string) (*Listed, error) {
	access.MarkAudited(r)
	access.Named(r, "lists/number")
	register, err := s.view.gateway.Lists.Register(name)
	if err != nil {
		return nil, refusedList("read", name, err)
	}
	access.Named(r, "lists/"+name+"/number")
	ctx, done, err := s.searcher.begin(r)
	if err != nil {
		return nil, err
	}
	defer done()
	number = strings.TrimSpace(number)
	found, err := register.Look(ctx, number)
	if err != nil {
		return nil, refusedList("read", name, err)
	}
	return ListedOf(name, number, found), nil
}

// LatestChanges returns the latest changes of a list of a server's gateway, the latest first.
func LatestChanges(s *Server, r *http.Request, name string) ([]ListChange, error) {
	access.MarkAudited(r)
	access.Named(r, "lists/changes")
	register, err := s.view.gateway.Lists.Register(name)
	if err != nil {
		return nil, refusedList("read", name, err)
	}
	access.Named(r, "lists/"+name+"/changes")
	all, err := register.Recent()
	if err != nil {
		return nil, refusedList("read", name, err)
	}
	return listChangesOf(all), nil
}

// showNumber shows what a list knows of a number.
func showNumber(s *Server, w http.ResponseWriter, r *http.Request) {
	TakesLong(w)
	found, err := LookUp(s, r, r.PathValue("name"), r.PathValue("number"))
	answerFound(w, found, err)
}

// exportList answers with a list and its changes, as CSV: what is on it, with ?all=1 the removed numbers, too.
func exportList(s *Server, w http.ResponseWriter, r *http.Request) {
	access.MarkAudited(r)
	access.Named(r, "lists/export")
	name := r.PathValue("name")
	register, err := s.view.gateway.Lists.Register(name)
	if err != nil {
		answerFound(w, nil, refusedList("export", name, err))
		return
	}
	access.Named(r, "lists/"+name+"/export")
	select {
	case s.exports <- struct{}{}:
		defer func() { <-s.exports }()
	default:
		err := refuse(http.StatusServiceUnavailable, "cannot export a list: others are exported; try again in a minute")
		answerFound(w, nil, err)
		return
	}
	access.MarkAuditedNow(r) // also for those who disconnect before the end
	Lasts(w, exportTime)
	ctx, stop := context.WithTimeout(r.Context(), exportTime)
	defer stop()
	w.Header().Set("Content-Type", "text/csv; charset=utf-8")
	file := mime.FormatMediaType("attachment", map[string]string{"filename": "pmg-list-" + name + ".csv"})
	w.Header().Set("Content-Disposition", file)
	if err := register.WriteCSV(ctx, w, r.FormValue("all") != "", nil); err != nil {
		if r.Context().Err() == nil {
			s.view.gateway.Node.Log.Error().Err(err).Msg("an export of a list has ended early")
		}
		panic(http.ErrAbortHandler) // so that nobody takes a part of the list for the whole
	}
}
