package smpp

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"pmg/protocols/prototest"
	"pmg/sms"
)

// shown is a receipt as a test's table writes it.
type shown struct {
	id, textID       string
	state            sms.State
	word             string
	submitted, done  string
	parts, delivered int
	err              string
	network          NetworkError
	text             string
}

func showReceipt(r Receipt) shown {
	date := func(at int64) string {
		if at == 0 {
			return ""
		}
		return time.Unix(0, at).UTC().Format("2006-01-02 15:04:05")
	}
	return shown{string(r.ID), string(r.TextID), r.State, string(r.Word), date(r.Submitted), date(r.Done),
		r.Parts, r.Delivered, string(r.Err), r.Network, string(r.Text)}
}

// The receipts among the vectors.
func TestReceiptVectors(t *testing.T) {
	want := map[string]shown{
		"deliver_sm_receipt_hex_vs_decimal": {"38601fa", "0059113978", sms.StateDelivered, "DELIVRD",
			"2010-02-10 17:30:00", "2010-02-10 17:30:00", 1, 1, "000", NetworkError{}, "@$#!%&/:"},
		"deliver_sm_receipt_accepted_err107": {"94251430923", "94251430923", sms.StateAccepted, "ACCEPTD",
			"2009-11-04 01:24:00", "2009-11-04 01:24:00", 1, 1, "107", NetworkError{}, " 26F102"},
		"deliver_sm_receipt_33char_id": {"126e85a6edeac1a02020099312479564", "126e85a6edeac1a02020099312479564",
			sms.StateDelivered, "DELIVRD", "2010-02-19 16:30:00", "2010-02-19 16:30:00", 1, 1, "000", NetworkError{},
			"Hello               "},
		"deliver_sm_receipt_uuid_undeliv": {"6a3ed98a66444e8abac3acd9bba8656f", "6a3ed98a66444e8abac3acc9dba8656f",
			sms.StateUndeliverable, "UNDELIV", "2014-10-16 00:36:50", "2014-10-16 00:38:00", 1, 0, "000", NetworkError{}, ""},
		"deliver_sm_receipt_vendor_tlvs": {"145100315320224957", "145100315320224957", sms.StateDelivered, "DELIVRD",
			"2015-10-03 17:32:00", "2015-10-03 17:32:00", 1, 1, "0000", NetworkError{Type: 3}, "Test (mehdi)"},
		"deliver_sm_receipt_non_ascii_text": {"18d0e03a", "0416342074", sms.StateDelivered, "DELIVRD",
			"2021-01-04 15:22:00", "2021-01-04 15:22:00", 1, 1, "000", NetworkError{}, "\x84A\x89O\x88 ENTO\x84H. \x8cAPAKA"},
		"deliver_sm_unexpected_more_messages": {"18d0e03a", "0416342074", sms.StateDelivered, "DELIVRD",
			"2021-01-04 15:22:00", "2021-01-04 15:22:00", 1, 1, "000", NetworkError{}, "\x84A\x89O\x88 ENTO\x84H. \x8cAPAKA"},
		"deliver_sm_intermediate_notification": {"12AB", "12AB", sms.StateEnroute, "ENROUTE",
			"2026-07-01 09:00:00", "2026-07-01 09:00:00", 1, 0, "000", NetworkError{}, ""},
		"deliver_sm_receipt_in_message_payload": {"6aad5", "0000436949", sms.StateDelivered, "DELIVRD",
			"2015-04-21 15:08:00", "2015-04-21 15:08:00", -1, -1, "000", NetworkError{}, ""},
		"data_sm_receipt_tlvs": {"0A1B", "", sms.StateExpired, "", "", "", -1, -1, "", NetworkError{3, 27}, ""},
	}
	valid, _ := prototest.Vectors(t, "testdata")
	for _, v := range valid {
		esmClass, _ := v.Expect["esm_class"].(float64)
		isReceipt := int(esmClass)&ClassType == ClassReceipt || int(esmClass)&ClassType == classIntermediate
		if v.Expect["command"] != "deliver_sm" && v.Expect["command"] != "data_sm" {
			continue
		}
		inHex, _ := v.Expect["short_message"].(string)
		text, tlvs := prototest.Octets(t, inHex), tlvsOf(t, v)
		if payload, ok := FindTLV(tlvs, TagPayload); ok {
			text = payload
		}
		r, ok := ParseReceipt(text, tlvs, nil)
		w, wanted := want[v.Name]
		switch {
		case ok != wanted, ok && !isReceipt:
			t.Errorf("%s: is a receipt: %t; %+v", v.Name, ok, showReceipt(r))
		case ok && showReceipt(r) != w:
			t.Errorf("%s:\ngot  %+v\nwant %+v", v.Name, showReceipt(r), w)
		}
		delete(want, v.Name)
	}
	for name := range want {
		t.Errorf("there is no vector %s", name)
	}
}

