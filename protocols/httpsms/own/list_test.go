package own

import (
	"net/url"
	"strings"
	"testing"
	"time"
)

// What a list asks for is what its query says. What is wrong with a query is named.
func TestReadList(t *testing.T) {
	t.Parallel()
	l, p := ReadList("client_reference=order+7&to=+46700000001&from=%2B4670&state=delivered&since=2026-11-23T12:00:00Z&until=2026-11-23T13:00:00%2B01:00&limit=7")
	noon := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC).UnixNano()
	if p != nil || l.Reference != "order 7" || l.To != "46700000001" || l.From != "4670" || l.State != "delivered" || l.Since != noon || l.Until != noon || l.Limit != 7 || l.Below != 0 {
		t.Errorf("%+v, %+v", l, p)
	}
	if l, p := ReadList(""); p != nil || l.Limit != pageSize || !l.Has(&Known{AcceptedAt: time.Unix(0, noon)}) {
		t.Errorf("%+v, %+v", l, p)
	}
	cursor := l.Cursor(9)
	for query, detail := range map[string]string{
		"to=%zz":                            "escape",
		"to=1&to=2":                         `"to" stands there 2 times`,
		"to=":                               `"to" is empty`,
		"destination=1":                     `"destination" is no parameter`,
		"state=gone":                        "must be one of queued, sent, scheduled",
		"since=yesterday":                   "must be a time",
		"since=0001-01-01T00:00:00Z":        "must be a time",
		"until=9999-01-01T00:00:00Z":        "must be a time",
		"limit=0":                           "from 1 to 1000",
		"limit=1001":                        "from 1 to 1000",
		"limit=x":                           "from 1 to 1000",
		"cursor=" + cursor:                  "not one of this list",
		"cursor=AAAA":                       "not one of this list",
		"cursor=" + strings.Repeat("A", 16): "not one of this list",
		"cursor=" + url.QueryEscape("=+/"):  "not one of this list",
	} {
		if _, p := ReadList(query); p == nil || p.Status != 400 || !strings.Contains(p.Detail, detail) {
			t.Errorf("%s: %+v", query, p)
		}
	}
}

// The next page goes on where the last one ended, with the same filters, and with another limit if its client likes.
func TestCursor(t *testing.T) {
	t.Parallel()
	l, p := ReadList("to=%2B4670&limit=7")
	if p != nil {
		t.Fatal(p)
	}
	for _, query := range []string{l.Next(1 << 62), "limit=8&to=%2B4670&cursor=" + l.Cursor(1<<62)} {
		next, p := ReadList(query)
		if p != nil || next.Below != 1<<62 || next.To != "4670" || next.Limit < 7 {
			t.Errorf("%s: %+v, %+v", query, next, p)
		}
	}
}

// A message must be all that is asked for.
func TestListHas(t *testing.T) {
	t.Parallel()
	k := Known{Reference: "order 7", From: "Shop", To: "+46700000001", State: "delivered", AcceptedAt: time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)}
	for query, want := range map[string]bool{
		"client_reference=order%207":   true,
		"client_reference=order":       false,
		"from=Shop":                    true,
		"from=shop":                    false,
		"to=46700000001":               true,
		"to=%2B46700000001":            true,
		"to=467":                       false,
		"state=delivered":              true,
		"state=sent":                   false,
		"since=2026-11-23T12:00:00Z":   true,
		"since=2026-11-23T12:00:01Z":   false,
		"until=2026-11-23T12:00:01Z":   true,
		"until=2026-11-23T12:00:00Z":   false,
		"to=46700000001&state=expired": false,
	} {
		l, p := ReadList(query)
		if p != nil || l.Has(&k) != want {
			t.Errorf("%s: %v, %+v", query, !want, p)
		}
	}
}

// No query ends the process, and the cursor of a list is its own.
func FuzzReadList(f *testing.F) {
	f.Add("to=%2B4670&state=sent&since=2026-11-23T12:00:00Z&limit=7")
	f.Add("cursor=AAAAAAAAAAkAAAAA&client_reference=x")
	f.Add("%zz&&=;")
	f.Fuzz(func(t *testing.T, query string) {
		l, p := ReadList(query)
		if p != nil {
			return
		}
		if next, p := ReadList(l.Next(5)); p != nil || next.Below != 5 || next.To != l.To || next.Reference != l.Reference {
			t.Errorf("%q: %+v, %+v", query, next, p)
		}
	})
}
