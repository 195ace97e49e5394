package stats

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pmg/events"
	"pmg/sms"
)

// Days are those that the words say, and where no words are given the last thirty.
func TestDays(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 27, 0, 30, 0, 0, time.FixedZone("", 3600)) // it is the 26th by UTC
	for _, c := range []struct {
		days     Days
		from, to string // "": none; "!": an error
	}{
		{Days{}, "2026-10-28", ""},
		{Days{Day: "today"}, "2026-11-26", "2026-11-26"},
		{Days{Day: "yesterday"}, "2026-11-25", "2026-11-25"},
		{Days{Day: "2026-02-28"}, "2026-02-28", "2026-02-28"},
		{Days{Month: "2026-02"}, "2026-02-01", "2026-02-28"},
		{Days{Month: "2028-02"}, "2028-02-01", "2028-02-29"},
		{Days{Month: "2026-12"}, "2026-12-01", "2026-12-31"},
		{Days{From: "2026-11-01", To: "yesterday"}, "2026-11-01", "2026-11-25"},
		{Days{From: "2026-11-01"}, "2026-11-01", ""},
		{Days{To: "2026-11-01"}, "", "2026-11-01"},
		{Days{Day: "2026-02-30"}, "!", ""},
		{Days{Month: "2026-13"}, "!", ""},
		{Days{Month: "2026"}, "!", ""},
		{Days{From: "tomorrow"}, "!", ""},
		{Days{From: "2026-11-01", To: "1.12."}, "!", ""},
		{Days{Day: "today", Month: "2026-11"}, "!", ""},
		{Days{Day: "today", From: "today"}, "!", ""},
		{Days{Day: "today", To: "today"}, "!", ""},
		{Days{Month: "2026-11", From: "today"}, "!", ""},
		{Days{Month: "2026-11", To: "today"}, "!", ""},
	} {
		var q Query
		err := c.days.Of(&q, now)
		if c.from == "!" {
			if err == nil {
				t.Errorf("%+v: %v to %v, want an error", c.days, q.From, q.To)
			}
			continue
		}
		text := func(day time.Time) string {
			if day.IsZero() {
				return ""
			}
			return day.Format(time.RFC3339)
		}
		want := [2]string{c.from, c.to}
		for i := range want {
			if want[i] != "" {
				want[i] += "T00:00:00Z"
			}
		}
		if got := [2]string{text(q.From), text(q.To)}; err != nil || got != want {
			t.Errorf("%+v: %q, %v, want %q", c.days, got, err, want)
		}
	}
}

// countedRows returns the rows of two accounts, one of which has every figure of a table.
func countedRows(t *testing.T) []Row {
	t.Helper()
	c, at := begun(t), begin
	number := uint64(0)
	var lines []byte
	add := func(e events.Event) {
		number++
		e.Number, e.ID, e.Ended = number, number, at.UnixNano()
		if e.Accepted == 0 {
			e.Accepted = at.UnixNano()
		}
		lines = append(new(events.Printer).Append(lines, &e), '\n')
	}
	submit := events.Event{Kind: sms.Submit, Account: "acme", ToConnector: "smsc1", Destination: []byte("46700000001")}
	for _, took := range []time.Duration{2 * time.Second, 3 * time.Second, time.Second + time.Microsecond, time.Second} {
		e := submit
		e.Accepted, e.Charge.Price = at.Add(-took).UnixNano(), 50_000
		add(e)
	}
	e := submit
	e.State, e.Reason = events.Rejected, sms.SystemError
	add(e)
	e.Account = ""
	add(e)
	for _, state := range []sms.State{sms.StateDelivered, sms.StateDelivered, sms.StateExpired} {
		add(events.Event{
			Kind: sms.Receipt, Connector: "smsc1", ToAccount: "acme", Destination: []byte("1"), Delivery: &events.Delivery{Client: 1, State: state},
		})
	}
	number++
	refund := events.BalanceEvent{Number: number, ID: 1, Account: "acme", Refund: 10_000, At: at.UnixNano()}
	lines = append(new(events.Printer).AppendBalance(lines, &refund), '\n')
	saved(t, c, lines)
	rows, err := Read(t.Context(), c.dir, Query{By: []string{"account"}})
	if err != nil || len(rows) != 2 {
		t.Fatalf("%+v, %v", rows, err)
	}
	return rows
}

