package kannel

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"pmg/protocols/httpsms"
	"pmg/sms"
)

func number1(text string) sms.Address { return sms.Address{TON: 1, NPI: 1, Addr: []byte(text)} }

// report returns an event about a message whose client asked for the bits of mask.
func report(mask, url string, r sms.Report, change func(*httpsms.Event)) *httpsms.Event {
	e := &httpsms.Event{ID: 0xabc, Connector: "operator 1", At: now, Report: &r, From: sms.Address{TON: 5, Addr: []byte("Shop&Co")}, To: number1("46700000001"),
		Context: httpsms.Context{Dialect: httpsms.Kannel, URL: url, Fields: []httpsms.Field{{Name: httpsms.Mask, Value: mask}}}}
	if change != nil {
		change(e)
	}
	return e
}

var id = []byte("4a-17")

// Each event is one bit, and goes to the clients that asked for it.
func TestMasks(t *testing.T) {
	t.Parallel()
	f := func(mask string, r sms.Report, change func(*httpsms.Event), want string) {
		t.Helper()
		c, ok := Report(report(mask, "http://h/%d", r, change))
		if ok != (want != "") || ok && c.URL != "http://h/"+want {
			t.Errorf("%s, %s: %t, %+v, want %q", mask, r.State, ok, c, want)
		}
	}
	all := func(r sms.Report, change func(*httpsms.Event), want string) {
		t.Helper()
		f("63", r, change, want)
		f("0", r, change, "")
		f("", r, change, "")
	}
	taken := func(e *httpsms.Event) { e.Taken = true }
	all(sms.Report{ID: id, State: sms.StateDelivered}, nil, "1")
	f("63", sms.Report{ID: id, State: sms.StateExpired}, nil, "34")
	f("32", sms.Report{ID: id, State: sms.StateExpired}, nil, "34")
	f("31", sms.Report{ID: id, State: sms.StateExpired}, nil, "2")
	f("29", sms.Report{ID: id, State: sms.StateExpired}, nil, "")
	f("32", sms.Report{ID: id, State: sms.StateDeleted}, nil, "")
	for _, s := range []sms.State{sms.StateDeleted, sms.StateUndeliverable, sms.StateUnknown, sms.StateRejected, sms.StateSkipped, sms.NoState} {
		all(sms.Report{ID: id, State: s}, nil, "2")
		f("16", sms.Report{ID: id, State: s}, nil, "")
	}
	for _, s := range []sms.State{sms.StateScheduled, sms.StateEnroute, sms.StateAccepted} {
		all(sms.Report{ID: id, State: s}, nil, "4")
		f("59", sms.Report{ID: id, State: s}, nil, "")
	}
	all(sms.Report{ID: id, State: sms.StateEnroute}, taken, "8")
	f("4", sms.Report{ID: id, State: sms.StateEnroute}, taken, "")
	all(sms.Report{Untaken: true, State: sms.StateRejected}, nil, "16")
	all(sms.Report{State: sms.StateRejected, Parts: 3}, nil, "2") // joined of parts, it has no id
	f("2", sms.Report{Untaken: true, State: sms.StateExpired}, nil, "16")
	f("1", sms.Report{Untaken: true, State: sms.StateExpired}, nil, "")
	f("1", sms.Report{ID: id, State: sms.StateDelivered}, nil, "1")
	f("2", sms.Report{ID: id, State: sms.StateDelivered}, nil, "")
	if _, ok := Report(report("63", "", sms.Report{ID: id, State: sms.StateDelivered}, nil)); ok {
		t.Error("there is no URL")
	}
}

// A call is a GET, and any answer 2xx takes it.
func TestReport(t *testing.T) {
	t.Parallel()
	c, ok := Report(report("31", "http://h/d?id=123&type=%d&to=%p&reply=%A&smscid=%F", sms.Report{ID: id, State: sms.StateDelivered, Original: []byte("id:4a-17 stat:DELIVRD")}, nil))
	want := &httpsms.Call{Method: "GET", URL: "http://h/d?id=123&type=1&to=%2B46700000001&reply=id%3A4a-17+stat%3ADELIVRD&smscid=4a-17", Header: [][2]string{{"User-Agent", "Kannel/1.4.5"}}}
	if !ok || !reflect.DeepEqual(c, want) {
		t.Errorf("%+v", c)
	}
}

