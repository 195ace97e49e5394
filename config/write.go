package config

import (
	"cmp"
	"fmt"
	"reflect"
	"strings"

	"pmg/config/document"
	"pmg/config/option"
	"pmg/plugin/expression"
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
	keyless.Logins.Keys = nil
	return showOne(&keyless)
}

// ShowList returns the options of a list of numbers or of prices as Show does.
func ShowList[L List | Prices](l *L) string { return showOne(l) }

func showOne(options any) string {
	var w document.Writer
	writeOptions(&w, reflect.ValueOf(options).Elem(), 0)
	return w.String()
}

// writeOptions writes the options of a struct.
func writeOptions(w *document.Writer, v reflect.Value, depth int) {
	for f := range option.All(v.Type()) {
		if !hasEffect(v, f) {
			continue
		}
		at, key := v.FieldByIndex(f.Index), option.Key(f)
		switch {
		case key == "profiles", key == "profile" && at.String() == "":
		case key == "profile": // the contents of the profile are shown
			w.Option(depth, "# profile", show(v, f))
		case option.IsSingle(f.Type):
			w.Option(depth, key, show(v, f))
		case f.Type.Kind() == reflect.Struct:
			w.Section(depth, key)
			writeOptions(w, at, depth+1)
		case option.IsSingle(f.Type.Elem()) || at.Len() == 0:
			w.Option(depth, key, showList(at))
		default:
			w.Section(depth, key)
			for i := range at.Len() {
				var item document.Writer
				writeOptions(&item, at.Index(i), depth+2)
				w.Item(depth+1, &item)
			}
		}
	}
}

// hasEffect reports whether an option applies to this kind of connector, or is given in
// this rule.
func hasEffect(v reflect.Value, f reflect.StructField) bool {
	switch v.Type() {
	case reflect.TypeFor[rewrite.Rule](), reflect.TypeFor[expression.Rule](), reflect.TypeFor[smpp.TLVRule]():
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
		return option.Quote(document.Masked)
	}
	return option.Format(at)
}

// showList writes a list of single values on one line.
func showList(list reflect.Value) string {
	words := make([]string, list.Len())
	for i := range words {
		words[i] = fmt.Sprint(list.Index(i).Interface())
		if list.Type().Elem() != reflect.TypeFor[Pause]() {
			words[i] = option.Quote(words[i])
		}
	}
	return "[" + strings.Join(words, ", ") + "]"
}

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

// firstMonth are the options that the short starter file explains besides those that it sets, each with the name of the
// entry that shows it, or "" outside lists.
var firstMonth = map[string]string{
	"admin.tokens": "", "lists": "",
	"accounts.rate": "load", "accounts.webhook": "load", "accounts.webhook_key": "load", "accounts.block": "load",
	"connectors.bind": "operator", "connectors.rate": "operator", "connectors.retry": "operator", "connectors.tls": "operator",
	"connectors.window": "operator", "connectors.long_messages": "operator", "routes.destination": "operator",
}

const shortHead = `# The first options of PMG, each with the first sentence about it (docs/first-month.md). Those behind a # show their defaults.
# "pmg config check" lists the problems of a file, "pmg config describe OPTION" explains one, "pmg reload" puts a change in force.
# Any value may be "${ENV:NAME}" or "${FILE:/path}": keep passwords in those.
`

// A template writes the starter file: all options, or only those that it sets and those of the map.
type template struct {
	document.Writer
	only map[string]string // nil: all
}

// Template returns the starter file: every option with its documentation, and lists
// that work without changes.
func Template() string { return starterFile(templateHead, nil) }

// ShortTemplate returns the starter file with the options that it sets and those of the first month alone.
func ShortTemplate() string { return starterFile(shortHead, firstMonth) }

