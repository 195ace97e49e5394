package access

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/rs/zerolog"

	"pmg/gateway/node"
)

// Bounds on what a request to change something has, and on what the audit log has of its answer.
const (
	maxForm   = 64 << 10
	maxBody   = 17 << 20 // limit of a body that is no form, such as a list of prices; bodies of unknown callers are not read
	maxReason = 300
)

// The names of parameters of which the audit log does not show the values: the text of a message, options with secrets in them,
// and rows that may be many.
const (
	Text    = "message"
	Options = "options"
	Rows    = "rows"
)

// shown are the names of the parameters that the audit log shows, with their values. It says of others only that they were
// there: a body that is no form may have secrets in what would be a name.
func shown() []string {
	return []string{
		"account", "after", "amount", "back", "before", "by", "change", "column", "comment", "compare", "connector", "day",
		"delivery", "destination", "direction", "do", "dry_run", "endpoint", "explain", "fallback", "file", "filter", "for",
		"force", "format", "from", "id", "key", "kind", "limit", "month", "name", "network", "next", "older", "q", "receipt",
		"reference", "replies", "scope", "session", "sessions", "since", "sort", "state", "status", "tag", "text", "texts",
		"to", "until", "up_to",
	}
}

// Private returns the names of the parameters whose values the audit log does not show, only that they were given.
func Private() []string { return []string{"password", "number", Text, Options, Rows, "code"} }

// parametersOf returns the parameters of a request as the audit log shows them.
func parametersOf(all url.Values) url.Values {
	of := url.Values{}
	for name, values := range all {
		switch {
		case slices.Contains(shown(), name):
			of[name] = values
		case slices.Contains(Private(), name):
			of.Set(name, "***")
		default:
			of.Set("others", "***")
		}
	}
	return of
}

// An Audit writes a line for each request that needs more than the scope Look or is no GET, also if it was refused:
// who, what, before, after, and the result. Of those whose caller is not known it writes one a minute for each address.
// Lines have no texts of messages, and no passwords.
type Audit struct {
	log  zerolog.Logger
	news node.Repeats
}

// NewAudit returns an audit log in a file, or in the gateway's own log if there is none.
func NewAudit(file string, log zerolog.Logger) (*Audit, error) {
	if file == "" {
		return &Audit{log: log}, nil
	}
	f := &auditFile{path: file, log: log}
	if _, err := f.Write(nil); err != nil {
		return nil, err
	}
	return &Audit{log: zerolog.New(f).With().Timestamp().Logger()}, nil
}

// An auditFile is opened for each line, so that it may be moved away at any time. Lines are few.
type auditFile struct {
	mu   sync.Mutex
	path string
	log  zerolog.Logger
}

// Write appends a line. One that cannot be written goes to the gateway's own log.
func (f *auditFile) Write(line []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	file, err := os.OpenFile(f.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = file.Write(line)
		if cerr := file.Close(); err == nil {
			err = cerr
		}
	}
	if err != nil && len(line) > 0 {
		f.log.Error().Err(err).RawJSON("line", []byte(strings.TrimSpace(string(line)))).Msg("cannot write to admin.audit")
	}
	return len(line), err
}

// A deed is what is known of a request while it is served.
type deed struct {
	http.ResponseWriter
	isAct         bool
	name          string // of the action; "": the path
	caller        Caller
	before, after any
	code          int
	reason        []byte
	write         func() // writes the line
}

func (d *deed) WriteHeader(code int) {
	d.code = code
	d.ResponseWriter.WriteHeader(code)
}

func (d *deed) Write(b []byte) (int, error) {
	if d.code >= http.StatusBadRequest {
		d.reason = append(d.reason, b[:min(len(b), maxReason-len(d.reason))]...)
	}
	return d.ResponseWriter.Write(b)
}

// Unwrap is for http.ResponseController.
func (d *deed) Unwrap() http.ResponseWriter { return d.ResponseWriter }

func deedOf(r *http.Request) *deed {
	d, _ := r.Context().Value(deedKey).(*deed)
	if d == nil {
		d = new(deed) // the entry is not written
	}
	return d
}

// MarkAudited records a read-only request in the audit log, because it returns private data.
func MarkAudited(r *http.Request) { deedOf(r).isAct = true }

// MarkAuditedNow is MarkAudited for a request that may last: its line is written now.
func MarkAuditedNow(r *http.Request) {
	if d := deedOf(r); d.write != nil {
		d.write()
		d.isAct = false
	}
}

// Named sets the name by which the audit log calls the action of a request. Without it that is its
// path.
func Named(r *http.Request, name string) { deedOf(r).name = name }

// LoggedIn records who has logged in with a request.
func LoggedIn(r *http.Request, name string) {
	deedOf(r).caller = Caller{Login: name, From: r.RemoteAddr, Scope: Look}
}

// Before records what was there before a request has changed it.
func Before(r *http.Request, v any) { deedOf(r).before = v }

// After records what a request has done.
func After(r *http.Request, v any) { deedOf(r).after = v }

// Handler serves requests, and records those that change something. The bodies of those for which hasForm is true are forms,
// whatever type they have; others are read by those who serve them alone.
func (a *Audit) Handler(h http.Handler, hasForm func(*http.Request) bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		one := &deed{ResponseWriter: w, code: http.StatusOK, isAct: r.Method != http.MethodGet && r.Method != http.MethodHead}
		room := int64(maxBody)
		if hasForm(r) {
			room = maxForm
		} else {
			r.PostForm = url.Values{} // an empty form, so that nobody reads the body as a form
		}
		if r.Body = http.MaxBytesReader(w, r.Body, room); one.isAct {
			if err := r.ParseForm(); err != nil { // a part of the parameters may ask for more than the complete parameters
				http.Error(w, "cannot read the request: "+err.Error(), http.StatusBadRequest)
				return
			}
		}
		one.write = func() { a.write(r, one) }
		h.ServeHTTP(one, r.WithContext(context.WithValue(r.Context(), deedKey, one)))
		if known := one.caller.Scope != None; one.isAct && (known || a.news.First(network(r.RemoteAddr))) {
			a.write(r, one)
		}
	})
}

// unknown is how the log names those who have not logged in.
const unknown = "unknown"

// Record writes a line for what somebody has done elsewhere. For strangers it writes one line a minute and network, because they
// may fail to log in as often as they like.
func (a *Audit) Record(who, from, act string, parameters map[string]string, result string) {
	if who == unknown && !a.news.First(act+" "+network(from)) {
		return
	}
	a.log.Log().Str("level", "info").Bool("audit", true).Str("who", who).Str("from", from).Str("act", act).
		Interface("parameters", parameters).Str("result", result).Msg("admin action: " + act)
}

func (a *Audit) write(r *http.Request, one *deed) {
	who, from := one.caller.String(), r.RemoteAddr
	if one.caller.User != "" {
		from = "socket"
	}
	if one.caller.Scope == None {
		who = unknown
	}
	parameters := r.Form
	if parameters == nil {
		parameters = r.URL.Query()
	}
	result := "ok"
	if one.code >= http.StatusBadRequest {
		result = fmt.Sprintf("%d %s", one.code, strings.TrimSpace(string(one.reason)))
	}
	act := cmp.Or(one.name, strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, "/"), "admin/v1/"))
	e := a.log.Log().Str("level", "info").Bool("audit", true).Str("who", who).Str("from", from).
		Str("act", act).Interface("parameters", parametersOf(parameters))
	if one.before != nil {
		e = e.Interface("before", one.before)
	}
	if one.after != nil {
		e = e.Interface("after", one.after)
	}
	e.Str("result", result).Msg("admin action: " + act)
}
