package v1

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"html/template"
	"net/http"
	"slices"
	"strings"

	"pmg/httpapi/server"
	"pmg/protocols/httpsms"
	"pmg/protocols/httpsms/own"
)

// openapi is the contract of our own API (OpenAPI 3.1). Tests check each answer against it.
//
//go:embed openapi.json
var openapi string

// A contract is the part of openapi that the page shows.
type contract struct {
	Info            struct{ Title, Description string }
	Paths, Webhooks map[string]map[string]json.RawMessage // methods by path, and by type of event

	Components struct{ Schemas map[string]schema }
}

// An action is a method of a path.
type action struct {
	Method, Path         string
	Summary, Description string
	Responses            map[string]json.RawMessage
}

// A schema is the schema of an object, or of a member.
type schema struct {
	Ref         string `json:"$ref"`
	Type        string
	Description string
	Enum        []string
	Required    []string
	Properties  map[string]schema
	Items       *schema
}

// Kind returns the type of a member, with the values that it may have.
func (s schema) Kind() string {
	switch {
	case s.Ref != "":
		return s.Ref[strings.LastIndexByte(s.Ref, '/')+1:]
	case s.Items != nil:
		return "array of " + s.Items.Kind()
	case s.Enum != nil:
		return strings.Join(s.Enum, ", ")
	}
	return s.Type
}

// docsPage returns the contract as a page for people.
func docsPage(*http.Request) []byte {
	var c contract
	_ = json.Unmarshal([]byte(openapi), &c) // a test checks that the document is valid
	var b bytes.Buffer
	_ = template.Must(template.New("page").Parse(pageText)).Execute(&b, struct { // to memory
		contract
		Actions, Calls []action
	}{c, actions(c.Paths), actions(c.Webhooks)})
	return b.Bytes()
}

// actions returns the methods of paths, in the order of the paths.
func actions(paths map[string]map[string]json.RawMessage) (all []action) {
	for path, methods := range paths {
		for method, raw := range methods {
			if method == "parameters" {
				continue
			}
			a := action{Method: strings.ToUpper(method), Path: path}
			_ = json.Unmarshal(raw, &a) // a test checks that the document is valid, as in docsPage
			all = append(all, a)
		}
	}
	slices.SortFunc(all, func(a, b action) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(a.Method, b.Method))
	})
	return all
}

const htmlType = "text/html; charset=utf-8"

const pageText = `<!doctype html><html lang=en><meta charset=utf-8><title>{{.Info.Title}}: the API</title>
<style>body{font:16px/1.5 sans-serif;max-width:60em;margin:2em auto;padding:0 1em}td{padding:.2em 1em .2em 0;vertical-align:top}code{font-size:95%}</style>
<h1>{{.Info.Title}}: the API</h1>
<p>{{.Info.Description}} The contract: <a href=/v1/openapi.json>openapi.json</a>.
{{range .Actions}}<h2><code>{{.Method}} {{.Path}}</code></h2>
<p>{{.Summary}}. {{.Description}}
<p>Answers:{{range $status, $_ := .Responses}} {{$status}}{{end}}
{{end}}<h1>Calls of webhooks</h1>
{{range .Calls}}<h2><code>{{.Path}}</code></h2>
<p>{{.Summary}}. {{.Description}}
{{end}}<h1>Types</h1>
{{range $name, $s := .Components.Schemas}}<h2 id={{$name}}>{{$name}}</h2>
<p>{{$s.Description}}{{with $s.Required}} Always there:{{range .}} <code>{{.}}</code>{{end}}.{{end}}
<table>{{range $member, $m := $s.Properties}}<tr><td><code>{{$member}}</code><td>{{$m.Kind}}<td>{{$m.Description}}
{{end}}</table>
{{end}}`

// page returns a handler that answers with a page, without a login. A nil page means that there is none.
func (a *API) page(l *server.Listener, kind string, make func(*http.Request) []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		h := a.begin(l, w, r)
		body := make(r)
		if body == nil {
			h.problem(own.NewProblem("not-found", "there is no "+r.URL.Path))
			return
		}
		h.x.Answer(&httpsms.Answer{Status: http.StatusOK, ContentType: kind, Body: body})
		h.x.LogRequest(httpsms.Ask, nil, http.StatusOK, httpsms.Result{})
	}
}