func starterFile(head string, only map[string]string) string {
	w := template{only: only}
	for line := range strings.Lines(head) {
		w.Line(0, strings.TrimSpace(line))
	}
	for f := range option.All(reflect.TypeFor[Config]()) {
		if !w.shows(option.Key(f)) {
			continue
		}
		w.Line(0, "")
		w.comment(f, 0)
		switch {
		case option.IsSingle(f.Type):
			w.commented(f, "", 0)
		case f.Type.Kind() == reflect.Struct:
			w.Section(0, option.Key(f))
			for o := range option.All(f.Type) {
				path := option.Join(option.Key(f), option.Key(o))
				if !w.shows(path) {
					continue
				}
				w.comment(o, 1)
				if value := starters[path]; value != "" {
					w.Option(1, option.Key(o), quoteValue(value))
				} else {
					w.commented(o, "", 1)
				}
			}
		default:
			w.Section(0, option.Key(f))
			w.examples(f)
		}
	}
	return w.String()
}

// shows reports whether the file has an option outside lists, or a section.
func (w *template) shows(path string) bool {
	if w.only == nil || len(examples[path]) > 0 {
		return true
	}
	for shown := range w.only {
		if shown == path || strings.HasPrefix(shown, path+".") {
			return true
		}
	}
	return starters[path] != ""
}

// explains reports whether an entry of a list may have the explanation of an option.
func (w *template) explains(path string, e example, isGiven bool) bool {
	entry, ok := w.only[path]
	if !ok {
		return w.only == nil || isGiven
	}
	return entry == cmp.Or(e["name"], e["system_id"], e["to"])
}

// examples writes the entries of a list. The options that an entry sets come first. Each option is described
// in the first entry where it has an effect. Options of a protocol that no entry speaks have no effect.
func (w *template) examples(f reflect.StructField) {
	described := map[string]bool{}
	for _, e := range examples[option.Key(f)] {
		given, rest := template{only: w.only}, template{only: w.only}
		for o := range option.All(f.Type.Elem()) {
			if p := o.Tag.Get("protocol"); p != "" && p != defaultProtocol(f.Type.Elem()) {
				continue
			}
			key, only := option.Key(o), o.Tag.Get("only")
			value, isGiven := e[key]
			isNew := !described[key] && (only == "" || only == e["direction"]) &&
				w.explains(option.Join(option.Key(f), key), e, isGiven)
			to := &rest
			if isGiven {
				to = &given
			}
			if isNew {
				described[key] = true
				to.comment(o, 2)
			}
			if isGiven {
				to.Option(2, key, quoteValue(value))
			} else if isNew {
				to.commented(o, e["direction"], 2)
			}
		}
		given.Append(&rest.Writer)
		w.Item(1, &given.Writer)
	}
}

// quoteValue leaves numbers and sections as they are.
func quoteValue(s string) string {
	if strings.Trim(s, "0123456789") == "" || strings.HasPrefix(s, "{") {
		return s
	}
	return option.Quote(s)
}

// comment writes an option's documentation, or the first sentence of it in a short file.
func (w *template) comment(f reflect.StructField, depth int) {
	o := optionOf(f, "")
	if w.only != nil {
		w.Comment(depth, 130, o.Sentence())
		return
	}
	if !strings.Contains(o.Type, "section") {
		o.Doc += " (" + o.Facts() + ")"
	}
	w.Comment(depth, 98, o.Doc)
}

// commented writes an option with its default, as a comment. The options of a section stand
// below it.
func (w *template) commented(f reflect.StructField, direction string, depth int) {
	if f.Type.Kind() == reflect.Struct && !option.IsSingle(f.Type) && w.only == nil {
		w.Section(depth, option.Key(f))
		for o := range option.All(f.Type) {
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
	w.Line(depth, strings.TrimSpace("#"+option.Key(f)+": "+def))
}

// defaultProtocol returns the protocol of a connector that names none.
func defaultProtocol(connector reflect.Type) string {
	f, _ := option.Find(connector, "protocol")
	return f.Tag.Get("default")
}
