package apicheck

import (
	"strings"
	"testing"
)

const text = `{
 "paths": {
  "/things": {"get": {"responses": {"200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Things"}}}}}}},
  "/things/{id}": {"get": {"responses": {
   "200": {"content": {"application/json": {"schema": {"type": "object"}}, "application/x-ndjson": {"schema": {"type": "integer"}}}},
   "204": {}, "404": {"$ref": "#/components/responses/Problem"}}}},
  "/named": {"get": {"responses": {"200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Named"}}}}}}},
  "/things/own": {"get": {"responses": {"200": {"content": {"text/plain": {"schema": {"type": "string"}}}}}}}
 },
 "components": {
  "responses": {"Problem": {"content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}}},
  "schemas": {
   "Problem": {"type": "object", "required": ["title"], "properties": {"title": {"type": "string", "enum": ["none", "all"]}}},
   "Named": {"type": "object", "properties": {"next": {"type": "string"}}, "additionalProperties": {"type": "integer"}},
   "Things": {"type": "array", "items": {"oneOf": [{"type": "boolean"}, {"type": "number"}, {"$ref": "#/components/schemas/Problem"}]}}
  }
 }
}`

func TestWrong(t *testing.T) {
	t.Parallel()
	c, err := Read([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	const plain, problem = "application/json", "application/problem+json"
	for _, a := range []struct {
		path   string
		status int
		kind   string
		body   string
		wrong  string // a part of why; "": it is right
	}{
		{"/things?a=b", 200, plain, `[true, 1.5, {"title": "all"}]`, ""},
		{"/things", 200, plain + "; charset=utf-8", `[]`, ""},
		{"/things", 200, plain, `{}`, "an object, want array"},
		{"/things", 200, plain, `["x"]`, "0: 0 of 3 schemas fit"},
		{"/things", 200, plain, `[{"title": "all", "more": 1}]`, "schemas fit"},
		{"/things", 200, plain, `[`, "unexpected end"},
		{"/things", 201, plain, `[]`, "no answer 201"},
		{"/things", 200, "text/plain", `[]`, "of type"},
		{"/things/7", 200, plain, `{"any": {"thing": 1}}`, ""},
		{"/things/7", 200, plain, `[]`, "an array, want object"},
		{"/things/7", 204, "", ``, ""},
		{"/things/7", 404, problem, `{"title": "none"}`, ""},
		{"/things/7", 404, problem, `{}`, "title is missing"},
		{"/things/7", 404, problem, `{"title": "some"}`, "title: "},
		{"/things/7", 404, problem, `{"title": null}`, "title: "},
		{"/things/7", 404, problem, `{"title": "none", "more": 1}`, "more is not in the contract"},
		{"/things/7", 200, "application/x-ndjson", "1\n2\n", ""},
		{"/things/7", 200, "application/x-ndjson", "1\n2.5\n", "2.5, want integer"},
		{"/things/own", 200, "text/plain; charset=utf-8", "x", ""},
		{"/things/own", 200, plain, "{}", "of type"},
		{"/named", 200, plain, `{"next": "x", "any": 1}`, ""},
		{"/named", 200, plain, `{"next": 1}`, "next: "},
		{"/named", 200, plain, `{"any": "x"}`, "any: "},
	} {
		got := c.Wrong("GET", a.path, a.status, a.kind, a.body)
		if (got == "") != (a.wrong == "") || !strings.Contains(got, a.wrong) {
			t.Errorf("%+v: %q", a, got)
		}
	}
	for path, has := range map[string]bool{"/things/7?x": true, "/things/": false, "/things/7/8": false, "/other": false} {
		if c.Has("GET", path) != has || c.Has("PUT", path) {
			t.Errorf("%s: %t", path, !has)
		}
	}
}
