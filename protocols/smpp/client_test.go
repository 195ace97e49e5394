package smpp

import (
	"strings"
	"testing"
	"time"

	"pmg/protocols"
	"pmg/sms"
)

// ofAccount returns a session to which a client of a version is bound, of an account with options.
func ofAccount(version uint8, o *ClientOptions) *session {
	s := New(Options{}).NewSession(protocols.SessionOptions{Client: func() any { return o }}).(*session)
	s.enter(1, BindTransceiver, version)
	return s
}

// An id is written as the account wants it, in answers and in receipts. SMPP 3.3 has room for neither form.
func TestClientIDs(t *testing.T) {
	const id = 1795774199647315
	for _, f := range []struct {
		version uint8
		o       *ClientOptions
		want    string
	}{
		{Version34, nil, "0006613f43444c53"},
		{Version34, &ClientOptions{IDs: "hexadecimal"}, "0006613f43444c53"},
		{Version34, &ClientOptions{IDs: "decimal"}, "1795774199647315"},
		{Version50, &ClientOptions{IDs: "decimal"}, "1795774199647315"},
		{Version33, &ClientOptions{IDs: "decimal"}, shortText(id)},
	} {
		s := ofAccount(f.version, f.o)
		p := PDU{ID: SubmitSM}
		s.Answer(&p, sms.OK, id)
		if got := string(p.SMResp.MessageID); got != f.want {
			t.Errorf("%+v: the answer has %s, want %s", f.o, got, f.want)
		}
		var m sms.Message
		m.Kind = sms.Receipt
		m.SetReport(sms.Address{Addr: []byte("1")}, sms.Address{Addr: []byte("2")}, &sms.Report{Known: id, State: sms.StateDelivered})
		var q PDU
		s.Encode(1, &q, &m, 9)
		if got := string(q.SM.ShortMessage); !strings.HasPrefix(got, "id:"+f.want+" ") {
			t.Errorf("%+v: the receipt is %s, want %s", f.o, got, f.want)
		}
		if got, _ := FindTLV(q.SM.TLVs, TagReceiptedID); f.version != Version33 && string(got) != f.want+"\x00" {
			t.Errorf("%+v: the receipt is of %q, want %s", f.o, got, f.want)
		}
		if got, modulo, ok := parseID([]byte(f.want)); !ok || modulo == 0 && got != id || modulo != 0 && got != id%modulo {
			t.Errorf("%s is read as %d of %d, %t", f.want, got, modulo, ok)
		}
	}
}

// The text of a receipt is as the account wants it; without options of its own it is as the connector has it.
func TestClientReceipts(t *testing.T) {
	at := time.Date(2026, 11, 27, 23, 15, 9, 0, time.UTC).UnixNano()
	for _, f := range []struct {
		o            *ClientOptions
		seconds      bool
		date, endsOn string
	}{
		{nil, false, "2611272315", "text:hello"},
		{nil, true, "261127231509", "text:hello"},
		{&ClientOptions{Timezone: "Asia/Kolkata", Seconds: "smsc", Text: "kept"}, true, "261128044509", "text:hello"},
		{&ClientOptions{Timezone: "America/Lima", Seconds: "always", Text: "empty"}, false, "261127181509", "text:"},
		{&ClientOptions{Seconds: "never", Text: "none"}, true, "2611272315", "err:000"},
	} {
		if f.o != nil && f.o.Compile() != nil {
			t.Fatalf("%+v has problems", f.o)
		}
		var m sms.Message
		m.Kind = sms.Receipt
		m.SetReport(sms.Address{Addr: []byte("1")}, sms.Address{Addr: []byte("2")}, &sms.Report{
			Known: 7, State: sms.StateDelivered, Submitted: at, Done: at, Seconds: f.seconds, Text: []byte("hello"),
		})
		var p PDU
		ofAccount(Version34, f.o).Encode(1, &p, &m, 9)
		want := "submit date:" + f.date + " done date:" + f.date + " stat:DELIVRD "
		if got := string(p.SM.ShortMessage); !strings.Contains(got, want) || !strings.HasSuffix(got, " "+f.endsOn) {
			t.Errorf("%+v: the receipt is %s, want %s… %s", f.o, got, want, f.endsOn)
		}
	}
	if (&ClientOptions{Timezone: "Nowhere"}).Compile() == nil {
		t.Error("a zone that does not exist has no problem")
	}
}

// With every option of an account and of submits, a submit and its answer allocate nothing.
func TestClientOptionsDoNotAllocate(t *testing.T) {
	from := ofAccount(Version34, &ClientOptions{IDs: "decimal"})
	to := clientWith(t, Version34, Submit{
		ServiceType: "CMT", ProtocolID: 1, Priority: 1, Mode: "store", Validity: "relative", MaxValidity: time.Hour,
	})
	m, code := message(t, server(t, Version34), 1, `submit_sm seq=1 destination_addr=1 validity_period=000001000000000R short_message="hi"`)
	if code != sms.OK {
		t.Fatal(code)
	}
	var p, q PDU
	if n := testing.AllocsPerRun(100, func() {
		p.ID = SubmitSM
		from.Answer(&p, sms.OK, 1795774199647315)
		to.Encode(1, &q, m, 9)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
