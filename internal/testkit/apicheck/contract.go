// Package apicheck checks the answers of an API against its contract (OpenAPI 3.1), for tests.
//
// # Start reading
//
// contract.go (Contract.Wrong).
package apicheck

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// A Contract is the part of an API's description that answers are checked against.
type Contract struct {
	Paths      map[string]map[string]json.RawMessage
	Webhooks   map[string]any
	Components struct {
		Schemas   map[string]*Schema
		Responses map[string]*Response
	}
}

// A Response is an answer of an operation.
type Response struct {
	Ref     string `json:"$ref"`
	Content map[string]struct{ Schema *Schema }
}

// A Schema describes a value. An object has only the named members, unless none are named.
type Schema struct {
	Ref        string `json:"$ref"`
	Type       string
	Enum       []string
	Required   []string
	Properties map[string]*Schema
	Items      *Schema
	OneOf      []*Schema

	AdditionalProperties *Schema // schema of the members that are not named
}

// Read reads a contract.
func Read(b []byte) (*Contract, error) {
	c := &Contract{}
	if err := json.Unmarshal(b, c); err != nil {
		return nil, err
	}
	return c, nil
}

// Has reports whether the contract has a method of a path, which may have a query.
func (c *Contract) Has(method, path string) bool { return c.operation(method, path) != nil }

// operation returns the description of a method of a path, nil if there is none. A path without parameters takes precedence.
func (c *Contract) operation(method, path string) json.RawMessage {
	path, _, _ = strings.Cut(path, "?")
	if methods, ok := c.Paths[path]; ok {
		return methods[strings.ToLower(method)]
	}
	got := strings.Split(path, "/")
	for pattern, methods := range c.Paths {
		want := strings.Split(pattern, "/")
		fits := len(want) == len(got)
		for i := 0; fits && i < len(want); i++ {
			fits = want[i] == got[i] || strings.HasPrefix(want[i], "{") && got[i] != ""
		}
		if fits {
			return methods[strings.ToLower(method)]
		}
	}
	return nil
}

// Wrong returns how an answer differs from the contract, "" if it does not. The contract must have the request.
func (c *Contract) Wrong(method, path string, status int, kind, body string) string {
	var o struct{ Responses map[string]*Response }
	if err := json.Unmarshal(c.operation(method, path), &o); err != nil {
		return err.Error()
	}
	a := o.Responses[fmt.Sprint(status)]
	if a != nil && a.Ref != "" {
		a = c.Components.Responses[nameOf(a.Ref)]
	}
	if a == nil {
		return fmt.Sprintf("the contract has no answer %d: %s", status, body)
	}
	base, _, _ := strings.Cut(kind, ";")
	s, ok := a.Content[base]
	switch {
	case len(a.Content) == 0 && body == "":
		return ""
	case !ok:
		return fmt.Sprintf("the answer %d is of type %q, which the contract does not have", status, kind)
	case !strings.HasSuffix(base, "json"):
		return ""
	}
	lines := []string{body}
	if strings.HasSuffix(base, "ndjson") {
		lines = strings.Split(strings.TrimSpace(body), "\n")
	}
	for _, line := range lines {
		var v any
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			return fmt.Sprintf("%v: %s", err, line)
		}
		if why := c.wrong(s.Schema, v); why != "" {
			return why + ": " + line
		}
	}
	return ""
}

func nameOf(ref string) string { return ref[strings.LastIndexByte(ref, '/')+1:] }

// wrong returns how a value differs from a schema, "" if it does not.
func (c *Contract) wrong(s *Schema, v any) string {
	if s != nil && s.Ref != "" {
		name := nameOf(s.Ref)
		if s = c.Components.Schemas[name]; s == nil {
			return "there is no schema " + name
		}
	}
	if s == nil {
		return "there is no schema"
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
		return ""
	case string:
		if s.Type == "string" && (s.Enum == nil || slices.Contains(s.Enum, v)) {
			return ""
		}
	case float64:
		if s.Type == "number" || s.Type == "integer" && v == float64(int64(v)) {
			return ""
		}
	case bool:
		if s.Type == "boolean" {
			return ""
		}
	}
	return fmt.Sprintf("%#v, want %s %s", v, s.Type, s.Enum)
}

func (c *Contract) wrongObject(s *Schema, v map[string]any) string {
	if s.Type != "object" {
		return "an object, want " + s.Type
	}
	for _, name := range s.Required {
		if _, ok := v[name]; !ok {
			return name + " is missing"
		}
	}
	if s.Properties == nil && s.AdditionalProperties == nil {
		return ""
	}
	for name, member := range v {
		of := s.Properties[name]
		if of == nil {
			of = s.AdditionalProperties
		}
		if of == nil {
			return name + " is not in the contract"
		}
		if why := c.wrong(of, member); why != "" {
			return name + ": " + why
		}
	}
	return ""
}
