package admin

import (
	"reflect"
	"sync/atomic"
	"testing"

	"pmg/connector"
	"pmg/gateway/receipts"
	"pmg/sms"
)

// L: one row per counter. Every counter has a field, and the field has a name in the
// JSON, a metric and its text.
func TestEveryCounterIsShown(t *testing.T) {
	for _, pair := range [][2]any{{connector.Stats{}, Connector{}}, {sms.Tally{}, Account{}}, {receipts.Counts{}, Receipts{}}} {
		counts, shown := reflect.TypeOf(pair[0]), reflect.TypeOf(pair[1])
		for i := range counts.NumField() {
			f := counts.Field(i)
			if f.Type != reflect.TypeFor[atomic.Int64]() {
				continue
			}
			if _, ok := shown.FieldByName(f.Name); !ok {
				t.Errorf("%s.%s is counted, and %s has no such field", counts, f.Name, shown)
			}
		}
	}
	for _, row := range []any{Status{}, Receipts{}, Connector{}, Account{}, Stage{}} {
		r := reflect.TypeOf(row)
		for i := range r.NumField() {
			tag := r.Field(i).Tag
			if r.Field(i).Anonymous {
				continue // its fields stand among the others
			}
			if tag.Get("json") == "" || (tag.Get("metric") == "") != (tag.Get("help") == "") {
				t.Errorf("%s.%s lacks json, metric or help", r, r.Field(i).Name)
			}
		}
	}
}

func TestColumns(t *testing.T) {
	a := Account{Sessions: 2, Accepted: 12345678}
	heads, cells := Columns(a), Cells(a)
	if len(heads) != len(cells) || heads[0] != "sessions" || cells[0] != "2" || heads[3] != "accepted" || cells[3] != "12345678" {
		t.Errorf("%q over %q", heads, cells)
	}
}
