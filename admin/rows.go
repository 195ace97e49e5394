package admin

import (
	"math"
	"reflect"
	"strconv"
	"strings"
	"sync/atomic"

	"pmg/connector"
	"pmg/internal/figuretext"
)

// Each counter is described in one place: the tags of a field set the name in the JSON, the metric,
// its text in docs/metrics.md and the column of pmg status. The fields are those of Status, Store,
// Connector, Account, Route and Stage, and of the Counters of connector, sms and gateway/receipts, which
// also count.
//
//	json:"accepted"                        the name in /status
//	metric:"messages_accepted_total"       the name in /metrics, after pmg_connector_ or the like
//	help:"Messages that were accepted."    the metric's text
//	column:"accepted"                      the head of the column; without it pmg status has none
//	label:"state"                          the label of a counter for each value (connector.Labels)

// fill copies the counters of the gateway to a row that is shown. Both arguments are pointers to structs with the same fields.
func fill(shown, counted any) {
	dst, src := reflect.ValueOf(shown).Elem(), reflect.ValueOf(counted).Elem()
	for i := range src.NumField() {
		switch n := src.Field(i).Addr().Interface().(type) {
		case *atomic.Int64:
			dst.Field(i).SetInt(n.Load())
		case *connector.ByLabel:
			dst.Field(i).Set(reflect.ValueOf(n.Counts()))
		}
	}
}

// Columns returns the heads of the columns of a row: of a Connector, Account or Stage.
func Columns(row any) (heads []string) {
	for _, f := range reflect.VisibleFields(reflect.TypeOf(row)) {
		if head := f.Tag.Get("column"); head != "" {
			heads = append(heads, head)
		}
	}
	return heads
}

// Cells returns the contents of the columns of a row.
func Cells(row any) (cells []string) {
	v := reflect.ValueOf(row)
	for _, f := range reflect.VisibleFields(v.Type()) {
		if f.Tag.Get("column") != "" {
			cells = append(cells, figuretext.Number(int64(numeral(v.FieldByIndex(f.Index)))))
		}
	}
	return cells
}

// ShownColumns are the columns of rows, without those that are 0 in all rows.
type ShownColumns[T any] struct {
	Heads, Zero []string // heads of the columns that are shown, and of the hidden columns

	fields [][]int
}

// Shown returns the columns of rows.
func Shown[T any](rows []T) *ShownColumns[T] {
	s := new(ShownColumns[T])
	for _, f := range reflect.VisibleFields(reflect.TypeFor[T]()) {
		head := f.Tag.Get("column")
		if head == "" {
			continue
		}
		isZero := true
		for i := range rows {
			isZero = isZero && numeral(reflect.ValueOf(&rows[i]).Elem().FieldByIndex(f.Index)) == 0
		}
		if isZero {
			s.Zero = append(s.Zero, head)
			continue
		}
		s.Heads, s.fields = append(s.Heads, head), append(s.fields, f.Index)
	}
	return s
}

// Value returns the number in a shown column.
func (s *ShownColumns[T]) Value(row *T, column int) float64 {
	return numeral(reflect.ValueOf(row).Elem().FieldByIndex(s.fields[column]))
}

// Cells returns the texts of the shown columns.
func (s *ShownColumns[T]) Cells(row *T) (cells []string) {
	for i := range s.fields {
		cells = append(cells, figuretext.Number(int64(s.Value(row, i))))
	}
	return cells
}

// A Figure is a counter or a measure of a row, with its text for people.
type Figure struct{ Name, Value, Help string }

// Figures returns all numbers of a row that have a text: of a Connector or an Account.
func Figures(row any) (all []Figure) {
	v := reflect.ValueOf(row)
	for _, f := range reflect.VisibleFields(v.Type()) {
		at := v.FieldByIndex(f.Index)
		if help := f.Tag.Get("help"); help != "" && (at.CanInt() || at.CanUint() || at.CanFloat()) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			all = append(all, Figure{strings.ReplaceAll(name, "_", " "), figureText(numeral(at)), help})
		}
	}
	return all
}

// figureText writes a number, with two decimals if it is not whole.
func figureText(v float64) string {
	if v == math.Trunc(v) {
		return figuretext.Number(int64(v))
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

// numeral returns the value of a numeric field, and 1 for a field that is true.
func numeral(v reflect.Value) float64 {
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
	for _, field := range reflect.VisibleFields(reflect.TypeOf(row)) {
		name := field.Tag.Get("metric")
		if name == "" {
			continue
		}
		m := metric{name: prefix + name, kind: gauge, labels: labels, help: field.Tag.Get("help")}
		emit := func(e emitter, v reflect.Value, labels []string) { e.value(numeral(v), labels...) }
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
		case field.Type == reflect.TypeFor[connector.Labels]():
			m.kind, m.labels = counter, append(labels[:len(labels):len(labels)], field.Tag.Get("label"))
			emit = func(e emitter, v reflect.Value, labels []string) {
				for value, n := range v.Interface().(connector.Labels) {
					e.value(float64(n), append(labels[:len(labels):len(labels)], value)...)
				}
			}
		case strings.HasSuffix(name, "_total"):
			m.kind = counter
		}
		m.from = func(s *Status, e emitter) {
			each(s, func(row any, labels ...string) {
				emit(e, reflect.ValueOf(row).Elem().FieldByIndex(field.Index), labels)
			})
		}
		made = append(made, m)
	}
	return made
}
