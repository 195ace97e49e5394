package config

import (
	"iter"
	"reflect"
	"slices"
)

// fieldsOf returns the options of a struct, in order. Those of a protocol stand among
// the others, with their index and the tag of the struct they are in.
func fieldsOf(t reflect.Type) iter.Seq[reflect.StructField] {
	return func(yield func(reflect.StructField) bool) {
		for i := range t.NumField() {
			f := t.Field(i)
			protocol := f.Tag.Get("protocol")
			if protocol == "" {
				if !yield(f) {
					return
				}
				continue
			}
			for own := range fieldsOf(f.Type) {
				own.Index = append(slices.Clone(f.Index), own.Index...)
				own.Tag += reflect.StructTag(` protocol:"` + protocol + `"`)
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

func setDefault(v reflect.Value, text string) {
	x, err := parseScalar(v.Type(), text)
	if err != nil {
		panic("config: a default tag " + err.Error())
	}
	v.Set(x)
}

// suggest returns a hint at the option that was probably meant, or "".
func suggest(key string, t reflect.Type) string {
	best, distance := "", 3
	for f := range fieldsOf(t) {
		if n := editDistance(key, keyOf(f)); n < distance {
			best, distance = keyOf(f), n
		}
	}
	if best == "" {
		return ""
	}
	return ": did you mean " + best + "?"
}

// editDistance returns the Levenshtein distance of a and b.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