// tlvsOf returns the optional parameters that a vector expects.
func tlvsOf(t *testing.T, v prototest.Vector) (b []byte) {
	list, _ := v.Expect["tlvs"].([]any)
	for _, p := range list {
		p := p.(map[string]any)
		tag, err := hex.DecodeString(p["tag"].(string)[2:])
		if err != nil {
			t.Fatal(err)
		}
		b = AppendTLV(b, uint16(tag[0])<<8|uint16(tag[1]), prototest.Octets(t, p["value"].(string)))
	}
	return b
}

// The deviations of the fact sheet.
func TestReceiptText(t *testing.T) {
	const at, later = "2024-01-31 15:30:00", "2024-01-31 15:31:00"
	usual := shown{"abc", "abc", sms.StateDelivered, "DELIVRD", at, later, 1, 1, "000", NetworkError{}, "Hello"}
	f := func(text string, change func(w *shown)) {
		t.Helper()
		w := usual
		change(&w)
		if r, ok := ParseReceipt([]byte(text), nil, time.UTC); !ok || showReceipt(r) != w {
			t.Errorf("%s: %t\ngot  %+v\nwant %+v", text, ok, showReceipt(r), w)
		}
	}
	same := func(*shown) {}
	f("id:abc sub:001 dlvrd:001 submit date:2401311530 done date:2401311531 stat:DELIVRD err:000 text:Hello", same)
	f("id:abc sub:001 dlvrd:001 submit date:2401311530 done date:2401311531 stat:DELIVRD err:000 text:Hello\x00\x00", same)
	f("ID:abc SUB:001 DLVRD:001 SUBMIT DATE:2401311530 DONE DATE:2401311531 STAT:DELIVRD ERR:000 TEXT:Hello", same)
	f("id: abc sub: 001 dlvrd :001 submitdate:2401311530 done_date:2401311531 stat= DELIVRD err:000 text:Hello", same)
	f(`id:"abc" sub:'001' dlvrd:001, submit date:"2401311530"; done date:2401311531|stat:"DELIVRD",err:000 text:Hello`, same)
	f("stat:DELIVRD done date:2401311531 err:000 dlvrd:001\r\nsub:001 id:abc submit date:2401311530 text:Hello", same)
	f("id:abc sub:1 dlvrd:1 submit date:240131153000 done date:20240131153100 stat:DELIVRD err:000 text:Hello", same)
	f("id:abc sub:001 dlvrd:001 submit date:202401311530 done date:202401311531 stat:DELIVRD err:000 text:Hello", same)
	f("id:abc sub:001 dlvrd:001 submit date:2401311530 done date:2401311531 DELIVRD err:000 text:Hello", same)
	f("text:Hello id:abc sub:001 dlvrd:001 submit date:2401311530 done date:2401311531 stat:DELIVRD err:000",
		func(w *shown) { w.text = "Hello " })
	f("id:abc stat:DELIVRD", func(w *shown) {
		*w = shown{id: "abc", textID: "abc", state: w.state, word: w.word, parts: -1, delivered: -1}
	})
	f("id:abc sub:x dlvrd: submit date:000000000000 done date:2401321531 stat:rejected err:21b text:", func(w *shown) {
		*w = shown{id: "abc", textID: "abc", state: sms.StateRejected, word: "rejected", parts: -1, delivered: -1, err: "21b"}
	})
	f("id:abc sub:0012 dlvrd:9999999999 submit date:2401311530 done date:2401311531 stat:READ err:0000 text:Hello", func(w *shown) {
		w.parts, w.delivered, w.state, w.word, w.err = 12, -1, sms.NoState, "READ", "0000"
	})
	f("id:abc sub:001 dlvrd:001 submit date:2401311530 done date:2401311531 status:DELIVRD err:000 text:Hello", same)
	f("id:abc id:def stat:DELIVRD stat:UNDELIV sub:001 dlvrd:001 submit date:2401311530 done date:2401311531 err:000 text:Hello", same)

	// What a client wrote is no field.
	f("id:abc sub:001 dlvrd:001 submit date:2401311530 done date:2401311531 stat:DELIVRD err:000 text:x id:evil stat:UNDELIV err:1",
		func(w *shown) { w.text = "x id:evil stat:UNDELIV err:1" })
}

