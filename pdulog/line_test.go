package pdulog

import (
	"bytes"
	"testing"
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

// What Parse accepts, File.Line would print the same way.
func FuzzParse(f *testing.F) {
	f.Add([]byte("2026-11-20T19:05:22.469303Z clients/3 < submit_sm seq=17 status=0x58(X) a=\"b c\""))
	f.Add([]byte("2026-11-20T19:05:22.469303Z clients/0 > 51 trn=00"))
	f.Add([]byte("2026-11-20T19:05:22.469303Z c/3 < x \" \\"))
	f.Fuzz(func(t *testing.T, line []byte) {
		e, err := Parse(line)
		if err != nil || len(line) >= chunkSize {
			return
		}
		h := newHead(e.Connector)
		w := File{head: h, buf: make([]byte, 0, len(line)+1)}
		w.Line(e.Time.UnixNano(), e.Instance, e.Received, &fakePDU{shown: string(e.PDU)}, LoggedIn)
		if e.Time.Year() > 1970 && e.Time.Year() < 2262 && !bytes.Equal(w.buf[:len(w.buf)-1], line) {
			t.Errorf("%q is printed as %q", line, w.buf)
		}
		e.Sequence()
		e.Status()
		AppendJSON(nil, &e, "")
		NewSummary(&Filter{}).Add(&e)
		smppDecoder().AppendLine(nil, &e)
	})
}
