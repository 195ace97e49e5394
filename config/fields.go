package config

import (
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"

	"pmg/internal/nearest"
)

// fieldsOf returns the options of a struct, in order. The options of a struct in it that
// is no option itself are among them, with their index and, if they belong to a protocol,
// its tag.
func fieldsOf(t reflect.Type) iter.Seq[reflect.StructField] {
	return func(yield func(reflect.StructField) bool) {
		for i := range t.NumField() {
			f := t.Field(i)
			if !f.IsExported() {
				continue
			}
			if keyOf(f) != "" {
				if !yield(f) {
					return
				}
				continue
			}
			for own := range fieldsOf(f.Type) {
				own.Index = append(slices.Clone(f.Index), own.Index...)
				if protocol := f.Tag.Get("protocol"); protocol != "" {
					own.Tag += reflect.StructTag(` protocol:"` + protocol + `"`)
				}
				if !yield(own) {
					return
				}
			}
		}
	}
}

// keyOf returns an option's key in the file.
func keyOf(f reflect.StructField) string { return f.Tag.Get("yaml") }

// fieldOf returns the option with the key, and reports whether there is one.
func fieldOf(t reflect.Type, key string) (reflect.StructField, bool) {
	for f := range fieldsOf(t) {
		if keyOf(f) == key {
			return f, true
		}
	}
	return reflect.StructField{}, false
}

// A shape is what the tags of a struct say.
type shape struct {
	blank    reflect.Value // one with the defaults
	options  map[string]reflect.StructField
	required []reflect.StructField
}

// shapeOf returns the shape of a struct. It is made once for all accounts, of which there may be very many.
func shapeOf(d *decoder, t reflect.Type) *shape {
	if known, ok := d.shapes.Load(t); ok {
		return known.(*shape)
	}
	s := &shape{blank: reflect.New(t).Elem(), options: map[string]reflect.StructField{}}
	setDefaults(s.blank, "default")
	for f := range fieldsOf(t) {
		if _, known := s.options[keyOf(f)]; !known {
			s.options[keyOf(f)] = f
		}
		if f.Tag.Get("required") != "" {
			s.required = append(s.required, f)
		}
	}
	d.shapes.Store(t, s)
	return s
}

// join returns the path of the option key in the section at path.
func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// setDefaults fills a struct and the structs in it from their tags.
func setDefaults(v reflect.Value, tag string) {
	for f := range fieldsOf(v.Type()) {
		at := v.FieldByIndex(f.Index)
		switch def, ok := f.Tag.Lookup(tag); {
		case ok:
			setDefault(at, def)
		case at.Kind() == reflect.Struct:
			setDefaults(at, tag)
		}
	}
}

// setDefault sets an option to its default. That of a list has commas between its values.
func setDefault(v reflect.Value, text string) {
	if v.Kind() == reflect.Slice {
		words := strings.Split(text, ", ")
		v.Set(reflect.MakeSlice(v.Type(), len(words), len(words)))
		for i, word := range words {
			setDefault(v.Index(i), word)
		}
		return
	}
	x, err := parseScalar(v.Type(), text)
	if err != nil {
		panic("config: a default tag " + err.Error())
	}
	v.Set(x)
}

// suggest returns a hint for a key that is not an option of the section at path.
func suggest(key, path string, t reflect.Type) string {
	if i := strings.IndexAny(key, " :={"); i > 0 {
		if _, ok := fieldOf(t, key[:i]); ok {
			return ": write " + key[:i] + ": and then a space and the value"
		}
	}
	var keys []string
	for f := range fieldsOf(t) {
		keys = append(keys, keyOf(f))
	}
	if near := nearest.Word(key, keys); near != "" {
		return ": did you mean " + near + "?"
	}
	for _, o := range Describe() {
		if strings.HasSuffix(o.Path, "."+key) {
			return ": did you mean " + o.Path + "?"
		}
	}
	section := strings.TrimRight(" "+strings.Map(func(r rune) rune {
		if r == '[' || r == ']' || r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, path), " ")
	section = strings.NewReplacer("profiles.connector", "connectors", "profiles.account", "accounts").Replace(section)
	return ": pmg config describe" + section + " lists the options"
}

// maxNamed is how many names a message lists.
const maxNamed = 8

// didYouMean returns a hint that names the most similar name, or else all names.
func didYouMean(name string, names []string) string {
	names = slices.DeleteFunc(slices.Clone(names), func(s string) bool { return s == "" })
	switch near := nearest.Word(name, names); {
	case near != "":
		return ": did you mean " + near + "?"
	case len(names) == 0:
		return ": there are none"
	case len(names) == 1:
		return ": there is only " + names[0]
	}
	return ": there are " + shortList(names)
}

// shortList lists at most maxNamed names, and the number of the others.
func shortList(names []string) string {
	if len(names) > maxNamed {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxNamed], ", "), len(names)-maxNamed)
	}
	return strings.Join(names, ", ")
}

// Secrets returns the options of accounts that are never shown.
func Secrets() (keys []string) {
	for f := range fieldsOf(reflect.TypeFor[Account]()) {
		if f.Tag.Get("secret") != "" {
			keys = append(keys, keyOf(f))
		}
	}
	return keys
}
