package config

import (
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"pmg/config/document"
	"pmg/config/option"
)

// An Option is the documentation of one option, from its tags.
type Option struct {
	Path     string // "connectors[].window"
	Type     string // "number"; "section" and "list of sections" hold further options
	Default  string // "" for none
	Allowed  string // range or words; "" for any
	Only     string // the direction of the connectors that have the option; "": both directions
	Protocol string // the protocol of the connectors that have the option; "": all protocols
	Required bool
	Live     bool // a reload applies a change
	Rebind   bool // a change applies only to sessions that begin after the change
	Doc      string
}

// Describe lists all options in the order of the file.
func Describe() []Option { return describe(reflect.TypeFor[Config](), Option{}, nil) }

// describe appends the options of a section, which is an option only of a connector with the section's protocol.
func describe(t reflect.Type, in Option, to []Option) []Option {
	for f := range option.All(t) {
		o := optionOf(f, option.Join(in.Path, option.Key(f)))
		if o.Protocol == "" {
			o.Protocol = in.Protocol
		}
		to = append(to, o)
		switch {
		case option.IsSingle(f.Type):
		case f.Type.Kind() == reflect.Struct:
			to = describe(f.Type, o, to)
		case !option.IsSingle(f.Type.Elem()):
			inner := o
			inner.Path += "[]"
			to = describe(f.Type.Elem(), inner, to)
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
		o.Allowed = option.DescribeRange(limits)
	}
	for _, of := range []string{"in", "ucp", "http", "test"} {
		if def := f.Tag.Get(of); def != "" {
			o.Default += " (" + of + ": " + def + ")"
		}
	}
	return o
}

func typeName(t reflect.Type) string {
	switch name := option.Kind(t); {
	case name != "":
		return name
	case t.Kind() != reflect.Slice:
		return "section"
	case option.IsSingle(t.Elem()):
		return "list of " + option.Kind(t.Elem()) + "s"
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

// Sentence returns the first sentence of what the option does.
func (o Option) Sentence() string {
	sentence, _, _ := strings.Cut(o.Doc, ". ")
	return strings.TrimSuffix(sentence, ".") + "."
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

// WriteText describes the options whose path begins with prefix, for a terminal. The prefix may lack [],
// which shells take for a pattern.
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
		for _, line := range document.Wrap(o.Doc, 76) {
			fmt.Fprintf(w, "    %s\n", line)
		}
	}
	if !found {
		return fmt.Errorf("cannot find option %q: pmg config describe lists them all", prefix)
	}
	return nil
}
