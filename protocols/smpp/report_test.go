package smpp

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"pmg/sms"
)

// A receipt of an SMSC is relayed as it came. When the gateway has found the message that it
// belongs to, the client gets it with the id that the client knows, in the form of the
// client's version; parameters that are not about the receipt stay.
func TestReport(t *testing.T) {
	const known = 0x6a1f00
	const text = `id:77 SUB:001 DLVRD:001 submit date:2511220102 done date:251122010305 stat:DELIVRD err:000 Text:hi there`
	smsc := client(t, Version34)
	f := func(to *session, known uint64, in, want string) {
		t.Helper()
		m, code := message(t, smsc, 1, in)
		if code != sms.OK {
			t.Fatalf("%s: %s", in, code)
		}
		if r, ok := m.Report(); ok && known != 0 {
			p, native := m.NativePart()
			native = append([]byte(nil), native...)
			r.Known, r.Original = known, nil
			m.SetReport(m.Source(), m.Dest(), &r)
			m.SetNative(p, native)
		}
		var p PDU
		to.Encode(1, &p, m, 9)
		if got := string(p.AppendLog(nil, true)); got != want {
			t.Errorf("\ngot  %s\nwant %s", got, want)
		}
		var q PDU
		if err := q.Decode(p.AppendWire(nil)); err != nil {
			t.Error(err)
		}
	}
	const in = `deliver_sm seq=3 source_addr=46700000001 destination_addr=1234 esm_class=4 data_coding=1 short_message="` + text + `" network_error_code="\x03\x00\x07" tlv_0x1400=01`
	f(server(t, Version34), 0, in, `deliver_sm seq=9 source_addr=46700000001 destination_addr=1234 esm_class=4 data_coding=1 short_message="`+text+`" network_error_code="\x03\x00\x07" tlv_0x1400=01`)
	f(server(t, Version34), known, in, `deliver_sm seq=9 source_addr=46700000001 destination_addr=1234 esm_class=4 data_coding=1 `+
		`short_message="id:00000000006a1f00 sub:001 dlvrd:001 submit date:251122010200 done date:251122010305 stat:DELIVRD err:000 text:hi there" `+
		`tlv_0x1400=01 receipted_message_id="00000000006a1f00\x00" message_state=2 network_error_code="\x03\x00\x07"`)
	f(server(t, Version33), known, in, `deliver_sm seq=9 source_addr=46700000001 destination_addr=1234 esm_class=4 data_coding=1 `+
		`short_message="id:`+shortText(known)+` sub:001 dlvrd:001 submit date:251122010200 done date:251122010305 stat:DELIVRD err:000 text:hi there"`)
	const params = `data_sm seq=3 source_addr=46700000001 destination_addr=1234 esm_class=4 data_coding=8 receipted_message_id="0A\x00" message_state=5`
	f(server(t, Version34), known, params, `deliver_sm seq=9 source_addr=46700000001 destination_addr=1234 esm_class=4 `+
		`short_message="id:00000000006a1f00 sub:001 dlvrd:000 submit date:0000000000 done date:0000000000 stat:UNDELIV err:000 text:" `+
		`receipted_message_id="00000000006a1f00\x00" message_state=5`)
	f(server(t, Version34), known, `deliver_sm seq=3 esm_class=32 short_message="id:77 stat:ENROUTE"`, `deliver_sm seq=9 esm_class=32 `+
		`short_message="id:00000000006a1f00 sub:001 dlvrd:000 submit date:0000000000 done date:0000000000 stat:ENROUTE err:000 text:" `+
		`receipted_message_id="00000000006a1f00\x00" message_state=1`)
	const garbage = `seq=9 source_addr=1 destination_addr=2 esm_class=4 short_message="stat:DELIVRD without an id"`
	f(server(t, Version34), known, `deliver_sm `+garbage, `deliver_sm `+garbage)

	// A receipt that the gateway has made, or that came by another protocol.
	var m sms.Message
	m.SetReport(sms.Address{Addr: []byte("46700000001")}, sms.Address{Addr: []byte("1234")}, &sms.Report{Known: known, State: sms.StateEnroute})
	var p PDU
	server(t, Version34).Encode(1, &p, &m, 9)
	const made = `deliver_sm seq=9 source_addr=46700000001 destination_addr=1234 esm_class=32 ` +
		`short_message="id:00000000006a1f00 sub:001 dlvrd:000 submit date:0000000000 done date:0000000000 stat:ENROUTE err:000 text:" ` +
		`receipted_message_id="00000000006a1f00\x00" message_state=1`
	if got := string(p.AppendLog(nil, true)); got != made {
		t.Errorf("\ngot  %s\nwant %s", got, made)
	}
}

// Times are read in the zone of the SMSC's connector and written in that of the client's, with as
// many digits as the SMSC has sent. What is not in the SMSC's receipt is in the same zone.
func TestReportTimes(t *testing.T) {
	t.Parallel()
	f := func(from, to, in, want string) {
		t.Helper()
		smsc, client := client(t, Version34), server(t, Version34)
		smsc.zone, client.zone = zoneOf(t, from), zoneOf(t, to)
		m, _ := message(t, smsc, 1, `deliver_sm seq=3 source_addr=1 destination_addr=2 esm_class=4 short_message="id:77 `+in+` stat:DELIVRD"`)
		r, _ := m.Report()
		r.Known, r.Original = 1, nil
		if r.Submitted == 0 {
			r.Submitted = time.Date(2026, 7, 1, 7, 30, 59, 1, time.UTC).UnixNano() // as the gateway knows it
		}
		m.SetReport(m.Source(), m.Dest(), &r)
		var p PDU
		client.Encode(1, &p, m, 9)
		if got := string(p.AppendLog(nil, true)); !strings.Contains(got, " "+want+" stat:") {
			t.Errorf("%s became %s", in, got)
		}
	}
	const utc, stockholm, kolkata = "UTC", "Europe/Stockholm", "Asia/Kolkata"
	f(utc, utc, "submit date:2607010930 done date:2607010931", "submit date:2607010930 done date:2607010931")
	f(stockholm, stockholm, "submit date:2607010930 done date:2607010931", "submit date:2607010930 done date:2607010931")
	f(stockholm, utc, "submit date:2607010930 done date:260701093159", "submit date:260701073000 done date:260701073159")
	f(stockholm, kolkata, "submit date:20260701093001 done date:20260701235959", "submit date:260701130001 done date:260702032959")
	f(stockholm, kolkata, "submit date:202601010930 done date:202601010931", "submit date:2601011400 done date:2601011401")
	f(stockholm, stockholm, "done date:2607010931", "submit date:2607010930 done date:2607010931")
	f(stockholm, stockholm, "done date:260701093102", "submit date:260701093059 done date:260701093102")
	f(stockholm, stockholm, "submit date:000000000000", "submit date:2607010930 done date:0000000000")
}

// Fields that only an SMSC has stay, in front of the text. What the message says is none.
func TestReportExtra(t *testing.T) {
	t.Parallel()
	long := "note:" + strings.Repeat("x", 140)
	f := func(in, want string) {
		t.Helper()
		m, _ := message(t, client(t, Version34), 1, `deliver_sm seq=3 source_addr=1 destination_addr=2 esm_class=4 short_message="`+in+`"`)
		r, _ := m.Report()
		r.Known, r.Original = 1, nil
		m.SetReport(m.Source(), m.Dest(), &r)
		var p PDU
		server(t, Version34).Encode(1, &p, m, 9)
		if got := string(p.SM.ShortMessage); !strings.HasSuffix(got, " stat:DELIVRD "+want) {
			t.Errorf("%s became %s", in, got)
		}
	}
	f("id:7 stat:DELIVRD err:000 text:hi", "err:000 text:hi")
	f("id:7 stat:DELIVRD err:000 price:0.05 mccmnc:26201 network:T Mobile text:hi price:9", "err:000 price:0.05 mccmnc:26201 network:T Mobile text:hi price:9")
	f("id:7 mccmnc:26201 stat:DELIVRD, err:001, price:0.05, text:", "err:001 mccmnc:26201 price:0.05 text:")
	f(`id:7 stat:DELIVRD err:000 'price:0.05' 'a:b' text:`, `err:000 'price:0.05' 'a:b' text:`)
	f("id:7 stat:DELIVRD err:000 price:0.05 ", "err:000 price:0.05 text:")
	f("id:7 done date:26-07-01 09:30:00 stat:DELIVRD err:000 text:", "err:000 text:")
	f("id:7 stat:DELIVRD err:000 so: :it a stray text:", "err:000 text:")
	f("mccmnc:26201 id:7 stat:DELIVRD err:000 text:", "err:000 text:")
	f("id:7 stat:DELIVRD err:000 "+long+" text:12345678901234567890", "err:000 text:12345678901234567890")
}