// A table has the figures, what was charged less what was given back, the mean delay and the delivered share of each row.
func TestCells(t *testing.T) {
	t.Parallel()
	rows := countedRows(t)
	heads := []string{"messages", "accepted", "sent", "delivered", "undelivered", "failed", "rejected", "unknown", "expired", "deleted", "mo", "charged", "delay", "share"}
	q := &Query{By: []string{"account"}, Costs: true}
	table := TableOf(q, rows, 0, false)
	if got := table.Heads[1:]; !slices.Equal(got, heads) || table.Heads[0] != "account" || table.Most != 5 || table.More {
		t.Errorf("%q, %d", got, table.Most)
	}
	for i, want := range []string{
		"- 1 1 0 0 0 0 1 0 0 0 0 0.00 - –", "acme 5 5 4 2 1 0 1 0 0 0 0 0.19 1.75s 66.7 %",
		"total 6 6 4 2 1 0 2 0 0 0 0 0.19 1.75s 66.7 %",
	} {
		if got := strings.Join(table.Rows[i].Cells, " "); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for last, want := range map[bool]string{false: "-", true: "acme"} {
		got := TableOf(q, rows, 1, last)
		if len(got.Rows) != 2 || got.Rows[0].Cells[0] != want || got.Rows[1].Cells[0] != "total" || got.Rows[1].Accepted != 6 || !got.More {
			t.Errorf("last %t: %+v", last, got)
		}
	}
	rows[1].figures[cost] = 120_000
	costly := TableOf(q, rows, 0, false)
	if got := strings.Join(costly.Rows[1].Cells, " "); got != "acme 5 5 4 2 1 0 1 0 0 0 0 0.19 0.12 0.07 1.75s 66.7 %" ||
		!slices.Contains(costly.Heads, "margin") {
		t.Errorf("%q", got)
	}
	total := Total(rows)
	if total.Values[0] != "total" {
		t.Errorf("%q", total.Values)
	}
	rows[1].Values = []string{"acme", "smsc1"}
	if got := Total(rows[1:]).Values; !slices.Equal(got, []string{"total", ""}) {
		t.Errorf("%q", got)
	}
	if got := Total(nil); got.Values != nil || got.Share() != "–" {
		t.Errorf("%+v", got)
	}
	if got := Total([]Row{{}, {}}).Values; got != nil {
		t.Errorf("%q", got)
	}
	if n := rows[1].Figure("late_1s"); n != 3 {
		t.Errorf("%d took more than a second", n)
	}
}

// JSON and CSV have every figure; amounts are texts, and reasons are there only where there are some.
func TestWritten(t *testing.T) {
	t.Parallel()
	rows := countedRows(t)
	all := Objects([]string{"account"}, rows)
	if len(all) != 2 || all[1]["account"] != "acme" || all[1]["sent"] != int64(4) || all[1]["charged"] != "0.20" || all[1]["refunded"] != "0.01" {
		t.Errorf("%v", all)
	}
	if got := all[1]["reasons"]; !reflect.DeepEqual(got, map[string]int64{"system_error": 1}) {
		t.Errorf("%v", got)
	}
	if _, ok := Objects(nil, []Row{{}})[0]["reasons"]; ok {
		t.Error("there are reasons where nothing failed")
	}
	var b strings.Builder
	if err := WriteCSV(&b, &Query{By: []string{"account"}}, rows); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(b.String(), "\n")
	if len(lines) != 4 || lines[0] != "account,"+strings.TrimSuffix(strings.Join(Figures(), ","), ",cost") || lines[2] != "acme,5,5,4,0,1,0,0,0,0,2,1,7000,3,0,0,0,0,0,0,0.20,0.01" {
		t.Errorf("%q", lines)
	}
	b.Reset()
	if err := WriteCSV(&b, &Query{Costs: true}, rows); err != nil || !strings.HasPrefix(b.String(), strings.Join(Figures(), ",")+"\n") {
		t.Errorf("%q, %v", b.String(), err)
	}
	if err := WriteCSV(full{}, &Query{}, rows); err == nil {
		t.Error("what cannot be written is no error")
	}
}

// full takes nothing.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }
