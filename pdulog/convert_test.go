package pdulog

import (
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"pmg/protocols"
)

func mustParse(t *testing.T, line string) *Entry {
	t.Helper()
	e, err := Parse([]byte(line))
	if err != nil {
		t.Fatal(err)
	}
	return &e
}

func TestFilter(t *testing.T) {
	e := mustParse(t, "2026-11-20T19:05:22.469391Z clients/3 > submit_sm_resp seq=17 status=0x58(ESME_RTHROTTLED)")
	f := func(filter Filter, want bool) {
		t.Helper()
		if got := filter.Match(e); got != want {
			t.Errorf("%+v: got %t", filter, got)
		}
	}
	status := func(s string) *StatusFilter {
		t.Helper()
		f, err := ParseStatusFilter(s)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	f(Filter{}, true)
	f(Filter{Instances: []int{1, 3}}, true)
	f(Filter{Instances: []int{1}}, false)
	f(Filter{Commands: []string{"submit_sm_resp"}}, true)
	f(Filter{Commands: []string{"submit_*"}}, true)
	f(Filter{Commands: []string{"submit_sm"}}, false)
	f(Filter{Direction: "out"}, true)
	f(Filter{Direction: "in"}, false)
	f(Filter{Since: e.Time, Until: e.Time.Add(1)}, true)
	f(Filter{Until: e.Time}, false)
	f(Filter{Since: e.Time.Add(1)}, false)
	f(Filter{Grep: regexp.MustCompile("THROTT")}, true)
	f(Filter{Grep: regexp.MustCompile("^THROTT")}, false)
	f(Filter{Status: status("nonzero")}, true)
	f(Filter{Status: status("0x58")}, true)
	f(Filter{Status: status("88")}, true)
	f(Filter{Status: status("ESME_RTHROTTLED")}, true)
	f(Filter{Status: status("0")}, false)
	f(Filter{Status: status("ESME_ROK")}, false)
	e = mustParse(t, "2026-11-20T19:05:22.469391Z clients/3 < submit_sm seq=17")
	f(Filter{Status: status("0")}, false) // a request has no status
	for _, s := range []string{"", "0xz", "5x"} {
		if _, err := ParseStatusFilter(s); err == nil {
			t.Errorf("ParseStatusFilter accepts %q", s)
		}
	}
}

func TestJSON(t *testing.T) {
	f := func(line, want string) {
		t.Helper()
		got := string(AppendJSON(nil, mustParse(t, line)))
		if got != want+"\n" || !json.Valid([]byte(got)) {
			t.Errorf("got\n%swant\n%s", got, want)
		}
	}
	f(`2026-11-20T19:05:22.469391Z clients/3 > submit_sm_resp seq=17 status=0x58(ESME_RTHROTTLED) message_id="a \"b\""`,
		`{"time":"2026-11-20T19:05:22.469391Z","connector":"clients","instance":3,"direction":"out","command":"submit_sm_resp",`+
			`"sequence":17,"status":88,"status_name":"ESME_RTHROTTLED",`+
			`"fields":{"seq":"17","status":"0x58(ESME_RTHROTTLED)","message_id":"a \"b\""}}`)
	f(`2026-11-20T19:05:22.469391Z c/0 < submit_multi seq=1 dest=1 dest=2 text="\xff" malformed`,
		`{"time":"2026-11-20T19:05:22.469391Z","connector":"c","instance":0,"direction":"in","command":"submit_multi",`+
			`"sequence":1,"fields":{"seq":"1","dest":["1","2"],"text":"\"\\xff\"","malformed":""}}`)
}

func TestHex(t *testing.T) {
	asked := 0
	h := NewHexer(func(e *Entry) (protocols.Driver, error) {
		if asked++; e.Connector != "clients" {
			return nil, errors.New("no such connector")
		}
		return fakeDriver{}, nil
	})
	const line = "2026-11-20T19:05:22.469391Z clients/3 < submit_sm seq=1"
	for range 2 {
		got, err := h.Append(nil, mustParse(t, line))
		if want := "2026-11-20T19:05:22.469391Z clients/3 < submit_sm 7375626d69745f736d207365713d31\n"; err != nil || string(got) != want {
			t.Errorf("got %q, %v", got, err)
		}
	}
	if asked != 1 {
		t.Errorf("asked for the protocol %d times", asked)
	}
	for _, bad := range []string{strings.Replace(line, "clients", "other", 1), strings.Replace(line, "submit_sm", "x", 1)} {
		if got, err := h.Append(nil, mustParse(t, bad)); err == nil || len(got) > 0 {
			t.Errorf("got %q, %v", got, err)
		}
	}
}

func TestSummary(t *testing.T) {
	s := NewSummary()
	for _, line := range []string{
		"2026-11-20T19:05:22.000000Z clients/3 < submit_sm seq=17",
		"2026-11-20T19:05:22.000500Z clients/3 > deliver_sm seq=17", // its own numbers
		"2026-11-20T19:05:22.001000Z clients/4 < submit_sm seq=17",
		"2026-11-20T19:05:22.002000Z clients/3 > submit_sm_resp seq=17 status=0",
		"2026-11-20T19:05:22.003500Z clients/3 < deliver_sm_resp seq=17 status=0",
		"2026-11-20T19:05:22.004000Z clients/4 > submit_sm_resp seq=17 status=0x58(ESME_RTHROTTLED)",
		"2026-11-20T19:05:23.000000Z clients/4 < submit_sm seq=18",
		"2026-11-20T19:05:23.000000Z operator/1 > submit_sm_resp seq=99 status=0", // nobody asked
		"2026-11-20T19:05:23.000000Z operator/1 < malformed",
	} {
		s.Add(mustParse(t, line))
	}
	rows := s.Rows()
	var got []string
	for _, r := range rows {
		got = append(got, r.Connector+" "+r.Direction+" "+r.Command)
	}
	want := "clients in submit_sm, clients out submit_sm_resp, clients out deliver_sm, clients in deliver_sm_resp, " + // by count, then name
		"operator in malformed, operator out submit_sm_resp"
	if all := strings.Join(got, ", "); all != want {
		t.Fatalf("got %s", all)
	}
	submit := rows[0]
	if submit.Count != 3 || submit.Open != 1 || submit.Latency == nil || submit.Latency.Answered != 2 {
		t.Fatalf("got %+v", submit)
	}
	near := func(got, want time.Duration) {
		t.Helper()
		if d := got - want; d < -want/500 || d > want/500 { // three digits
			t.Errorf("got %v, want %v", got, want)
		}
	}
	near(submit.Latency.P50, 2*time.Millisecond)
	near(submit.Latency.P99, 3*time.Millisecond)
	near(submit.Latency.Max, 3*time.Millisecond)
	if st := rows[1].Status; st["0"] != 1 || st["ESME_RTHROTTLED"] != 1 {
		t.Errorf("got %v", st)
	}
}