// With receipts_by: text the text or the parameters say what is a receipt, and what people write
// is none.
func TestReceiptsByText(t *testing.T) {
	t.Parallel()
	byClass, byText := client(t, Version34), client(t, Version34)
	byText.options.ReceiptsBy = receiptsByText
	byText.options.ReceiptStates = []ReceiptState{{Word: "ARRIVED", Is: "delivered"}}
	byClass.options.ReceiptStates = byText.options.ReceiptStates
	f := func(line string, want sms.Kind) {
		t.Helper()
		kind, flag := sms.MO, sms.Flags(0)
		switch plain := want == sms.Receipt && !strings.Contains(line, "esm_class"); {
		case plain && strings.Contains(line, "receipted_message_id"): // no mobile sends these
			kind = sms.Receipt
		case plain && strings.Contains(line, "short_message"): // if its message is known
			kind, flag = sms.Receipt, sms.ByText
		}
		if m, _ := message(t, byClass, 1, "deliver_sm seq=1 "+line); m.Kind != kind || m.Flags&sms.ByText != flag {
			t.Errorf("by esm_class %s is of kind %d, with flags %x", line, m.Kind, m.Flags)
		}
		m, _ := message(t, byText, 1, "deliver_sm seq=1 "+line)
		if m.Kind != want || m.Flags&sms.HasReport != 0 != (want == sms.Receipt) || m.Flags&sms.ByText != 0 {
			t.Errorf("%s is of kind %d", line, m.Kind)
		}
	}
	const full = `id:77 sub:001 dlvrd:001 submit date:2607010930 done date:2607010931 stat:`
	f(`short_message="`+full+`DELIVRD err:000 text:hi"`, sms.Receipt)
	f(`short_message="`+full+`READ err:000 text:hi\x00"`, sms.Receipt)
	f(`message_payload="`+full+`UNDELIV err:001"`, sms.Receipt)
	f(`esm_class=8 short_message="`+full+`DELIVRD"`, sms.Receipt)
	f(`short_message="ID: 77 STAT: EXPIRED"`, sms.Receipt)
	f(`short_message="id:77 stat:ARRIVED"`, sms.Receipt)
	f(`short_message="whatever" receipted_message_id="77\x00" message_state=2`, sms.Receipt)
	f(`esm_class=8 short_message="whatever" receipted_message_id="77\x00" message_state=2`, sms.Receipt)

	f(`short_message=""`, sms.MO)
	f(`short_message="hello"`, sms.MO)
	f(`short_message="id:77"`, sms.MO)
	f(`short_message="stat:DELIVRD id:77"`, sms.MO)
	f(`short_message="my id:77 stat:DELIVRD"`, sms.MO)
	f(`short_message="id:77 is mine, stat:DELIVRD"`, sms.MO)
	f(`short_message="id: 77 text: stat:DELIVRD"`, sms.MO)
	f(`short_message="id:77 stat:good"`, sms.MO)
	f(`short_message="id:77 err:0 DELIVRD"`, sms.MO)
	f(`short_message="id: stat:DELIVRD"`, sms.MO)
	f(`short_message="id:77 stat:"`, sms.MO)
	f(`data_coding=8 short_message="\x00i\x00d\x00:\x007\x00 \x00s\x00t\x00a\x00t\x00:\x00D"`, sms.MO)
	f(`short_message="hello" receipted_message_id="77\x00"`, sms.MO)
	f(`short_message="hello" receipted_message_id="\x00" message_state=2`, sms.MO)
	f(`short_message="hello" receipted_message_id="77\x00" message_state=77`, sms.MO)
	f(`short_message="hello" message_state=2`, sms.MO)

	if m, _ := message(t, server(t, Version34), 1, `submit_sm seq=1 destination_addr=1 short_message="`+full+`DELIVRD"`); m.Kind != sms.Submit {
		t.Errorf("a client's message is of kind %d", m.Kind)
	}
	m, _ := message(t, byClass, 1, `deliver_sm seq=1 source_addr=4670 destination_addr=1 priority_flag=1 short_message="`+full+`DELIVRD"`)
	if m.Unreport(); m.Kind != sms.MO || m.Flags != 0 || string(m.Text()) != full+"DELIVRD" || string(m.Source().Addr) != "4670" || m.Priority != 1 {
		t.Errorf("a text that is no receipt becomes %+v", m)
	}
	m, _ = message(t, byText, 1, `deliver_sm seq=1 esm_class=8 short_message="`+full+`DELIVRD"`)
	var p PDU
	if server(t, Version34).Encode(1, &p, m, 9); p.SM.ESMClass != ClassReceipt {
		t.Errorf("a client is told esm_class %d", p.SM.ESMClass)
	}
}

