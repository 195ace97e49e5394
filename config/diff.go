package config

import (
	"fmt"
	"reflect"
)

// A Change is an option that differs between two configurations.
type Change struct {
	Path     string // "connectors[operator].window"
	Old, New string // as in the file, secrets masked; of an entry of a list "none", "there" or "gone"
	Live     bool   // SIGHUP applies it; otherwise a restart does
}

// String writes the change for the log.
func (c Change) String() string {
	s := fmt.Sprintf("%s: %s -> %s", c.Path, c.Old, c.New)
	if !c.Live {
		s += " (at the next restart)"
	}
	return s
}

// Diff returns what changes from c to next. Accounts and connectors are compared
// by name, so that one more at the top is one change; routes as a whole,
// because their order matters.
func (c *Config) Diff(next *Config) []Change {
	return diff(reflect.ValueOf(c).Elem(), reflect.ValueOf(next).Elem(), "", nil)
}

func diff(old, next reflect.Value, path string, to []Change) []Change {
	for f := range fieldsOf(old.Type()) {
		a, b := old.FieldByIndex(f.Index), next.FieldByIndex(f.Index)
		if reflect.DeepEqual(a.Interface(), b.Interface()) {
			continue
		}
		at := join(path, keyOf(f))
		live := f.Tag.Get("live") == "yes"
		switch {
		case isScalar(f.Type):
			to = append(to, Change{at, show(old, f), show(next, f), live})
		case f.Type.Kind() == reflect.Struct:
			to = diff(a, b, at, to)
		case isScalar(f.Type.Elem()):
			to = append(to, Change{at, showList(a), showList(b), live})
		case isNamedList(f.Type):
			to = diffNamed(a, b, at, live, to)
		default:
			to = append(to, Change{at, fmt.Sprint(a.Len(), " ", at), fmt.Sprint(b.Len(), " ", at), live})
		}
	}
	return to
}

// isNamedList reports whether the rows of a list have names: accounts and
// connectors, but not routes.
func isNamedList(t reflect.Type) bool {
	return t == reflect.TypeFor[[]Account]() || t == reflect.TypeFor[[]Connector]()
}

// diffNamed compares lists whose entries have their name in their first option.
func diffNamed(old, next reflect.Value, path string, live bool, to []Change) []Change {
	before, after := byName(old), byName(next)
	for i := range old.Len() {
		name := old.Index(i).Field(0).String()
		at := fmt.Sprintf("%s[%s]", path, name)
		if b, ok := after[name]; ok {
			to = diff(old.Index(i), b, at, to)
		} else {
			to = append(to, Change{at, "there", "gone", live})
		}
	}
	for i := range next.Len() {
		name := next.Index(i).Field(0).String()
		if _, ok := before[name]; !ok {
			to = append(to, Change{fmt.Sprintf("%s[%s]", path, name), "none", "there", live})
		}
	}
	return to
}

func byName(list reflect.Value) map[string]reflect.Value {
	m := make(map[string]reflect.Value, list.Len())
	for i := range list.Len() {
		m[list.Index(i).Field(0).String()] = list.Index(i)
	}
	return m
}
