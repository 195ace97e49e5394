package config

import (
	"fmt"
	"reflect"
)

// LiveFrom returns the configuration in force after a reload from old to c: the
// options of c that take effect without a restart, and the other options of old. The
// accounts, connectors and routes are those of c.
func (c *Config) LiveFrom(old *Config) *Config {
	merged := *old
	takeLive(reflect.ValueOf(&merged).Elem(), reflect.ValueOf(c).Elem())
	return &merged
}

// Check returns an error if options do not fit together. Those that LiveFrom returns
// may not, even if both configurations were valid.
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

// takeRows returns the rows of next. Rows that old has as well keep the options of old
// that are not live.
func takeRows(old, next reflect.Value) reflect.Value {
	if next.Len() == 0 {
		return next
	}
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