// zoneOf returns the zone with that name.
func zoneOf(t *testing.T, name string) *time.Location {
	zone, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

// A receipt whose text is in UCS-2 is understood without optional parameters, and passes in the usual alphabet.
func TestReportInUCS2(t *testing.T) {
	t.Parallel()
	const text = "id:6a-7 sub:001 dlvrd:001 done date:2607010931 stat:UNDELIV err:011 text:h\u00e5 \u4f60"
	var wide string
	for _, c := range utf16.Encode([]rune(text)) {
		wide += fmt.Sprintf(`\x%02x\x%02x`, c>>8, c&0xFF)
	}
	m, _ := message(t, client(t, Version34), 1, `deliver_sm seq=1 esm_class=4 data_coding=8 short_message="`+wide+`"`)
	r, ok := m.Report()
	if !ok || string(r.ID) != "6a-7" || r.State != sms.StateUndeliverable || string(r.Err) != "011" || r.Done == 0 || string(r.Text) != "h? ?" {
		t.Errorf("%v, %+v", ok, r)
	}
	if m, _ := message(t, client(t, Version34), 1, `deliver_sm seq=1 esm_class=4 data_coding=8 short_message="`+text[:60]+`"`); m.Flags&sms.HasReport == 0 {
		t.Error("one that says it is in UCS-2, and is not, is not understood")
	}
}

// A word that is not in SMPP passes to the client as it is, and ends nothing. Words for a message
// on its way are known. receipt_states says what others mean.
func TestReportWords(t *testing.T) {
	t.Parallel()
	smsc := client(t, Version34)
	f := func(stat, params string, state sms.State, want string) {
		t.Helper()
		m, _ := message(t, smsc, 1, `deliver_sm seq=3 source_addr=1 destination_addr=2 esm_class=4 short_message="id:77 `+stat+` text:x" `+params)
		r, ok := m.Report()
		if !ok || r.State != state {
			t.Fatalf("%s: %t, %s", stat, ok, r.State)
		}
		r.Known, r.Original = 1, nil
		m.SetReport(m.Source(), m.Dest(), &r)
		var p PDU
		server(t, Version34).Encode(1, &p, m, 9)
		if got := string(p.AppendLog(nil, true)); !strings.Contains(got, " "+want+" err:") || strings.Contains(got, "message_state=1") == state.Final() {
			t.Errorf("%s %s became %s", stat, params, got)
		}
	}
	for _, word := range []string{"QUEUED", "BUFFRED", "BUFFERD", "BUFFERED", "ACKED", "SENT", "TRANSIT", "submitd"} {
		f("stat:"+word, "", sms.StateEnroute, "stat:ENROUTE")
	}
	f("stat:UNDELIVRD", "", sms.StateUndeliverable, "stat:UNDELIV")
	f("stat:BLOCKED", "", sms.StateRejected, "stat:REJECTD")
	f("status:DELIVRD", "", sms.StateDelivered, "stat:DELIVRD")
	f("stat:READ", "", sms.NoState, "stat:READ")
	f("stat:READ", "message_state=99", sms.NoState, "stat:READ")
	f("stat:READ", "message_state=2", sms.StateDelivered, "stat:DELIVRD") // which counts more
	smsc.options.ReceiptStates = []ReceiptState{{Word: "READ", Is: "delivered"}, {Word: "DELIVRD", Is: "enroute"}, {Word: "acceptd", Is: "undeliverable"}}
	f("stat:read", "", sms.StateDelivered, "stat:DELIVRD")
	f("stat:READ", "message_state=5", sms.StateDelivered, "stat:DELIVRD")
	f("stat:DELIVRD", "", sms.StateEnroute, "stat:ENROUTE")
	f("stat:ACCEPTD", "", sms.StateUndeliverable, "stat:UNDELIV")
	f("", "message_state=6", sms.StateUndeliverable, "stat:UNDELIV")
	f("stat:OTHER", "message_state=6", sms.StateUndeliverable, "stat:UNDELIV")
	f("stat:OTHER", "", sms.NoState, "stat:OTHER")
}

// ACCEPTD passes as it is: it is no intermediate notification.
func TestReportAccepted(t *testing.T) {
	t.Parallel()
	m, _ := message(t, client(t, Version34), 1, `deliver_sm seq=3 source_addr=1 destination_addr=2 esm_class=4 short_message="id:77 stat:ACCEPTD"`)
	r, _ := m.Report()
	r.Known, r.Original = 1, nil
	m.SetReport(m.Source(), m.Dest(), &r)
	var p PDU
	server(t, Version34).Encode(1, &p, m, 9)
	if got := string(p.AppendLog(nil, true)); !strings.Contains(got, "esm_class=4 ") || !strings.Contains(got, "stat:ACCEPTD") || !strings.Contains(got, "message_state=6") {
		t.Error(got)
	}
}
