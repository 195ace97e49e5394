package config

import (
	"reflect"
	"strings"
)

// An example holds the options that one entry of a list sets in the starter file.
type example map[string]string

// examples are the lists of the starter file: clients on this machine send load to an
// SMSC on this machine, which brings messages from mobiles to them.
var examples = map[string][]example{
	"accounts": {{"system_id": "load", "password": "secret"}},
	"connectors": {
		{"name": "clients", "direction": "in", "address": "127.0.0.1:2775", "window": "100"},
		{
			"name": "operator", "direction": "out", "address": "127.0.0.1:2776", "instances": "4", "system_id": "pmg",
			"password": "secret",
		},
		{"name": "api", "direction": "in", "protocol": "http", "address": "127.0.0.1:8080"},
	},
	"routes": {{"from": "operator", "to": "{account: load}"}, {"to": "operator"}},
}

// starters are the options outside lists that the starter file sets. Commands that ask
// a running gateway need admin.address.
var starters = example{"admin.address": "127.0.0.1:2780"}

const templateHead = `# PMG configuration. Options behind a # show their defaults; remove the # to set
# another value. "pmg config check" lists the problems of a file, "pmg config show"
# the values in effect, and "pmg config describe" all options.
#
# "pmg reload" puts a change in force in a running gateway.
#
# Any value may be "${ENV:NAME}" or "${FILE:/path}": keep passwords in those.
`

// Template returns the starter file: every option with its documentation, and lists
// that work without changes.
func Template() string {
	var w writer
	w.b.WriteString(templateHead)
	for f := range fieldsOf(reflect.TypeFor[Config]()) {
		w.line(0, "")
		w.comment(f, 0)
		switch {
		case isScalar(f.Type):
			w.commented(f, "", 0)
		case f.Type.Kind() == reflect.Struct:
			w.line(0, "%s:", keyOf(f))
			for o := range fieldsOf(f.Type) {
				w.comment(o, 1)
				if value := starters[join(keyOf(f), keyOf(o))]; value != "" {
					w.line(1, "%s: %s", keyOf(o), quoteValue(value))
				} else {
					w.commented(o, "", 1)
				}
			}
		default:
			w.line(0, "%s:", keyOf(f))
			w.examples(f)
		}
	}
	return w.b.String()
}

// examples writes the entries of a list. The options that an entry sets come
// first. Each option is described in the first entry where it has an effect. Those of
// another protocol than the entries speak have none.
func (w *writer) examples(f reflect.StructField) {
	described := map[string]bool{}
	for _, e := range examples[keyOf(f)] {
		var given, rest writer
		for o := range fieldsOf(f.Type.Elem()) {
			if p := o.Tag.Get("protocol"); p != "" && p != defaultProtocol(f.Type.Elem()) {
				continue
			}
			key, only := keyOf(o), o.Tag.Get("only")
			value, isGiven := e[key]
			isNew := !described[key] && (only == "" || only == e["direction"])
			to := &rest
			if isGiven {
				to = &given
			}
			if isNew {
				described[key] = true
				to.comment(o, 2)
			}
			if isGiven {
				to.line(2, "%s: %s", key, quoteValue(value))
			} else if isNew {
				to.commented(o, e["direction"], 2)
			}
		}
		w.b.WriteString(dashFirst(given.b.String()) + rest.b.String())
	}
}

// dashFirst puts the dash of a list entry before its first option, below the comments
// of that option.
func dashFirst(entry string) string {
	lines := strings.SplitAfter(entry, "\n")
	for i, line := range lines {
		if !strings.HasPrefix(line, "    #") {
			lines[i] = "  - " + line[4:]
			break
		}
	}
	return strings.Join(lines, "")
}

// quoteValue leaves numbers and sections as they are.
func quoteValue(s string) string {
	if strings.Trim(s, "0123456789") == "" || strings.HasPrefix(s, "{") {
		return s
	}
	return quote(s)
}

// comment writes an option's documentation.
func (w *writer) comment(f reflect.StructField, depth int) {
	o := optionOf(f, "")
	if !strings.Contains(o.Type, "section") {
		o.Doc += " (" + o.Facts() + ")"
	}
	for _, line := range wrap(o.Doc, 96-2*depth) {
		w.line(depth, "# %s", line)
	}
}

// commented writes an option with its default, as a comment. The options of a section stand
// below it.
func (w *writer) commented(f reflect.StructField, direction string, depth int) {
	if f.Type.Kind() == reflect.Struct && !isScalar(f.Type) {
		w.line(depth, "%s:", keyOf(f))
		for o := range fieldsOf(f.Type) {
			w.comment(o, depth+1)
			w.commented(o, direction, depth+1)
		}
		return
	}
	def := f.Tag.Get("default")
	if f.Type.Kind() == reflect.Slice && def != "" {
		def = "[" + def + "]"
	}
	if in := f.Tag.Get("in"); in != "" && direction == In {
		def = in
	}
	w.line(depth, "%s", strings.TrimSpace("#"+keyOf(f)+": "+def))
}

// defaultProtocol returns the protocol of a connector that names none.
func defaultProtocol(connector reflect.Type) string {
	f, _ := fieldOf(connector, "protocol")
	return f.Tag.Get("default")
}