func TestReceiptRefuses(t *testing.T) {
	for _, text := range []string{
		"", "Hello", "id:abc", "stat:DELIVRD", "id: stat:DELIVRD", "id:abc stat:", "paid:12 restat:1", "id:", ":", "id",
		"Your message was delivered", "\x00\x00", "text:id stat", "id:abc text:x stat:UNDELIV",
	} {
		if r, ok := ParseReceipt([]byte(text), nil, nil); ok {
			t.Errorf("%q: %+v", text, showReceipt(r))
		}
	}
}

// Optional parameters that say nothing do not replace the text.
func TestReceiptParameters(t *testing.T) {
	text := []byte("id:abc stat:DELIVRD")
	tlvs := AppendTLV(nil, TagReceiptedID, []byte{0})
	tlvs = AppendTLV(tlvs, TagMessageState, []byte{77})
	tlvs = AppendTLV(tlvs, TagNetworkError, []byte{1})
	r, ok := ParseReceipt(text, tlvs, nil)
	if !ok || string(r.ID) != "abc" || r.State != sms.StateDelivered || r.Network != (NetworkError{}) {
		t.Errorf("%+v", showReceipt(r))
	}
	tlvs = AppendTLV(nil, TagReceiptedID, []byte("def")) // without a NUL
	tlvs = AppendTLV(tlvs, TagMessageState, []byte{5})
	tlvs = AppendTLV(tlvs, TagNetworkError, []byte("027"))
	r, ok = ParseReceipt(text, tlvs, nil)
	if !ok || string(r.ID) != "def" || string(r.TextID) != "abc" || r.State != sms.StateUndeliverable || r.Network != (NetworkError{0, 27}) {
		t.Errorf("%+v", showReceipt(r))
	}
}

// Times are in the SMSC's zone.
func TestReceiptZone(t *testing.T) {
	zone := time.FixedZone("", 2*60*60)
	r, _ := ParseReceipt([]byte("id:1 done date:2401311531 stat:DELIVRD"), nil, zone)
	if want := time.Date(2024, 1, 31, 13, 31, 0, 0, time.UTC).UnixNano(); r.Done != want {
		t.Errorf("got %s", time.Unix(0, r.Done).UTC())
	}
	if text := string(r.AppendText(nil, zone)); !strings.Contains(text, "done date:2401311531 ") {
		t.Error(text)
	}
}

func TestAppendReceipt(t *testing.T) {
	f := func(r Receipt, text, tlvs string) {
		t.Helper()
		if got := string(r.AppendText(nil, nil)); got != text {
			t.Errorf("got  %s\nwant %s", got, text)
		}
		if got := hex.EncodeToString(r.AppendTLVs(nil)); got != tlvs {
			t.Errorf("got  %s\nwant %s", got, tlvs)
		}
	}
	at := time.Date(2024, 1, 31, 15, 30, 59, 0, time.UTC).UnixNano()
	f(Receipt{ID: []byte("12AB"), State: sms.StateDelivered, Submitted: at, Done: at + int64(time.Minute), Parts: -1, Delivered: -1, Text: []byte("Hello")},
		"id:12AB sub:001 dlvrd:001 submit date:2401311530 done date:2401311531 stat:DELIVRD err:000 text:Hello",
		"001e00053132414200"+"0427000102")
	f(Receipt{ID: []byte("1"), State: sms.StateExpired, Submitted: at, Parts: 3, Delivered: 2, Network: NetworkError{3, 27},
		Text: []byte("1234567890123456789\x1be")},
		"id:1 sub:003 dlvrd:002 submit date:2401311530 done date:0000000000 stat:EXPIRED err:027 text:1234567890123456789",
		"001e00023100"+"0427000103"+"0423000303001b")
	f(Receipt{ID: []byte("1"), Parts: 1234, Err: []byte("21b")},
		"id:1 sub:001234 dlvrd:000 submit date:0000000000 done date:0000000000 stat:ENROUTE err:21b text:",
		"001e00023100"+"0427000101")
}

// Every state has a number and a word, and comes back by the number and, where SMPP has a
// word, by the word.
func TestReceiptStates(t *testing.T) {
	for _, s := range sms.States() {
		if got := StateOfNumber(NumberOfState(s)); got != s {
			t.Errorf("%s: number %d is %s", s, NumberOfState(s), got)
		}
		word := WordOfState(s)
		if len(word) != 7 {
			t.Errorf("%s: %q", s, word)
		}
		if got := StateOfWord([]byte(strings.ToLower(word))); got != s && s != sms.StateScheduled && s != sms.StateSkipped {
			t.Errorf("%s: %q is %s", s, word, got)
		}
		if got := StateOfWord([]byte(s.String())); got != s {
			t.Errorf("%s: its name is %s", s, got)
		}
	}
	if StateOfNumber(10) != sms.NoState || StateOfWord([]byte("other")) != sms.NoState || WordOfState(sms.NoState) != "ENROUTE" {
		t.Error("a state is made up")
	}
}

func TestReceiptAllocations(t *testing.T) {
	text := []byte("id:0059113978 sub:001 dlvrd:001 submit date:2401311530 done date:2401311531 stat:DELIVRD err:000 text:Hello")
	tlvs := (&Receipt{ID: []byte("38601fa"), State: sms.StateDelivered, Network: NetworkError{3, 1}}).AppendTLVs(nil)
	b := make([]byte, 0, 256)
	zone := time.FixedZone("", 3600)
	if n := testing.AllocsPerRun(10, func() {
		r, ok := ParseReceipt(text, tlvs, zone)
		out := r.AppendText(b, zone)
		_ = r.AppendTLVs(out)
		if !ok {
			t.Fail()
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkParseReceipt(b *testing.B) {
	text := []byte("id:0059113978 sub:001 dlvrd:001 submit date:2401311530 done date:2401311531 stat:DELIVRD err:000 text:Hello")
	b.ReportAllocs()
	for b.Loop() {
		ParseReceipt(text, nil, nil)
	}
}

// Whatever a receipt says, reading it never fails, and it reads the same when it is
// written again.
func FuzzReceipt(f *testing.F) {
	valid, _ := prototest.Vectors(f, "testdata")
	for _, v := range valid {
		if text, _ := v.Expect["short_message"].(string); strings.HasPrefix(text, "6964") {
			f.Add(prototest.Octets(f, text), AppendTLV(AppendTLV(nil, TagReceiptedID, []byte("38601fa\x00")), TagMessageState, []byte{2}))
		}
	}
	f.Add([]byte(`text:x ID="1", done_date:20240131153100 delivered`), []byte{})
	f.Fuzz(func(t *testing.T, text, tlvs []byte) {
		r, ok := ParseReceipt(text, tlvs, nil)
		if !ok || r.State == sms.NoState || r.State == sms.StateScheduled || r.State == sms.StateSkipped {
			return
		}
		again, ok := ParseReceipt(r.AppendText(nil, nil), r.AppendTLVs(nil), nil)
		if bytes.IndexByte(r.ID, 0) >= 0 || len(r.ID) > 0xFFF0 {
			return // it does not go into a field that ends in NUL
		}
		if !ok || again.State != r.State || !bytes.Equal(again.ID, r.ID) {
			t.Fatalf("%+v became %+v", showReceipt(r), showReceipt(again))
		}
		const minute = int64(time.Minute)
		if year := time.Unix(0, r.Done).UTC().Year(); year < 2038 && again.Done/minute != r.Done/minute {
			t.Fatalf("%+v became %+v", showReceipt(r), showReceipt(again))
		}
	})
}
