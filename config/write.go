package config

import (
	"fmt"
	"reflect"
	"strings"

	"pmg/protocols/smpp"
	"pmg/sms/rewrite"
)

// Show returns the configuration in effect as a file, with secrets masked and without
// options that have no effect.
func Show(c *Config) string {
	return showOne(c)
}

// ShowConnector returns the options of a connector as Show does.
func ShowConnector(c *Connector) string { return showOne(c) }

// ShowAccount returns the options of an account as Show does, without its keys.
func ShowAccount(a *Account) string {
	keyless := *a
	keyless.Keys = nil
	return showOne(&keyless)
}

func showOne(options any) string {
	var w writer
	w.options(reflect.ValueOf(options).Elem(), 0)
	return w.b.String()
}

// A writer writes YAML, one option a line.
type writer struct{ b strings.Builder }

// line writes one line at a depth.
func (w *writer) line(depth int, format string, args ...any) {
	w.b.WriteString(strings.Repeat("  ", depth))
	fmt.Fprintf(&w.b, format+"\n", args...)
}

// options writes the options of a struct.
func (w *writer) options(v reflect.Value, depth int) {
	for f := range fieldsOf(v.Type()) {
		if !hasEffect(v, f) {
			continue
		}
		at := v.FieldByIndex(f.Index)
		switch {
		case isScalar(f.Type):
			w.line(depth, "%s: %s", keyOf(f), show(v, f))
		case f.Type.Kind() == reflect.Struct:
			w.line(depth, "%s:", keyOf(f))
			w.options(at, depth+1)
		case isScalar(f.Type.Elem()) || at.Len() == 0:
			w.line(depth, "%s: %s", keyOf(f), showList(at))
		default:
			w.line(depth, "%s:", keyOf(f))
			w.items(at, depth+1)
		}
	}
}

// items writes a list of structs, each with its first option behind a dash.
func (w *writer) items(list reflect.Value, depth int) {
	for i := range list.Len() {
		var item writer
		item.options(list.Index(i), depth+1)
		dash := strings.Repeat("  ", depth) + "- "
		w.b.WriteString(dash + item.b.String()[len(dash):])
	}
}

// hasEffect reports whether an option applies to this kind of connector, or is given in
// this rule.
func hasEffect(v reflect.Value, f reflect.StructField) bool {
	if v.Type() == reflect.TypeFor[rewrite.Rule]() || v.Type() == reflect.TypeFor[smpp.TLVRule]() {
		return !v.FieldByIndex(f.Index).IsZero()
	}
	c, ok := v.Addr().Interface().(*Connector)
	only, protocol := f.Tag.Get("only"), f.Tag.Get("protocol")
	return !ok || (only == "" || only == c.Direction) && (protocol == "" || protocol == c.Protocol)
}

// show returns the value of an option as written in a file.
func show(v reflect.Value, f reflect.StructField) string {
	at := v.FieldByIndex(f.Index)
	if f.Tag.Get("secret") != "" && at.String() != "" {
		return quote(masked)
	}
	return formatScalar(at)
}

// showList writes a list of single values on one line.
func showList(list reflect.Value) string {
	words := make([]string, list.Len())
	for i := range words {
		words[i] = fmt.Sprint(list.Index(i).Interface())
		if list.Type().Elem() != reflect.TypeFor[Pause]() {
			words[i] = quote(words[i])
		}
	}
	return "[" + strings.Join(words, ", ") + "]"
}
