package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// A contract is an OpenAPI document, as far as answers are checked against it.
type contract struct {
	Paths    map[string]map[string]json.RawMessage
	Webhooks map[string]struct {
		Post struct {
			RequestBody struct {
				Content map[string]struct{ Schema *schema }
			}
		}
	}
	Components struct{ Schemas map[string]*schema }
}

// A schema is what a value must be. An object has no members but those that are named.
type schema struct {
	Ref        string `json:"$ref"`
	Type       string
	Enum       []string
	Required   []string
	Properties map[string]*schema
	Items      *schema
	OneOf      []*schema
}

// readContract reads the contract.
func readContract() (c contract) {
	b, err := os.ReadFile("../../httpapi/v1/openapi.json")
	if err != nil {
		panic(err)
	}
	if err := json.Unmarshal(b, &c); err != nil {
		panic(err)
	}
	return c
}

// check checks an answer of the API.
func (c contract) check(t testing.TB, method, path string, r reply) {
	t.Helper()
	kind := "application/json"
	if r.status >= 400 {
		kind = "application/problem+json"
	}
	if !strings.HasPrefix(path, "/v1/") {
		return
	}
	path, _, _ = strings.Cut(path, "?")
	s := &schema{Ref: "Problem"}
	if of := c.of(method, path); of != nil {
		var o struct {
			Responses map[string]struct {
				Ref     string `json:"$ref"`
				Content map[string]struct{ Schema *schema }
			}
		}
		if err := json.Unmarshal(of, &o); err != nil {
			t.Fatal(err)
		}
		a, ok := o.Responses[fmt.Sprint(r.status)]
		switch {
		case !ok:
			t.Errorf("%s %s has no answer %d in the contract: %s", method, path, r.status, r.body)
			return
		case a.Ref == "":
			if kind = r.header.Get("Content-Type"); a.Content[kind].Schema == nil {
				t.Errorf("%s %s: an answer of type %s", method, path, kind)
				return
			}
			s = a.Content[kind].Schema
		}
	} else if r.status < 400 {
		return // not of the API
	}
	if got := r.header.Get("Content-Type"); got != kind {
		t.Errorf("%s %s: an answer of type %s, want %s", method, path, got, kind)
	}
	lines := []string{r.body}
	if strings.HasSuffix(kind, "ndjson") {
		lines = strings.Split(strings.TrimSpace(r.body), "\n")
	}
	for _, line := range lines {
		var v any
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Errorf("%s %s: %v: %s", method, path, err, line)
		} else if why := c.wrong(s, v); why != "" {
			t.Errorf("%s %s: %s: %s", method, path, why, line)
		}
	}
}

// checkCall checks a call of a webhook, if it is in our own form.
func (c contract) checkCall(t testing.TB, header http.Header, body []byte) {
	if header.Get("webhook-id") == "" || header.Get("Content-Type") != "application/json" {
		return
	}
	var v map[string]any
	if err := json.Unmarshal(body, &v); err != nil {
		t.Errorf("%v: %s", err, body)
		return
	}
	s := c.Webhooks[fmt.Sprint(v["type"])].Post.RequestBody.Content["application/json"].Schema
	if s == nil {
		t.Errorf("the contract has no such webhook: %s", body)
	} else if why := c.wrong(s, v); why != "" {
		t.Errorf("%s: %s", why, body)
	}
}

// of returns what the contract says of a method of a path, nil if it says nothing.
func (c contract) of(method, path string) json.RawMessage {
	methods, ok := c.Paths[path]
	if !ok && strings.HasPrefix(path, "/v1/messages/") {
		methods = c.Paths["/v1/messages/{id}"]
	}
	return methods[strings.ToLower(method)]
}

// wrong returns why a value is not what the schema says, "" if it is.
func (c contract) wrong(s *schema, v any) string {
	if s.Ref != "" {
		name := s.Ref[strings.LastIndexByte(s.Ref, '/')+1:]
		if s = c.Components.Schemas[name]; s == nil {
			return "there is no schema " + name
		}
	}
	if len(s.OneOf) > 0 {
		fits := 0
		for _, one := range s.OneOf {
			if c.wrong(one, v) == "" {
				fits++
			}
		}
		if fits != 1 {
			return fmt.Sprintf("%d of %d schemas fit", fits, len(s.OneOf))
		}
		return ""
	}
	switch v := v.(type) {
	case map[string]any:
		return c.wrongObject(s, v)
	case []any:
		if s.Type != "array" {
			return "an array, want " + s.Type
		}
		for i, item := range v {
			if why := c.wrong(s.Items, item); why != "" {
				return fmt.Sprintf("%d: %s", i, why)
			}
		}
	case string:
		if s.Type != "string" || s.Enum != nil && !slices.Contains(s.Enum, v) {
			return fmt.Sprintf("%q, want %s %s", v, s.Type, s.Enum)
		}
	case float64:
		if s.Type != "integer" || v != float64(int64(v)) {
			return fmt.Sprintf("%v, want %s", v, s.Type)
		}
	default:
		return fmt.Sprintf("%v, want %s", v, s.Type)
	}
	return ""
}

func (c contract) wrongObject(s *schema, v map[string]any) string {
	if s.Type != "object" {
		return "an object, want " + s.Type
	}
	for _, name := range s.Required {
		if _, ok := v[name]; !ok {
			return name + " is missing"
		}
	}
	for name, member := range v {
		of := s.Properties[name]
		if of == nil {
			return name + " is not in the contract"
		}
		if why := c.wrong(of, member); why != "" {
			return name + ": " + why
		}
	}
	return ""
}

// The commands of docs/http.md work as they stand there.
func TestHTTPDocuments(t *testing.T) {
	parallel(t)
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("there is no curl")
	}
	page, err := os.ReadFile("../../docs/http.md")
	if err != nil {
		t.Fatal(err)
	}
	s := site{operator: newSMSC(t), more: withAPI, accounts: "{system_id: load, password: secret}", store: vfs.NewMem()}
	g := start(t, s)
	var printed strings.Builder
	for _, block := range strings.Split(string(page), "```sh\n")[1:] {
		commands, _, _ := strings.Cut(block, "```")
		out, err := exec.Command("sh", "-ec", strings.ReplaceAll(commands, "localhost:8080", g.addr("api"))).CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v", commands, err)
		}
		printed.Write(out)
	}
	lines := strings.Split(printed.String(), "\n")
	lines = slices.DeleteFunc(lines, func(line string) bool { return !strings.HasPrefix(line, "{") })
	want := []string{`"client_reference":"parcel 7"`, `"state":"scheduled"`, `"state":"scheduled"`, `"state":"deleted"`, `"account":"load"`, `{"messages":[]}`, `"client_reference":"parcel 7"`}
	if len(lines) != len(want) {
		t.Fatalf("%s", printed.String())
	}
	for i, line := range lines {
		if !strings.Contains(line, want[i]) {
			t.Errorf("%s, want %s", line, want[i])
		}
	}
	smsc := s.operator.session()
	for range 2 {
		smsc.answer(0, field(smsc.want("submit_sm"), "seq"))
	}
}
