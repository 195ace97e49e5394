package jasmin

import (
	"net/url"
	"strings"
	"testing"

	"pmg/protocols/httpsms"
	"pmg/sms"
)

func event(level string, r sms.Report) *httpsms.Event {
	return &httpsms.Event{ID: 0x0123456789abcdef, Connector: "operator", Report: &r, Context: httpsms.Context{
		Dialect: httpsms.Jasmin, URL: "http://h/dlr?x=1", Fields: []httpsms.Field{{Name: httpsms.Mask, Value: level}},
	}}
}

// Each level gets the events that it asks for.
func TestLevelsOfReports(t *testing.T) {
	t.Parallel()
	f := func(levels string, r sms.Report, change func(*httpsms.Event), want ...string) {
		t.Helper()
		for i, level := range []string{"1", "2", "3", ""} {
			e := event(level, r)
			if change != nil {
				change(e)
			}
			c, ok := Report(e)
			if told := i < len(want) && want[i] != ""; ok != told {
				t.Errorf("%s, level %s of %s: %t", r.State, level, levels, ok)
				continue
			}
			if !ok {
				continue
			}
			v, _ := url.ParseQuery(string(c.Body))
			if got := v.Get("level") + " " + v.Get("message_status"); got != want[i] || v.Get("id") != "01234567-89ab-8cde-800f-706d67000000" || v.Get("connector") != "operator" {
				t.Errorf("%s, level %s: %s", r.State, level, c.Body)
			}
		}
	}
	id := []byte("00ab")
	f("1, 3", sms.Report{ID: id, State: sms.StateEnroute}, func(e *httpsms.Event) { e.Taken = true }, "1 ESME_ROK", "", "1 ESME_ROK")
	f("none", sms.Report{ID: id, State: sms.StateEnroute}, nil)
	f("none", sms.Report{ID: id, State: sms.StateScheduled}, nil)
	refused := func(e *httpsms.Event) { e.Status, e.Reason = 11, "ESME_RINVDSTADR" }
	f("all", sms.Report{Untaken: true, State: sms.StateRejected}, refused, "1 ESME_RINVDSTADR", "2 UNDELIV", "1 ESME_RINVDSTADR")
	f("all", sms.Report{Untaken: true, State: sms.StateUndeliverable}, func(e *httpsms.Event) { e.Status, e.Reason = 2, "Syntax error" }, "1 ESME_RSUBMITFAIL", "2 UNDELIV", "1 ESME_RSUBMITFAIL")
	f("all", sms.Report{Untaken: true, State: sms.StateExpired}, nil, "1 ESME_RSUBMITFAIL", "2 EXPIRED", "1 ESME_RSUBMITFAIL")
	f("all", sms.Report{Untaken: true, State: sms.StateDeleted}, nil, "1 ESME_RSUBMITFAIL", "2 DELETED", "1 ESME_RSUBMITFAIL")
	for state, word := range map[sms.State]string{
		sms.StateDelivered: "DELIVRD", sms.StateExpired: "EXPIRED", sms.StateDeleted: "DELETED", sms.StateUndeliverable: "UNDELIV", sms.StateAccepted: "ACCEPTD",
		sms.StateUnknown: "UNKNOWN", sms.StateRejected: "REJECTD", sms.StateSkipped: "UNDELIV", sms.NoState: "UNKNOWN",
	} {
		f("2, 3", sms.Report{ID: id, State: state}, nil, "", "2 "+word, "2 "+word)
		f("2, 3 of a long one", sms.Report{State: state, Parts: 3}, nil, "", "2 "+word, "2 "+word)
	}
	f("none", sms.Report{ID: id, State: sms.StateDelivered}, func(e *httpsms.Event) { e.Context.URL = "" })
}

// A call is a form or a query, and is taken where Jasmin's word comes back.
func TestCall(t *testing.T) {
	t.Parallel()
	e := event("3", sms.Report{ID: []byte("00ab"), State: sms.StateDelivered, Submitted: now, Done: now, Parts: 1, Delivered: 1, Err: []byte("7"), Text: []byte("hi & bye")})
	c, ok := Report(e)
	const values = "connector=operator&dlvrd=001&donedate=2611230730&err=007&id=01234567-89ab-8cde-800f-706d67000000&id_smsc=AB&level=2&message_status=DELIVRD&sub=001&subdate=2611230730&text=hi+%26+bye"
	if !ok || c.Method != "POST" || c.URL != "http://h/dlr?x=1" || string(c.Body) != values {
		t.Errorf("%s %s %s", c.Method, c.URL, c.Body)
	}
	e.Context.Add(httpsms.Method, "GET")
	c, _ = Report(e)
	if c.Method != "GET" || c.URL != "http://h/dlr?x=1&"+values || c.Body != nil {
		t.Errorf("%s %s %s", c.Method, c.URL, c.Body)
	}
	if len(c.Header) != 3 || c.Header[0] != [2]string{"User-Agent", "Jasmin gateway/1.0 DLRThrower"} {
		t.Errorf("%v", c.Header)
	}
	c, _ = Report(event("2", sms.Report{ID: []byte("a"), State: sms.StateUndeliverable, Parts: 1}))
	if !strings.Contains(string(c.Body), "dlvrd=000&") || !strings.Contains(string(c.Body), "&sub=001&") {
		t.Errorf("%s", c.Body)
	}
	e = event("2", sms.Report{ID: []byte("a"), State: sms.StateDelivered, Seconds: true, Done: now, Network: 3, NetworkError: 27})
	c, _ = Report(e)
	if !strings.Contains(string(c.Body), "dlvrd=ND&donedate=261123073000&err=027&") || !strings.HasSuffix(string(c.Body), "sub=ND&subdate=ND&text=") {
		t.Errorf("%s", c.Body)
	}
	for body, want := range map[string]bool{"ACK/Jasmin": true, " ACK/Jasmin\r\n": true, "ack/jasmin": false, "": false, "OK": false, "ACK/Jasmin!": false} {
		if c.Taken(200, []byte(body)) != want || c.Taken(302, []byte(body)) != want || c.Taken(404, []byte(body)) {
			t.Errorf("%q", body)
		}
	}
}
