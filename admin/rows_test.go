package admin

import (
	"reflect"
	"testing"

	"pmg/connector"
	"pmg/gateway/receipts"
	"pmg/sms"
)

// Every field has a name in the JSON, every metric its text, and every counter by a label its label.
func TestEveryCounterIsShown(t *testing.T) {
	for _, row := range []any{Status{}, Receipts{}, Connector{}, Account{}, Route{}, Stage{}, Waits{}} {
		r := reflect.TypeOf(row)
		for _, f := range reflect.VisibleFields(r) {
			if f.Anonymous || !f.IsExported() {
				continue // its fields stand among the others, or it is for the list of problems alone
			}
			if f.Tag.Get("json") == "" || (f.Tag.Get("metric") == "") != (f.Tag.Get("help") == "") {
				t.Errorf("%s.%s lacks json, metric or help", r, f.Name)
			}
			if byLabel := f.Type == reflect.TypeFor[connector.Labels](); byLabel != (f.Tag.Get("label") != "") {
				t.Errorf("%s.%s: a counter by a label, and nothing else, has a label", r, f.Name)
			}
		}
	}
	for _, counters := range []any{connector.Counters[int64, connector.Labels]{}, sms.Counters[int64]{}, receipts.Counters[int64]{}} {
		c := reflect.TypeOf(counters)
		for i := range c.NumField() {
			if c.Field(i).Tag.Get("metric") == "" {
				t.Errorf("%s.%s is counted, and has no metric", c, c.Field(i).Name)
			}
		}
	}
}

func TestColumns(t *testing.T) {
	a := Account{Sessions: 2, Counters: sms.Counters[int64]{Accepted: 12345678}}
	heads, cells := Columns(a), Cells(a)
	if len(heads) != len(cells) || heads[0] != "sessions" || cells[0] != "2" || heads[3] != "accepted" || cells[3] != "12,345,678" {
		t.Errorf("%q over %q", heads, cells)
	}
}
