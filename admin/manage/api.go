package manage

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"net/http"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"pmg/admin"
	"pmg/admin/access"
	"pmg/config"
	"pmg/config/document"
	"pmg/config/managed"
	"pmg/config/managed/editor"
)

//go:embed openapi.json
var openapi []byte

// An Edit changes a managed file of the gateway.
type Edit func(ctx context.Context, r editor.Request) (editor.Result, error)

// An api serves one gateway.
type api struct {
	server *admin.Server
	edit   Edit
}

// A route is a method and a path below admin.Base, with its handler.
type route struct {
	pattern string
	scope   access.Scope
	serve   func(*api, http.ResponseWriter, *http.Request) error
}

// table returns the routes of the API.
func table() []route {
	return []route{
		{"GET /{kind}", access.Look, (*api).list},
		{"GET /{kind}/{name}", access.Look, (*api).show},
		{"PUT /{kind}/{name}", access.Administer, (*api).put},
		{"PATCH /{kind}/{name}", access.Administer, (*api).patch},
		{"DELETE /{kind}/{name}", access.Administer, (*api).remove},
		{"GET /{kind}/{name}/rows", access.Look, (*api).showRows},
		{"PUT /{kind}/{name}/rows", access.Administer, (*api).putRows},
		{"DELETE /{kind}/{name}/rows", access.Administer, (*api).removeRows},
		{"POST /accounts/{name}/keys", access.Administer, (*api).addKey},
		{"DELETE /accounts/{name}/keys/{key}", access.Administer, (*api).removeKey},
		{"GET /changes", access.Look, (*api).changes},
		{"GET /changes/{number}", access.Look, (*api).change},
		{"POST /changes/{number}/revert", access.Administer, (*api).revert},
	}
}

// Routes returns the function that adds the API to the paths of a server.
func Routes(edit Edit) admin.Routes {
	return func(server *admin.Server, m *http.ServeMux) {
		a := &api{server, edit}
		for _, ro := range table() {
			method, path, _ := strings.Cut(ro.pattern, " ")
			kinds := []string{""}
			if strings.HasPrefix(path, "/{kind}") {
				kinds = managed.Kinds()
			}
			for _, kind := range kinds {
				if strings.HasSuffix(path, "/rows") && managed.Rows(kind) == "" {
					continue
				}
				m.Handle(
					method+" "+admin.Base+strings.Replace(path, "{kind}", kind, 1),
					server.Guard().May(ro.scope, server.Limited(a.handler(kind, ro))),
				)
			}
		}
		m.Handle("GET "+admin.Base+"/openapi.json", server.Guard().May(access.Look, server.Limited(
			func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				_, _ = w.Write(openapi)
			},
		)))
	}
}

// editTime is the time limit of a change: with many accounts a reload takes seconds.
const editTime = time.Minute

// handler serves a route, and answers refused requests with a problem.
func (a *api) handler(kind string, ro route) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if kind != "" {
			r.SetPathValue("kind", kind)
		}
		access.Named(r, strings.ToLower(r.Method)+" "+strings.TrimPrefix(r.URL.Path, admin.Base+"/"))
		c := http.NewResponseController(w)
		_ = c.SetReadDeadline(time.Now().Add(editTime))
		_ = c.SetWriteDeadline(time.Now().Add(2 * editTime))
		if a.config().Managed.Dir == "" {
			a.refused(w, refuse(http.StatusNotFound, "the configuration has no managed.dir, so that nothing is managed here"))
			return
		}
		if err := ro.serve(a, w, r); err != nil {
			a.refused(w, err)
		}
	}
}

func (a *api) config() *config.Config { return a.server.Gateway().Node.Config() }

func (a *api) dir() *managed.Dir { return managed.Open(a.config().Managed.Dir, nil) }

func refuse(status int, text string) error { return &editor.Refusal{Status: status, Text: text} }

// A problem is the answer to a refused request (RFC 9457).
type problem struct {
	Type     string  `json:"type"`
	Title    string  `json:"title"`
	Status   int     `json:"status"`
	Detail   string  `json:"detail"`
	Problems []field `json:"problems,omitempty"`
}

// A field is the problem of an option.
type field struct {
	Option string `json:"option,omitempty"`
	Detail string `json:"detail"`
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`
}

// refused answers a request with the reason of the refusal.
func (a *api) refused(w http.ResponseWriter, err error) {
	p := problem{Type: "about:blank", Status: http.StatusInternalServerError}
	var r *editor.Refusal
	if errors.As(err, &r) {
		p.Status = r.Status
	} else {
		r = &editor.Refusal{Text: err.Error()}
	}
	local := a.withoutDirs(r.Problems)
	p.Detail = local.Replace(r.Text)
	for _, one := range r.Problems {
		p.Problems = append(p.Problems, field{one.Path, local.Replace(one.Message), local.Replace(one.File), one.Line})
	}
	if r.Tag != "" {
		w.Header().Set("ETag", quoted(r.Tag))
	}
	p.Title = http.StatusText(p.Status)
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p)
}

// withoutDirs removes the directories of managed.dir and of the files with problems from texts: callers know only names, and a
// directory of the gateway's machine is not for them.
func (a *api) withoutDirs(problems document.Problems) *strings.Replacer {
	pairs := []string{a.config().Managed.Dir + "/", ""}
	for _, one := range problems {
		if dir := filepath.Dir(one.File); filepath.IsAbs(dir) && dir != "/" {
			pairs = append(pairs, dir+"/", "")
		}
	}
	return strings.NewReplacer(pairs...)
}

func answer(w http.ResponseWriter, status int, v any) error {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false) // changes contain ->
	return e.Encode(v)
}

func quoted(tag string) string { return `"` + tag + `"` }

// request returns the change of a file that an HTTP request asks for.
func request(r *http.Request, file string) (editor.Request, error) {
	q := r.URL.Query()
	e := editor.Request{
		File: file, By: access.CallerOf(r).String(), Comment: q.Get("comment"), Dry: isSet(q.Get("dry_run")),
		Force: isSet(q.Get("force")),
	}
	if len(e.Comment) > 200 || strings.ContainsFunc(e.Comment, unicode.IsControl) {
		return e, refuse(http.StatusBadRequest, "a comment has 200 octets at most, and no control characters")
	}
	match, none := r.Header.Get("If-Match"), r.Header.Get("If-None-Match")
	switch {
	case match != "" && none != "", none != "" && none != "*":
		return e, refuse(http.StatusBadRequest, "If-None-Match must be *, without If-Match")
	case none != "":
		e.Match = editor.Missing
	case match == "*":
		e.Match = editor.Exists
	case match != "":
		tag, ok := strings.CutPrefix(strings.TrimSuffix(match, `"`), `"`)
		if !ok || strings.Contains(tag, `"`) || len(tag) < 2 {
			return e, refuse(http.StatusBadRequest, `If-Match must be one tag of an ETag, such as "1f0c", or *`)
		}
		e.Match = tag
	}
	return e, nil
}

func isSet(parameter string) bool { return parameter != "" && parameter != "0" && parameter != "false" }

// do carries out a change, and answers.
func (a *api) do(w http.ResponseWriter, r *http.Request, e editor.Request, more func(editor.Result) any) error {
	result, err := a.edit(r.Context(), e)
	if err != nil {
		return err
	}
	access.After(r, result)
	status := http.StatusOK
	if result.Created && !e.Dry {
		status = http.StatusCreated
	}
	if result.Tag != "" && !e.Dry {
		w.Header().Set("ETag", quoted(result.Tag))
	}
	if more == nil {
		return answer(w, status, result)
	}
	return answer(w, status, more(result))
}