// Each escape has its value.
func TestEscapesOfReports(t *testing.T) {
	t.Parallel()
	f := func(pattern, want string, change func(*httpsms.Event)) {
		t.Helper()
		r := sms.Report{ID: id, State: sms.StateDelivered, Original: []byte("id:4a-17 stat:DELIVRD err:000"), Network: 3, NetworkError: 27}
		c, ok := Report(report("1", "http://h/"+pattern, r, change))
		if !ok || c.URL != "http://h/"+want {
			t.Errorf("%s: %+v, want %s", pattern, c, want)
		}
	}
	fields := func(add ...httpsms.Field) func(*httpsms.Event) {
		return func(e *httpsms.Event) { e.Context.Fields = append(e.Context.Fields, add...) }
	}
	f("%p %P", "%2B46700000001%20Shop%26Co", nil)
	f("%q %Q", "%2B46700000001%20%2B467", func(e *httpsms.Event) { e.From = sms.Address{Addr: []byte("00467")} })
	f("%q", "%2B46", func(e *httpsms.Event) { e.To = sms.Address{Addr: []byte("0046")} })
	f("%P", "467", func(e *httpsms.Event) { e.From = sms.Address{Addr: []byte("467")} })
	f("%a", "id%3A4a-17+stat%3ADELIVRD+err%3A000", nil)
	f("%A|%b", "id%3A4a-17+stat%3ADELIVRD+err%3A000|id%3A4a-17+stat%3ADELIVRD+err%3A000", nil)
	f("%k,%s,%r", "id%3A4a-17,stat%3ADELIVRD,err%3A000", nil)
	f("%s,%s,%s,%r", "stat%3ADELIVRD,err%3A000,,", nil)
	f("%S/%S/%S", "stat:DELIVRD/err:000/", nil)
	f("%t %T", "2026-11-23+07:30:00%201795419000", nil)
	f("%i", "operator+1", nil)
	f("%I", httpsms.UUID(0xabc), nil)
	f("%F", "4a-17", nil)
	f("%d", "1", nil)
	f("%R", "http%3A%2F%2Fh%2F%25R", nil)
	f("%D", "%3Forig_msg%3Fdlr_mask%3D1%26%3Fsmpp%3Fdlr_err%3D%2503%2500%251B%26", nil)
	f("%D", "%3Fa%3Fb%3Dc%26%3Forig_msg%3Fdlr_mask%3D1%26%3Fsmpp%3Fdlr_err%3D%2503%2500%251B%26", fields(httpsms.Field{Name: httpsms.MetaData, Value: "?a?b=c"}))
	f("%#smpp#dlr_err#", "%03%00%1B", nil)
	f("%#a x#b#,%#a x#e#,%#c#b#", "c+d,f,", fields(httpsms.Field{Name: httpsms.MetaData, Value: "?a%20x?b=c+d&e=f"}))
	f("%#smpp#dlr_err", "%#smpp#dlr_err", nil)
	f("%#", "%#", nil)
	f("%n", "shop", fields(httpsms.Field{Name: httpsms.Service, Value: "shop"}))
	f("%o,%B", "a+b,c", fields(httpsms.Field{Name: httpsms.AccountInfo, Value: "a b"}, httpsms.Field{Name: httpsms.Billing, Value: "c"}))
	f("%c,%C", "-1,UTF-8", nil)
	f("%m,%M,%O", "-1,-1,00", nil)
	f("%u%f%v%V%n%o%B.", ".", nil)
	f("%%p", "%p", nil)
	f("%x%z%1", "%x%z%1", nil)
	f("%", "%", nil)
	f("a b\x00\xe5\"", "a%20b%00%E5\"", nil)
}

// A URL whose escapes multiply ends somewhere.
func TestLongCall(t *testing.T) {
	t.Parallel()
	c, ok := Report(report("1", "http://h/"+strings.Repeat("%R", 2000), sms.Report{ID: id, State: sms.StateDelivered}, nil))
	if !ok || len(c.URL) < maxCall || len(c.URL) > maxCall+3*maxURL {
		t.Error(len(c.URL))
	}
}

// What the SMSC has said of each kind of event.
func TestTextsOfReports(t *testing.T) {
	t.Parallel()
	f := func(r sms.Report, change func(*httpsms.Event), want string) {
		t.Helper()
		e := report("63", "http://h/", r, change)
		if got := reportText(e, reported(e)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	f(sms.Report{ID: id, State: sms.StateEnroute}, func(e *httpsms.Event) { e.Taken = true }, "ACK/")
	f(sms.Report{Untaken: true, State: sms.StateRejected}, func(e *httpsms.Event) { e.Status, e.Reason = 11, "ESME_RINVDSTADR" }, "NACK/0x0000000b/ESME_RINVDSTADR")
	f(sms.Report{Untaken: true, State: sms.StateExpired}, func(e *httpsms.Event) { e.Reason = "expired" }, "NACK/expired")
	f(sms.Report{ID: id, State: sms.StateDelivered, Original: []byte("\x00any")}, nil, "\x00any")
	at := time.Date(2026, 11, 23, 7, 29, 0, 0, time.UTC).UnixNano()
	f(sms.Report{ID: id, State: sms.StateDelivered, Submitted: at, Done: now, Parts: 2, Text: []byte("hi")}, nil, "id:4a-17 sub:002 dlvrd:002 submit date:2611230729 done date:2611230730 stat:DELIVRD err:000 text:hi")
	f(sms.Report{ID: id, State: sms.StateUndeliverable, Submitted: at, Done: now, Network: 3, NetworkError: 27}, nil, "id:4a-17 sub:001 dlvrd:000 submit date:2611230729 done date:2611230730 stat:UNDELIV err:027 text:")
	f(sms.Report{ID: id, Word: []byte("LOST"), Submitted: at, Done: now, Err: []byte("1F")}, nil, "id:4a-17 sub:001 dlvrd:000 submit date:2611230729 done date:2611230730 stat:LOST err:1F text:")
	for _, s := range sms.States() {
		if httpsms.Word(s) == "" {
			t.Errorf("%s has no word", s)
		}
	}
}

// The meta-data says what was asked for, and has the error of the network as it came or as the text has it.
func TestMetaOfReports(t *testing.T) {
	t.Parallel()
	f := func(r sms.Report, bit int, want string) {
		t.Helper()
		if got := reportMeta(report("31", "http://h/", r, nil), 31, bit); got != "?orig_msg?dlr_mask=31&"+want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	f(sms.Report{}, accepted, "?smpp_resp?")
	f(sms.Report{}, refused, "?smpp_resp?")
	f(sms.Report{}, delivered, "")
	f(sms.Report{Err: []byte("x")}, undelivered, "")
	f(sms.Report{Err: []byte("1F")}, undelivered, "?smpp?dlr_err=%03%00%01&")
	f(sms.Report{Err: []byte("000")}, delivered, "?smpp?dlr_err=%03%00%00&")
	f(sms.Report{Err: []byte("300")}, undelivered, "?smpp?dlr_err=%03%01%2C&")
	f(sms.Report{Err: []byte("300"), Network: 1, NetworkError: 2}, undelivered, "?smpp?dlr_err=%01%00%02&")
}
