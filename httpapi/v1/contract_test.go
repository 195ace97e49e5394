package v1

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pmg/httpapi/apitest"
)

// A checker is the contract, as far as answers are checked against it.
type checker struct {
	Paths      map[string]map[string]json.RawMessage
	Webhooks   map[string]any
	Components struct{ Schemas map[string]*wanted }
}

// Wanted is what a value must be. An object has no members but those that are named.
type wanted struct {
	Ref        string `json:"$ref"`
	Type       string
	Enum       []string
	Required   []string
	Properties map[string]*wanted
	Items      *wanted
	OneOf      []*wanted
}

func newChecker(t *testing.T) (c checker) {
	t.Helper()
	if err := json.Unmarshal([]byte(openapi), &c); err != nil {
		t.Fatal(err)
	}
	return c
}

// check checks an answer of the API.
func (c checker) check(t *testing.T, method, path string, r apitest.Reply) {
	t.Helper()
	kind := "application/json"
	if r.Status >= 400 {
		kind = "application/problem+json"
	}
	if !strings.HasPrefix(path, "/v1/") {
		return
	}
	path, _, _ = strings.Cut(path, "?")
	s := &wanted{Ref: "Problem"}
	if of := c.of(method, path); of != nil {
		var o struct {
			Responses map[string]struct {
				Ref     string `json:"$ref"`
				Content map[string]struct{ Schema *wanted }
			}
		}
		if err := json.Unmarshal(of, &o); err != nil {
			t.Fatal(err)
		}
		a, ok := o.Responses[fmt.Sprint(r.Status)]
		switch {
		case !ok:
			t.Errorf("%s %s has no answer %d in the contract: %s", method, path, r.Status, r.Body)
			return
		case a.Ref == "":
			if kind = r.Header.Get("Content-Type"); a.Content[kind].Schema == nil {
				t.Errorf("%s %s: an answer of type %s", method, path, kind)
				return
			}
			s = a.Content[kind].Schema
		}
	} else if r.Status < 400 {
		return // not of the API
	}
	if got := r.Header.Get("Content-Type"); got != kind {
		t.Errorf("%s %s: an answer of type %s, want %s", method, path, got, kind)
	}
	lines := []string{r.Body}
	if strings.HasSuffix(kind, "ndjson") {
		lines = strings.Split(strings.TrimSpace(r.Body), "\n")
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

// of returns what the contract says of a method of a path, nil if it says nothing.
func (c checker) of(method, path string) json.RawMessage {
	methods, ok := c.Paths[path]
	if !ok && strings.HasPrefix(path, "/v1/messages/") {
		methods = c.Paths["/v1/messages/{id}"]
	}
	return methods[strings.ToLower(method)]
}

// wrong returns why a value is not what the schema says, "" if it is.
func (c checker) wrong(s *wanted, v any) string {
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

func (c checker) wrongObject(s *wanted, v map[string]any) string {
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
