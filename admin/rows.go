package admin

import (
	"reflect"
	"strconv"
	"strings"
	"sync/atomic"
)

// Each counter is described in one place: the tags of a field of Status, Store, Connector,
// Account or Stage set the name in the JSON, the metric, its text in docs/metrics.md and
// the column of pmg status.
//
//	json:"accepted"                        the name in /status
//	metric:"messages_accepted_total"       the name in /metrics, after pmg_connector_ or the like
//	help:"Messages that were accepted."    the metric's text
//	column:"accepted"                      the head of the column; without it pmg status has none
//
// A field with the name of a counter in connector.Stats or sms.Tally gets that
// counter's value.

// fill copies the counters of from to the fields of to with the same names. Both are
// pointers to structs.
func fill(to, from any) {
	dst, src := reflect.ValueOf(to).Elem(), reflect.ValueOf(from).Elem()
	for i := range src.NumField() {
		if f := src.Type().Field(i); f.IsExported() && f.Type == reflect.TypeFor[atomic.Int64]() {
			if shown := dst.FieldByName(f.Name); shown.IsValid() { // TestEveryCounterIsShown checks that it is
				shown.SetInt(src.Field(i).Addr().Interface().(*atomic.Int64).Load())
			}
		}
	}
}

// Columns returns the heads of the columns of a row: of a Connector, Account or Stage.
func Columns(row any) (heads []string) {
	t := reflect.TypeOf(row)
	for i := range t.NumField() {
		if head := t.Field(i).Tag.Get("column"); head != "" {
			heads = append(heads, head)
		}
	}
	return heads
}

// Cells returns the contents of the columns of a row.
func Cells(row any) (cells []string) {
	v := reflect.ValueOf(row)
	for i := range v.NumField() {
		if v.Type().Field(i).Tag.Get("column") != "" {
			cells = append(cells, strconv.FormatFloat(number(v.Field(i)), 'f', -1, 64))
		}
	}
	return cells
}

// number returns the value of a numeric field, and 1 for a field that is true.
func number(v reflect.Value) float64 {
	switch {
	case v.Kind() == reflect.Bool:
		return boolValue(v.Bool())
	case v.CanInt():
		return float64(v.Int())
	case v.CanUint():
		return float64(v.Uint())
	}
	return v.Float()
}

// metricsOf returns the metrics of a struct's fields. each calls f for every such struct
// of a status, with the values of the labels.
func metricsOf(row any, prefix string, labels []string, each func(s *Status, f func(row any, labels ...string))) (made []metric) {
	t := reflect.TypeOf(row)
	for i := range t.NumField() {
		field := t.Field(i)
		name := field.Tag.Get("metric")
		if name == "" {
			continue
		}
		m := metric{name: prefix + name, kind: gauge, labels: labels, help: field.Tag.Get("help")}
		emit := func(e emitter, v reflect.Value, labels []string) { e.value(number(v), labels...) }
		switch {
		case field.Type == reflect.TypeFor[Spread]():
			m.labels = append(labels[:len(labels):len(labels)], "stat")
			emit = func(e emitter, v reflect.Value, labels []string) { e.spread(v.Interface().(Spread), labels[0]) }
		case field.Type == reflect.TypeFor[Answers]():
			m.kind = histogram
			emit = func(e emitter, v reflect.Value, labels []string) {
				a := v.Interface().(Answers)
				e.histogram(&a, labels...)
			}
		case strings.HasSuffix(name, "_total"):
			m.kind = counter
		}
		m.from = func(s *Status, e emitter) {
			each(s, func(row any, labels ...string) { emit(e, reflect.ValueOf(row).Elem().Field(i), labels) })
		}
		made = append(made, m)
	}
	return made
}
