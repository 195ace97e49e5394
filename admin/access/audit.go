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

// Limits of the content of a request that changes something, and of its answer in the audit log.
const (
	maxForm   = 64 << 10
	maxBody   = 17 << 20 // limit of a body that is no form, such as a list of prices; bodies of unknown callers are not read
	maxReason = 300
)

// The names of parameters whose values the audit log hides: the text of a message, options with secrets, and rows, which may
// be many.
const (
	Text    = "message"
	Options = "options"
	Rows    = "rows"
)

// shown returns the names of the parameters that the audit log shows with their values. The log only notes
// that other parameters were given. Their names are not shown, because a body that is no form may have
// secrets in place of names.
func shown() []string {
	return []string{
		"account", "after", "amount", "back", "before", "by", "change", "column", "comment", "compare", "connector", "day",
		"delivery", "destination", "direction", "do", "dry_run", "endpoint", "explain", "fallback", "file", "filter",
		"for", "force", "format", "from", "id", "key", "kind", "limit", "list", "month", "name", "network", "next", "older", "q",
		"reason", "receipt", "reference", "replies", "scope", "session", "sessions", "since", "sort", "state", "status", "tag",
		"text", "texts", "to", "until", "up_to",
	}
}

// Private returns the names of the parameters whose values the audit log does not show. The log only notes that they were given.
func Private() []string { return []string{"password", "number", Text, Options, Rows, "code"} }

// parametersOf returns the parameters of a request as the audit log shows them.
func parametersOf(all url.Values) url.Values {
	of := url.Values{}
	for name, values := range all {
		switch {
		case name == "back": // without the query, which may have a private parameter
			for _, path := range values {
				path, _, _ = strings.Cut(path, "?")
				of.Add(name, path)
			}
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

// An Audit writes a line for each request that is no GET or needs more than the scope Look, including refused
// requests: who, what, before, after, and the result. For unknown callers it writes one line a minute and
// address. Lines contain no texts of messages and no passwords.
type Audit struct {
	log  zerolog.Logger
	news node.Repeats
}

// NewAudit returns an audit log in a file, or in the gateway's own log if file is "".
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

// Write appends a line. If that fails, the line goes to the gateway's own log.
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

// A deed is the audit log's record of a request while the request is served.
type deed struct {
	http.ResponseWriter
	isAct         bool
	name          string // name of the action; "": the path
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

// MarkAuditedNow records a long read-only request in the audit log immediately.
func MarkAuditedNow(r *http.Request) {
	if d := deedOf(r); d.write != nil {
		d.write()
		d.isAct = false
	}
}

// Named sets the name of a request in the audit log. The default is the request's path.
func Named(r *http.Request, name string) { deedOf(r).name = name }

// LoggedIn records the user who has logged in with a request.
func LoggedIn(r *http.Request, name string) {
	deedOf(r).caller = Caller{Login: name, From: r.RemoteAddr, Scope: Look}
}

// Before records the state before a request's change.
func Before(r *http.Request, v any) { deedOf(r).before = v }

// After records the effect of a request.
func After(r *http.Request, v any) { deedOf(r).after = v }

// Handler serves requests, and records those that change something. A body for which hasForm is true is read
// as a form, whatever its type; other bodies are read only by the handler.
func (a *Audit) Handler(h http.Handler, hasForm func(*http.Request) bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		one := &deed{ResponseWriter: w, code: http.StatusOK, isAct: r.Method != http.MethodGet && r.Method != http.MethodHead}
		room := int64(maxBody)
		if hasForm(r) {
			room = maxForm
		} else {
			r.PostForm = url.Values{} // an empty form, so that no handler reads the body as a form
		}
		if r.Body = http.MaxBytesReader(w, r.Body, room); one.isAct {
			if err := r.ParseForm(); err != nil { // with some of its parameters a request could ask for more than with all
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

// unknown is the name of callers without a login.
const unknown = "unknown"

// Record writes a line for an action outside of a request. For unknown callers it writes one line a minute and network,
// because they may fail to log in any number of times.
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
