package smsc

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// A template is a text with fields: {name}, or {name?text}, which is the text if the field is not empty. Other braces
// stand for themselves.
type template []piece

type piece struct {
	constant string
	field    *field // field to insert; nil: the piece is the constant; else the constant is written if the field is not empty
}

// parse reads a template.
func parse(text string) (t template, err error) {
	for {
		before, rest, _ := strings.Cut(text, "{")
		body, after, closed := strings.Cut(rest, "}")
		name, constant, _ := strings.Cut(body, "?")
		if !closed || !isName(name) {
			open := len(before)
			if open == len(text) {
				return t.add(text), nil
			}
			t, text = t.add(text[:open+1]), text[open+1:]
			continue
		}
		i := slices.IndexFunc(fields, func(f field) bool { return f.name == name })
		if i < 0 {
			return nil, fmt.Errorf("has {%s}, and there is no such field: docs/http-smsc.md lists them", name)
		}
		t = append(t.add(before), piece{constant, &fields[i]})
		text = after
	}
}

func (t template) add(text string) template {
	if n := len(t) - 1; n >= 0 && t[n].field == nil {
		t[n].constant += text
		return t
	}
	if text == "" {
		return t
	}
	return append(t, piece{constant: text})
}

func isName(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789_") == ""
}

// fill returns the text, in which the values of fields are written by escape.
func (t template) fill(v *Values, escape func(string) string) string {
	var b strings.Builder
	for _, p := range t {
		switch {
		case p.field == nil:
			b.WriteString(p.constant)
		case p.constant == "":
			b.WriteString(escape(p.field.get(v)))
		case p.field.get(v) != "":
			b.WriteString(p.constant)
		}
	}
	return b.String()
}

// isEmpty reports whether the template has fields, all of which are empty.
func (t template) isEmpty(v *Values) bool {
	has := false
	for _, p := range t {
		if p.field != nil {
			if p.field.get(v) != "" {
				return false
			}
			has = true
		}
	}
	return has
}

func (t template) has(kind func(*field) bool) bool {
	return slices.ContainsFunc(t, func(p piece) bool { return p.field != nil && kind(p.field) })
}

// parameters are the parameters of a query or of a form.
type parameters []template

func parseParameters(text string) (all parameters, err error) {
	for part := range strings.SplitSeq(text, "&") {
		t, failed := parse(part)
		if failed != nil {
			err = failed
		}
		all = append(all, t)
	}
	return all, err
}

// fill returns the parameters, without those whose fields are all empty.
func (p parameters) fill(v *Values) string {
	var b strings.Builder
	for _, t := range p {
		if t.isEmpty(v) {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('&')
		}
		b.WriteString(t.fill(v, url.QueryEscape))
	}
	return b.String()
}

// line returns a value in the form for a header: without control characters.
func line(value string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7F {
			return -1
		}
		return r
	}, value)
}
