package pdulog

import (
	"bytes"
	"testing"

	"pmg/internal/logtext"
	"pmg/sms"
)

func TestParse(t *testing.T) {
	line := []byte(`2026-11-20T19:05:22.469391Z clients/3 > submit_sm_resp seq=17 status=0x58(ESME_RTHROTTLED) message_id="a b"`)
	e, err := Parse(line)
	if err != nil {
		t.Fatal(err)
	}
	if e.Time.UnixNano() != at("2026-11-20T19:05:22.469391Z") || e.Connector != "clients" || e.Instance != 3 ||
		e.Received || e.Direction() != "out" || e.Command != "submit_sm_resp" {
		t.Errorf("got %+v", e)
	}
	if s, ok := e.Status(); !ok || s != (Status{0x58, "ESME_RTHROTTLED"}) {
		t.Errorf("status %v %t", s, ok)
	}
	if n := sequence(t, &e); n != 17 {
		t.Errorf("sequence %d", n)
	}
	if string(e.Rest) != string(e.PDU[len("submit_sm_resp "):]) {
		t.Errorf("rest is %q", e.Rest)
	}
}

// U7: a line may show the message's id and account. The PDU is parsed as without them.
func TestAbout(t *testing.T) {
	const head, pdu = "2026-11-20T19:05:22.469303Z c/3 > ", `submit_sm seq=17 short_message="x id=0123456789abcdef account=eve"`
	f := func(a About, want string) {
		t.Helper()
		w := File{connectorLog: &connectorLog{text: true}, head: newHead("c")}
		w.Line(at("2026-11-20T19:05:22.469303Z"), 3, false, &fakePDU{shown: pdu}, LoggedIn, a)
		if got := string(w.buf); got != head+pdu+want+"\n" {
			t.Errorf("got %q", got)
		}
		e, err := Parse(w.buf[:len(w.buf)-1])
		if err != nil || string(e.PDU) != pdu || "submit_sm "+string(e.Rest) != pdu {
			t.Errorf("%q is read as %q and %q: %v", w.buf, e.PDU, e.Rest, err)
		}
		id, account := "", ""
		if a.ID != 0 {
			id = string(sms.AppendID(nil, a.ID))
		}
		if a.Account != "" {
			account = string(logtext.AppendValue(nil, []byte(a.Account)))
		}
		if string(e.ID) != id || string(e.Account) != account {
			t.Errorf("%q is read as id %q, account %q", w.buf, e.ID, e.Account)
		}
	}
	f(About{}, "")
	f(About{ID: 0x1a1fb0c12c230d41}, " id=1a1fb0c12c230d41")
	f(About{ID: 1, Account: "load"}, " id=0000000000000001 account=load")
	f(About{Account: "load"}, " account=load")
	f(About{ID: 1, Account: `a "b" account="c"`}, ` id=0000000000000001 account="a \"b\" account=\"c\""`)
	f(About{ID: 1, Account: `" id=`}, ` id=0000000000000001 account="\" id="`)
}

// U7: text that only looks like the fields of About belongs to the PDU.
func TestNotAbout(t *testing.T) {
	for _, pdu := range []string{
		"submit_sm seq=1 id=1",
		"submit_sm seq=1 id=1A1FB0C12C230D41",
		`submit_sm seq=1 text=" account=\"x"`,
		`submit_sm seq=1 account="x" text="y"`,
		`submit_sm seq=1 text=" id=0123456789abcdef"`,
		"submit_sm seq=1 message_id=0123456789abcdef",
	} {
		e, err := Parse([]byte("2026-11-20T19:05:22.469303Z c/3 > " + pdu))
		if err != nil || string(e.PDU) != pdu || e.ID != nil || e.Account != nil {
			t.Errorf("%q is read as %q, id %q, account %q: %v", pdu, e.PDU, e.ID, e.Account, err)
		}
	}
}

func TestStatus(t *testing.T) {
	f := func(fields string, want Status, ok bool) {
		t.Helper()
		e := Entry{Rest: []byte(fields)}
		if got, found := e.Status(); got != want || found != ok {
			t.Errorf("%q: got %v %t", fields, got, found)
		}
	}
	f("seq=1 status=0", Status{}, true)
	f("trn=01 status=02(SYNTAX)", Status{2, "SYNTAX"}, true)
	f("trn=01 status=08", Status{8, ""}, true)
	f("seq=1", Status{}, false)
	f(`seq=1 short_message="x status=1 "`, Status{}, false) // a request's text is no status
	f("", Status{}, false)
}

func TestParseRefuses(t *testing.T) {
	for _, line := range []string{
		"",
		"hello",
		"2026-11-20T19:05:22.469303Z clients/3 < ",
		"2026-11-20T19:05:22.469303Z clients/3 submit_sm seq=1",
		"2026-11-20T19:05:22.469303Z clients/3 = submit_sm seq=1",
		"2026-11-20T19:05:22.469303Z clients/x < submit_sm seq=1",
		"2026-11-20T19:05:22.469303Z clients/03 < submit_sm seq=1",
		"2026-11-20T19:05:22.469303Z /3 < submit_sm seq=1",
		"2026-02-30T19:05:22.469303Z clients/3 < submit_sm seq=1",
		"2026-11-20T24:05:22.469303Z clients/3 < submit_sm seq=1",
		"2026-11-20 19:05:22.469303Z clients/3 < submit_sm seq=1",
		"2026-11-20T19:05:22Z clients/3 < submit_sm seq=1",
	} {
		if e, err := Parse([]byte(line)); err == nil {
			t.Errorf("Parse accepts %q as %+v", line, e)
		}
	}
}

// A line that Parse accepts has the form that File.Line prints.
func FuzzParse(f *testing.F) {
	f.Add([]byte("2026-11-20T19:05:22.469303Z clients/3 < submit_sm seq=17 status=0x58(X) a=\"b c\""))
	f.Add([]byte("2026-11-20T19:05:22.469303Z clients/0 > 51 trn=00"))
	f.Add([]byte("2026-11-20T19:05:22.469303Z c/3 < x \" \\"))
	f.Add([]byte("2026-11-20T19:05:22.469303Z c/3 > submit_sm seq=1 id=1a1fb0c12c230d41 account=\"a \\\" b\""))
	f.Fuzz(func(t *testing.T, line []byte) {
		e, err := Parse(line)
		if err != nil || len(line) >= chunkSize {
			return
		}
		h := newHead(e.Connector)
		w := File{connectorLog: new(connectorLog), head: h, buf: make([]byte, 0, len(line)+1)}
		w.Line(e.Time.UnixNano(), e.Instance, e.Received, &fakePDU{shown: string(e.PDU)}, LoggedIn, About{})
		printed := w.buf[:len(w.buf)-1]
		if e.ID != nil {
			printed = append(append(printed, " id="...), e.ID...)
		}
		if e.Account != nil {
			printed = append(append(printed, " account="...), e.Account...)
		}
		if e.Time.Year() > 1970 && e.Time.Year() < 2262 && !bytes.Equal(printed, line) {
			t.Errorf("%q is printed as %q", line, printed)
		}
		e.Sequence()
		e.Status()
		AppendJSON(nil, &e, "")
		NewSummary(&Filter{}).Add(&e)
		smppDecoder().AppendLine(nil, &e)
	})
}
