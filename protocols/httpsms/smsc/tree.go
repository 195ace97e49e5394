package smsc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// A node is a value of a JSON document whose strings are templates.
type node struct {
	kind    kind
	text    template // template of a quoted or bare value
	raw     []byte   // text of a fixed value
	members []member
}

// A kind is the form in which a node is written.
type kind uint8

const (
	quoted kind = iota // a string
	bare               // a string that becomes a number, or a word
	fixed              // a number or a word
	object
	array
)

// A member is a member of an object, or, without a name, an item of an array.
type member struct {
	name string
	node *node
}

// maxNodes and maxDepth bound a document of the configuration.
const (
	maxNodes = 1000
	maxDepth = 32
)

// A grower reads the document of a template.
type grower struct {
	decoder *json.Decoder
	nodes   int
}

// grow parses a JSON document whose strings are templates.
func grow(text string) (*node, error) {
	g := &grower{decoder: json.NewDecoder(strings.NewReader(text))}
	g.decoder.UseNumber()
	n, err := g.value(0)
	if err == nil {
		if _, more := g.decoder.Token(); more != io.EOF {
			err = errors.New("has more than one JSON value")
		}
	}
	return n, err
}

func (g *grower) value(depth int) (*node, error) {
	if g.nodes++; g.nodes > maxNodes || depth > maxDepth {
		return nil, errors.New("has too many values")
	}
	token, err := g.decoder.Token()
	if err != nil {
		return nil, fmt.Errorf("is no JSON: %w", err)
	}
	switch t := token.(type) {
	case json.Delim:
		if t == '[' {
			return g.children(array, depth)
		}
		return g.children(object, depth)
	case string:
		n := &node{}
		if rest, ok := strings.CutPrefix(t, "#"); ok {
			n.kind, t = bare, rest
		}
		n.text, err = parse(t)
		return n, err
	}
	raw, err := json.Marshal(token)
	return &node{kind: fixed, raw: raw}, err
}

func (g *grower) children(k kind, depth int) (*node, error) {
	n := &node{kind: k}
	for g.decoder.More() {
		var m member
		if k == object {
			token, err := g.decoder.Token()
			if err != nil {
				return nil, fmt.Errorf("is no JSON: %w", err)
			}
			m.name, _ = token.(string)
		}
		var err error
		if m.node, err = g.value(depth + 1); err != nil {
			return nil, err
		}
		n.members = append(n.members, m)
	}
	if _, err := g.decoder.Token(); err != nil {
		return nil, fmt.Errorf("is no JSON: %w", err)
	}
	return n, nil
}

// isEmpty reports whether the node has fields, all of which are empty.
func (n *node) isEmpty(v *Values) bool {
	for _, m := range n.members {
		if !m.node.isEmpty(v) {
			return false
		}
	}
	return len(n.members) > 0 || n.text.isEmpty(v)
}

func (n *node) has(kind func(*field) bool) bool {
	return n.text.has(kind) || slices.ContainsFunc(n.members, func(m member) bool { return m.node.has(kind) })
}

// append appends the document. Empty nodes are left out.
func (n *node) append(b []byte, v *Values) []byte {
	switch n.kind {
	case quoted:
		return appendString(b, n.text.fill(v, same))
	case bare:
		return append(b, word(n.text.fill(v, same))...)
	case fixed:
		return append(b, n.raw...)
	}
	brackets := map[kind]string{object: "{}", array: "[]"}[n.kind]
	b = append(b, brackets[0])
	first := true
	for _, m := range n.members {
		if m.node.isEmpty(v) {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		if first = false; n.kind == object {
			b = append(appendString(b, m.name), ':')
		}
		b = m.node.append(b, v)
	}
	return append(b, brackets[1])
}

func same(s string) string { return s }

// word returns a text that is JSON unchanged, and another text as a JSON string.
func word(text string) []byte {
	if json.Valid([]byte(text)) {
		return []byte(text)
	}
	return appendString(nil, text)
}

// appendString appends a string of JSON. Octets that are no UTF-8 become U+FFFD.
func appendString(b []byte, text string) []byte {
	quoted, _ := json.Marshal(text) // a string has no value that JSON lacks
	return append(b, quoted...)
}

// A document is JSON that a peer has sent.
type document struct{ value any }

// maxNested is how deep such a document may be.
const maxNested = 64

func readDocument(body []byte) (d document, ok bool) {
	if !isShallow(body) {
		return d, false
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	if decoder.Decode(&d.value) != nil {
		return document{}, false
	}
	_, err := decoder.Token()
	return d, err == io.EOF
}

// isShallow reports whether a document is not too deep.
func isShallow(body []byte) bool {
	depth, inString := 0, false
	for i := 0; i < len(body); i++ {
		switch c := body[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			if depth++; depth > maxNested {
				return false
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return true
}

// at returns the value that a JSON pointer (RFC 6901) leads to. It reports false if there is no such value.
func (d document) at(pointer string) (document, bool) {
	if pointer == "/" { // "/" in the configuration means the whole document
		return d, true
	}
	v := d.value
	for _, step := range strings.Split(pointer, "/")[1:] {
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		switch in := v.(type) {
		case map[string]any:
			next, ok := in[step]
			if !ok {
				return document{}, false
			}
			v = next
		case []any:
			i, err := strconv.ParseUint(step, 10, 31)
			if err != nil || int(i) >= len(in) {
				return document{}, false
			}
			v = in[i]
		default:
			return document{}, false
		}
	}
	return document{v}, true
}

// text returns a string, a number or a truth as text. It reports false for anything else.
func (d document) text() (string, bool) {
	switch v := d.value.(type) {
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	case bool:
		return strconv.FormatBool(v), true
	}
	return "", false
}

// items returns the items of a list, or the document itself if it is no list.
func (d document) items() []document {
	list, ok := d.value.([]any)
	if !ok {
		return []document{d}
	}
	all := make([]document, len(list))
	for i, v := range list {
		all[i] = document{v}
	}
	return all
}
