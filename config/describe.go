package config

import (
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
)

// An Option is the documentation of one option, from its tags.
type Option struct {
	Path     string // "connectors[].window"
	Type     string // "number"; "section" and "list of sections" hold further options
	Default  string // "" for none
	Allowed  string // range or words; "" for any
	Only     string // the direction of connectors that have it; "" for both
	Protocol string // the protocol of connectors that have it; "" for all
	Required bool
	Live     bool // a reload applies a change
	Rebind   bool // a change applies only to sessions that begin after it
	Doc      string
}

// Describe lists all options in the order of the file.
func Describe() []Option { return describe(reflect.TypeFor[Config](), "", nil) }

func describe(t reflect.Type, path string, to []Option) []Option {
	for f := range fieldsOf(t) {
		o := optionOf(f, join(path, keyOf(f)))
		to = append(to, o)
		switch {
		case isScalar(f.Type):
		case f.Type.Kind() == reflect.Struct:
			to = describe(f.Type, o.Path, to)
		case !isScalar(f.Type.Elem()):
			to = describe(f.Type.Elem(), o.Path+"[]", to)
		}
	}
	return to
}

func optionOf(f reflect.StructField, path string) Option {
	o := Option{
		Path:     path,
		Type:     typeName(f.Type),
		Default:  f.Tag.Get("default"),
		Allowed:  strings.ReplaceAll(f.Tag.Get("enum"), "|", ", "),
		Only:     f.Tag.Get("only"),
		Protocol: f.Tag.Get("protocol"),
		Required: f.Tag.Get("required") != "",
		Live:     f.Tag.Get("live") != "no",
		Rebind:   f.Tag.Get("live") == "rebind",
		Doc:      f.Tag.Get("doc"),
	}
	if f.Tag.Get("enum") != "" {
		o.Type = strings.Replace(o.Type, "text", "word", 1)
	}
	if limits := f.Tag.Get("range"); limits != "" {
		o.Allowed = describeRange(limits)
	}
	for _, of := range []string{"in", "ucp"} {
		if def := f.Tag.Get(of); def != "" {
			o.Default += " (" + of + ": " + def + ")"
		}
	}
	return o
}

func typeName(t reflect.Type) string {
	switch name := scalarNames[t]; {
	case name != "":
		return name
	case t.Kind() != reflect.Slice:
		return "section"
	case isScalar(t.Elem()):
		return "list of " + scalarNames[t.Elem()] + "s"
	}
	return "list of sections"
}

// Facts returns the option's type, range and default in a few words.
func (o Option) Facts() string {
	facts := []string{o.Type}
	if o.Allowed != "" {
		facts = append(facts, o.Allowed)
	}
	switch {
	case o.Required:
		facts = append(facts, "required")
	case o.Default != "":
		facts = append(facts, "default "+o.Default)
	}
	if o.Only != "" {
		facts = append(facts, "only direction: "+o.Only)
	}
	if o.Protocol != "" {
		facts = append(facts, "only protocol: "+o.Protocol)
	}
	return strings.Join(facts, "; ")
}

// reload returns the action that puts a change of the option in force.
func (o Option) reload() string {
	switch {
	case o.Rebind:
		return "reload, new sessions"
	case o.Live:
		return "reload"
	}
	return "restart"
}

// WriteText describes the options whose path begins with prefix, for a terminal.
// Shells take [] for a pattern, so it may be left out.
func WriteText(w io.Writer, prefix string) error {
	plain := strings.NewReplacer("[", "", "]", "")
	all := Describe()
	begins := func(o Option) bool { return strings.HasPrefix(plain.Replace(o.Path), plain.Replace(prefix)) }
	if !slices.ContainsFunc(all, begins) { // window stands for connectors[].window
		begins = func(o Option) bool { return strings.HasSuffix(o.Path, "."+prefix) }
	}
	found := false
	for _, o := range all {
		if !begins(o) {
			continue
		}
		found = true
		fmt.Fprintf(w, "%s\n    %s; changed by: %s\n", o.Path, o.Facts(), o.reload())
		for _, line := range wrap(o.Doc, 76) {
			fmt.Fprintf(w, "    %s\n", line)
		}
	}
	if !found {
		return fmt.Errorf("cannot find option %q: pmg config describe lists them all", prefix)
	}
	return nil
}

// markdownHead begins docs/config.md.
const markdownHead = "# Configuration\n\n" +
	"Made by `pmg config describe --markdown`; the source is `config/config.go`, and for the options of a protocol its\n" +
	"`protocols/*/options.go`.\n\n" +
	"One YAML file. Every option but the required ones may be left out; one that is not listed here is an error.\n" +
	"`pmg config init` writes a starter file, `pmg config check` lists what is wrong with a file, and\n" +
	"`pmg config show` prints the values in effect.\n\n" +
	"- A *duration* is written as `500ms`, `10s`, `1h30m` or `7d`, a *size* as `4096`, `64KiB` or `100MiB`.\n" +
	"- A list of one may be written without brackets.\n" +
	"- A file has no anchors, aliases or merges of YAML (`&`, `*`, `<<`): each section has all its options.\n" +
	"- `${ENV:NAME}` and `${FILE:/path}` in a value stand for an environment variable and for the content of a\n" +
	"  file (a relative path is relative to the configuration). Inside `{ }` a value with one needs quotes.\n" +
	"- *Change by* is the action that puts a change in force: `pmg reload` (or SIGHUP), or a restart of the gateway.\n" +
	"  *New sessions*: the change applies to sessions that begin after the reload. The sessions of an out connector\n" +
	"  are bound anew for it, each when what it has sent is answered, and are missing for a few seconds.\n"

// Markdown returns the text of docs/config.md.
func Markdown() string {
	var b strings.Builder
	b.WriteString(markdownHead)
	table := func() {
		b.WriteString("\n| option | what it does | values | default | change by |\n|---|---|---|---|---|\n")
	}
	b.WriteString("\n## Top level\n")
	table()
	all := Describe()
	rows := func(section string) {
		for _, o := range all {
			if !o.isSection() && o.section() == section {
				b.WriteString(o.row())
			}
		}
	}
	rows("")
	for _, o := range all {
		if o.isSection() {
			fmt.Fprintf(&b, "\n## %s\n\n%s\n", o.Path, o.Doc)
			table()
			rows(o.Path)
		}
	}
	return b.String()
}

// isSection reports whether the option holds further options.
func (o Option) isSection() bool {
	return strings.HasSuffix(o.Type, "section") || strings.HasSuffix(o.Type, "sections")
}

// section returns the path of the section that holds the option.
func (o Option) section() string {
	return strings.TrimSuffix(o.Path[:max(strings.LastIndex(o.Path, "."), 0)], "[]")
}

func (o Option) row() string {
	values, def := o.Type, o.Default
	if o.Allowed != "" {
		values += ": " + o.Allowed
	}
	if o.Required {
		def = "*required*"
	} else if def != "" {
		def = "`" + def + "`"
	}
	doc := o.Doc
	if only := strings.TrimSpace(o.Protocol + " " + o.Only); only != "" {
		doc = "(" + only + " only) " + doc
	}
	key := o.Path[strings.LastIndex(o.Path, ".")+1:]
	return fmt.Sprintf("| `%s` | %s | %s | %s | %s |\n", key, strings.ReplaceAll(doc, "|", "\\|"), values, def, o.reload())
}

// wrap breaks text into lines of at most width characters, at spaces.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines = append(lines, line)
			line = ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	return append(lines, line)
}
