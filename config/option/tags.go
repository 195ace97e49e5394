package option

import (
	"iter"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// All returns the options of a struct, in order. It includes the options of an embedded struct that is no
// option itself, with their index and, if they belong to a protocol, the tag of the protocol.
func All(t reflect.Type) iter.Seq[reflect.StructField] {
	return func(yield func(reflect.StructField) bool) {
		for i := range t.NumField() {
			f := t.Field(i)
			if !f.IsExported() {
				continue
			}
			if Key(f) != "" {
				if !yield(f) {
					return
				}
				continue
			}
			for own := range All(f.Type) {
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

// Key returns an option's key in the file.
func Key(f reflect.StructField) string { return f.Tag.Get("yaml") }

// Find returns the option with the key. It reports false if no option has the key.
func Find(t reflect.Type, key string) (reflect.StructField, bool) {
	for f := range All(t) {
		if Key(f) == key {
			return f, true
		}
	}
	return reflect.StructField{}, false
}

// A Shape is the information of the tags of a struct.
type Shape struct {
	Blank    reflect.Value // a value with the defaults
	Options  map[string]reflect.StructField
	Required []reflect.StructField
}

// Shapes caches the shapes of structs. The zero value is empty. It is safe for concurrent use.
type Shapes struct{ known sync.Map } // of reflect.Type to *Shape

// Of returns the shape of a struct. The shape is made once, because there may be very many accounts.
func (s *Shapes) Of(t reflect.Type) *Shape {
	if known, ok := s.known.Load(t); ok {
		return known.(*Shape)
	}
	one := &Shape{Blank: reflect.New(t).Elem(), Options: map[string]reflect.StructField{}}
	SetDefaults(one.Blank, "default")
	for f := range All(t) {
		if _, known := one.Options[Key(f)]; !known {
			one.Options[Key(f)] = f
		}
		if f.Tag.Get("required") != "" {
			one.Required = append(one.Required, f)
		}
	}
	s.known.Store(t, one)
	return one
}

// Join returns the path of the option key in the section at path.
func Join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// SetDefaults fills a struct and the structs in it from their tags.
func SetDefaults(v reflect.Value, tag string) {
	for f := range All(v.Type()) {
		at := v.FieldByIndex(f.Index)
		switch def, ok := f.Tag.Lookup(tag); {
		case ok:
			SetDefault(at, def)
		case at.Kind() == reflect.Struct:
			SetDefaults(at, tag)
		}
	}
}

// SetDefault sets an option to its default. The values of a list are separated by commas.
func SetDefault(v reflect.Value, text string) {
	if v.Kind() == reflect.Slice {
		words := strings.Split(text, ", ")
		v.Set(reflect.MakeSlice(v.Type(), len(words), len(words)))
		for i, word := range words {
			SetDefault(v.Index(i), word)
		}
		return
	}
	x, err := Parse(v.Type(), text)
	if err != nil {
		panic("option: a default tag " + err.Error())
	}
	v.Set(x)
}
