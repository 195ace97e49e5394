package config

import (
	"fmt"
	"reflect"
)

// LiveFrom returns what a reload from old to c puts in force: the options of c
// that take effect without a restart, and the others of old. Accounts,
// connectors and routes come and go with c.
func (c *Config) LiveFrom(old *Config) *Config {
	merged := *old
	takeLive(reflect.ValueOf(&merged).Elem(), reflect.ValueOf(c).Elem())
	return &merged
}

// Check reports what does not fit together. A configuration that LiveFrom
// returns may not, though c and old both do.
func (c *Config) Check() error {
	d := newDecoder("configuration", "", nil)
	d.check(c, Options{})
	if len(d.problems) > 0 {
		return fmt.Errorf("cannot use configuration: %w", d.problems)
	}
	return nil
}

// takeLive sets the live options of the struct to to those of from.
func takeLive(to, from reflect.Value) {
	for f := range fieldsOf(to.Type()) {
		a, b := to.FieldByIndex(f.Index), from.FieldByIndex(f.Index)
		switch {
		case f.Type.Kind() == reflect.Struct && !isScalar(f.Type):
			takeLive(a, b)
		case f.Tag.Get("live") == "no":
		case isNamedList(f.Type):
			a.Set(takeRows(a, b))
		default:
			a.Set(b)
		}
	}
}

// takeRows returns the rows of next; of those that old has as well, only the live
// options are next's.
func takeRows(old, next reflect.Value) reflect.Value {
	rows := reflect.MakeSlice(next.Type(), next.Len(), next.Len())
	before := byName(old)
	for i := range next.Len() {
		row := rows.Index(i)
		if o, ok := before[next.Index(i).Field(0).String()]; ok {
			row.Set(o)
			takeLive(row, next.Index(i))
		} else {
			row.Set(next.Index(i))
		}
	}
	return rows
}
