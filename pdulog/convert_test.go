package pdulog

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

func mustParse(t *testing.T, line string) *Entry {
	t.Helper()
	e, err := Parse([]byte(line))
	if err != nil {
		t.Fatal(err)
	}
	return &e
}

// numberOf returns the numbers of the tests' statuses.
func numberOf(name string) (uint32, error) {
	switch name {
	case "ESME_ROK":
		return 0, nil
	case "ESME_RTHROTTLED", "OTHER_RTHROTTLED":
		return 0x58, nil
	}
	return 0, errors.New("no such status")
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
		f, err := ParseStatusFilter(s, numberOf)
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
	f(Filter{Status: status("OTHER_RTHROTTLED")}, false)
	// U14: a line shows no name for 0.
	e = mustParse(t, "2026-11-20T19:05:22.469391Z clients/3 > submit_sm_resp seq=17 status=0")
	f(Filter{Status: status("ESME_ROK")}, true)
	f(Filter{Status: status("0")}, true)
	f(Filter{Status: status("nonzero")}, false)
	e = mustParse(t, "2026-11-20T19:05:22.469391Z clients/3 < submit_sm seq=17")
	f(Filter{Status: status("0")}, false) // a request has no status
	for _, s := range []string{"", "0xz", "5x", "ESME_NONE"} {
		if _, err := ParseStatusFilter(s, numberOf); err == nil {
			t.Errorf("ParseStatusFilter accepts %q", s)
		}
	}
}

func TestJSON(t *testing.T) {
	f := func(line, want string) {
		t.Helper()
		got := string(AppendJSON(nil, mustParse(t, line), ""))
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
	f(`2026-11-20T19:05:22.469391Z operator/1 > submit_sm seq=5 id=1a1fb0c12c230d41 account="a \"b\" c"`,
		`{"time":"2026-11-20T19:05:22.469391Z","connector":"operator","instance":1,"direction":"out","command":"submit_sm",`+
			`"sequence":5,"id":"1a1fb0c12c230d41","account":"a \"b\" c","fields":{"seq":"5"}}`)
	f(`2026-11-20T19:05:22.469391Z clients/3 < submit_sm seq=5 account=acme`,
		`{"time":"2026-11-20T19:05:22.469391Z","connector":"clients","instance":3,"direction":"in","command":"submit_sm",`+
			`"sequence":5,"account":"acme","fields":{"seq":"5"}}`)
}

func TestSummary(t *testing.T) {
	s := NewSummary(&Filter{})
	for _, line := range []string{
		"2026-11-20T19:05:22.000000Z clients/3 < submit_sm seq=17",
		"2026-11-20T19:05:22.000500Z clients/3 > deliver_sm seq=17", // its own numbers
		"2026-11-20T19:05:22.001000Z clients/4 < submit_sm seq=17",
		"2026-11-20T19:05:22.002000Z clients/3 > submit_sm_resp seq=17 status=0",
		"2026-11-20T19:05:22.003500Z clients/3 < deliver_sm_resp seq=17 status=0",
		"2026-11-20T19:05:22.004000Z clients/4 > submit_sm_resp seq=17 status=0x58(ESME_RTHROTTLED)",
		"2026-11-20T19:05:23.000000Z clients/4 < submit_sm seq=18",
		"2026-11-20T19:05:23.000000Z operator/1 > submit_sm_resp seq=99 status=0", // without a request
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

// U14: a line that the filter does not select is still read, because it may be an answer.
func TestSummaryOfSome(t *testing.T) {
	lines := []string{
		`2026-11-20T19:05:22.000000Z clients/3 < submit_sm seq=17 destination_addr=1`,
		`2026-11-20T19:05:22.001000Z clients/3 < submit_sm seq=18 destination_addr=2`,
		`2026-11-20T19:05:22.002000Z clients/3 > submit_sm_resp seq=17 status=0`,
		`2026-11-20T19:05:22.004000Z clients/3 > submit_sm_resp seq=18 status=0x58(ESME_RTHROTTLED)`,
		`2026-11-20T19:05:22.005000Z clients/3 < submit_sm seq=19 destination_addr=1`,
		`2026-11-20T19:05:22.006000Z clients/3 < enquire_link seq=19`, // a new session
		`2026-11-20T19:05:22.007000Z clients/3 > enquire_link_resp seq=19 status=0`,
	}
	f := func(filter Filter, want ...string) {
		t.Helper()
		s := NewSummary(&filter)
		for _, line := range lines {
			s.Add(mustParse(t, line))
		}
		var got []string
		for _, r := range s.Rows() {
			answered := 0
			if r.Latency != nil {
				answered = r.Latency.Answered
			}
			got = append(got, fmt.Sprintf("%s %d: %d answered, %d open", r.Command, r.Count, answered, r.Open))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%+v: got %q", filter, got)
		}
	}
	f(Filter{Commands: []string{"submit_sm"}}, "submit_sm 3: 2 answered, 1 open")
	f(Filter{Direction: "in"}, "submit_sm 3: 2 answered, 1 open", "enquire_link 1: 1 answered, 0 open")
	f(Filter{Grep: regexp.MustCompile("addr=1")}, "submit_sm 2: 1 answered, 1 open")
	f(Filter{Commands: []string{"submit_sm_resp"}}, "submit_sm_resp 2: 0 answered, 0 open")
}
