package reference

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"pmg/protocols/httpsms/own"
)

// members are the members of an object of JSON, in the order of the document.
type members[T any] []member[T]

type member[T any] struct {
	Name  string
	Value T
}

// UnmarshalJSON reads an object.
func (m *members[T]) UnmarshalJSON(b []byte) error {
	d := json.NewDecoder(bytes.NewReader(b))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return errors.Join(err, fmt.Errorf("an object is expected, not %.40s", b))
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		var one member[T]
		one.Name, _ = name.(string) // names are strings
		if err := d.Decode(&one.Value); err != nil {
			return err
		}
		*m = append(*m, one)
	}
	return nil
}

// A contract is a document of OpenAPI.
type contract struct {
	Info            struct{ Title, Description string }
	Paths, Webhooks members[members[json.RawMessage]] // methods by path, and by type of event

	Components struct {
		Schemas         members[*schema]
		Parameters      map[string]parameter
		Responses       map[string]response
		SecuritySchemes members[struct{ Scheme, Description string }]
	}
}

// A schema describes an object, or a member.
type schema struct {
	Ref         string `json:"$ref"`
	Type        string
	Format      string
	Description string
	Encoding    string `json:"contentEncoding"`
	Enum        []string
	Default     any
	Required    []string
	Properties  members[*schema]
	Items       *schema
	OneOf       []*schema

	AdditionalProperties *schema

	Minimum, Maximum, MaxLength, MinItems, MaxItems, MaxProperties *int
}

// Name returns the name of the type that a schema refers to.
func (s *schema) Name() string { return nameOf(s.Ref) }

// Has reports whether an object always has a member.
func (s *schema) Has(member string) bool { return slices.Contains(s.Required, member) }

// Limits returns the values that are allowed, as text.
func (s *schema) Limits() string {
	var all []string
	add := func(format string, v any) { all = append(all, fmt.Sprintf(format, v)) }
	bounds := func(least, most *int, unit string) {
		switch {
		case least != nil && most != nil:
			all = append(all, fmt.Sprintf("%d to %d%s", *least, *most, unit))
		case least != nil:
			all = append(all, fmt.Sprintf("%d or more%s", *least, unit))
		case most != nil:
			all = append(all, fmt.Sprintf("up to %d%s", *most, unit))
		}
	}
	if s.Format != "" {
		add("%s", s.Format)
	}
	if s.Encoding != "" {
		add("%s", s.Encoding)
	}
	bounds(s.Minimum, s.Maximum, "")
	bounds(nil, s.MaxLength, " octets")
	bounds(s.MinItems, s.MaxItems, " items")
	bounds(nil, s.MaxProperties, " members")
	if len(s.Enum) > 0 {
		add("one of: %s", strings.Join(s.Enum, ", "))
	}
	if s.Default != nil {
		add("default: %v", s.Default)
	}
	return strings.Join(all, "; ")
}

// A parameter is a part of the path, the query or the header of a request.
type parameter struct {
	Ref         string `json:"$ref"`
	Name, In    string
	Required    bool
	Schema      *schema
	Description string
	Example     any
}

// A content is a body, by its type.
type content = members[struct {
	Schema  *schema
	Example any
}]

// A response is an answer of an operation.
type response struct {
	Ref         string `json:"$ref"`
	Description string
	Content     content
}

// An operation is a method of a path, or a call of a webhook.
type operation struct {
	ID          string `json:"operationId"`
	Method      string `json:"-"`
	Path        string `json:"-"`
	Summary     string
	Description string
	Parameters  []parameter
	RequestBody struct{ Content content }
	Responses   members[response]
	Answers     members[response] `json:"-"` // responses that are no problems
	Problems    []own.Kind        `json:"-"`
	Shape       *schema           `json:"-"` // schema of the body, with its members; nil: no body
}

// Kind returns the type of the operation's body, "" if it has none.
func (o *operation) Kind() string {
	if len(o.RequestBody.Content) == 0 {
		return ""
	}
	return o.RequestBody.Content[0].Name
}

// Body returns the example of the operation's body, "" if it has none.
func (o *operation) Body() string {
	if o.Kind() == "" {
		return ""
	}
	example := o.RequestBody.Content[0].Value.Example
	if text, isText := example.(string); isText { // lines of JSON
		return text
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if example == nil || e.Encode(example) != nil {
		return ""
	}
	return strings.TrimSpace(b.String())
}

// shape returns the schema of the operation's body, with its members; nil if it has no body.
func (c *contract) shape(o *operation) *schema {
	if o.Kind() == "" {
		return nil
	}
	s := o.RequestBody.Content[0].Value.Schema
	for _, one := range c.Components.Schemas {
		if s.Ref != "" && one.Name == s.Name() {
			return one.Value
		}
	}
	return s
}

// operations returns the methods of paths, in the order of the document.
func (c *contract) operations(paths members[members[json.RawMessage]]) (all []operation, err error) {
	for _, path := range paths {
		var shared []parameter
		for _, method := range path.Value {
			if method.Name == "parameters" {
				if err := json.Unmarshal(method.Value, &shared); err != nil {
					return nil, err
				}
				continue
			}
			o := operation{Method: strings.ToUpper(method.Name), Path: path.Name}
			if err := json.Unmarshal(method.Value, &o); err != nil {
				return nil, err
			}
			o.Parameters = append(slices.Clone(shared), o.Parameters...)
			c.complete(&o)
			all = append(all, o)
		}
	}
	return all, nil
}

// complete follows the references of an operation, and finds its problems.
func (c *contract) complete(o *operation) {
	o.Shape = c.shape(o)
	for i, p := range o.Parameters {
		if p.Ref != "" {
			o.Parameters[i] = c.Components.Parameters[nameOf(p.Ref)]
		}
	}
	for _, r := range o.Responses {
		status, name := r.Name, nameOf(r.Value.Ref)
		if name == "Problem" {
			for _, k := range own.Kinds() {
				if fmt.Sprint(k.Status) == status {
					o.Problems = append(o.Problems, k)
				}
			}
			continue
		}
		if name != "" {
			r.Value = c.Components.Responses[name]
		}
		o.Answers = append(o.Answers, r)
	}
	slices.SortStableFunc(o.Problems, func(a, b own.Kind) int { return cmp.Compare(a.Status, b.Status) })
}

func nameOf(ref string) string { return ref[strings.LastIndexByte(ref, '/')+1:] }
