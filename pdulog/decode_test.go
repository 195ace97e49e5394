package pdulog

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"pmg/protocols"
	"pmg/protocols/smpp"
)

const lineHead = "2026-11-20T19:05:22.469391Z clients/3 < "

func smppDecoder() *Decoder {
	return NewDecoder(func(string) (protocols.Driver, error) { return smpp.New(smpp.Options{}), nil })
}

func TestHex(t *testing.T) {
	asked := 0
	d := NewDecoder(func(command string) (protocols.Driver, error) {
		if asked++; command == "other" {
			return nil, errors.New("no such command")
		}
		return fakeDriver{}, nil
	})
	const line = lineHead + "submit_sm seq=1"
	for range 2 {
		got, err := d.AppendHex(nil, mustParse(t, line))
		if want := lineHead + "submit_sm 7375626d69745f736d207365713d31\n"; err != nil || string(got) != want {
			t.Errorf("got %q, %v", got, err)
		}
	}
	if asked != 1 {
		t.Errorf("asked for the protocol %d times", asked)
	}
	for _, bad := range []string{"other", "x"} {
		if got, err := d.AppendHex(nil, mustParse(t, strings.Replace(line, "submit_sm", bad, 1))); err == nil || len(got) > 0 {
			t.Errorf("got %q, %v", got, err)
		}
	}
}

// U11: octets that a line does not hold are never replaced by others, whatever was converted
// before.
func TestHexOfHidden(t *testing.T) {
	d := smppDecoder()
	whole := mustParse(t, lineHead+`submit_sm seq=7 source_addr=46 short_message="hello" tlv_0x1400=00ff`)
	for _, hidden := range []string{
		`submit_sm seq=7 short_message=*5`,
		`submit_sm seq=7 tlv_0x1400=00ff*62`,
		`submit_sm seq=7 malformed hex=*20 error="service_type does not end"`,
		`submit_sm seq=7 malformed error="service_type does not end"`,
		`unknown seq=* malformed hex=*16 error="cannot find the beginning of the PDU"`,
		`bind_transceiver seq=1 system_id=acme password=*** interface_version=52`,
		`enquire_link seq=1 rest=*5`,
	} {
		if _, err := d.AppendHex(nil, whole); err != nil {
			t.Fatal(err)
		}
		if got, err := d.AppendHex(nil, mustParse(t, lineHead+hidden)); !errors.Is(err, protocols.ErrHidden) || len(got) > 0 {
			t.Errorf("%s: got %q, %v", hidden, got, err)
		}
	}
	malformed := `submit_sm seq=7 malformed hex=0000001400000004000000000000000741424344 error="service_type does not end"`
	got, err := d.AppendHex(nil, mustParse(t, lineHead+malformed))
	if want := lineHead + "submit_sm 0000001400000004000000000000000741424344\n"; err != nil || string(got) != want {
		t.Errorf("got %q, %v", got, err)
	}
}

// U14: texts are decoded for people, and a search finds the decoded text.
func TestDecodedTexts(t *testing.T) {
	d := smppDecoder()
	f := func(pdu, want, text string) {
		t.Helper()
		e := mustParse(t, lineHead+pdu)
		if got := string(d.AppendLine(nil, e)); got != lineHead+want {
			t.Errorf("\ngot  %s\nwant %s", got, lineHead+want)
		}
		if got, ok := d.Text(e); got != text || ok != (text != "") {
			t.Errorf("%s: text %q, %t; want %q", pdu, got, ok, text)
		}
		for _, pattern := range []string{"seq=1 .*text=\"", "^" + regexp.QuoteMeta(text) + "$"} {
			search := Filter{Grep: regexp.MustCompile(pattern), Decoder: d}
			if found := search.Match(e); found != (text != "") {
				t.Errorf("%s: %s found %t", pdu, pattern, found)
			}
		}
	}
	same := func(pdu, text string) { t.Helper(); f(pdu, pdu, text) }
	same(`submit_sm seq=1 short_message="hello @ home" sar_msg_ref_num=7`, "hello ¡ home") // GSM, or not
	same(`submit_sm seq=1 data_coding=1 short_message="hello @ home"`, "hello @ home")
	same(`submit_sm seq=1 short_message=*5`, "")
	same(`submit_sm seq=1 data_coding=4 short_message="\x00\x01"`, "") // binary
	same(`submit_sm seq=1 data_coding=8 short_message="\x04\x1f\x04"`, "")
	same(`submit_sm seq=1 source_addr="A B"`, "")
	same(`enquire_link seq=1`, "")
	same(`submit_sm_resp seq=1 status=0 message_id="a b"`, "")
	same(`submit_sm seq=1 hello="x"`, "") // no line of ours
	f(`submit_sm seq=1 source_addr="A short_message=" data_coding=8 short_message="\x04\x1f\x04\x40" sar_msg_ref_num=7`,
		`submit_sm seq=1 source_addr="A short_message=" data_coding=8 text="Пр" sar_msg_ref_num=7`, "Пр")
	f(`submit_sm seq=1 short_message="Gr\x7e\x1ee\x0a"`, `submit_sm seq=1 text="Grüße\n"`, "Grüße\n")
	f(`deliver_sm seq=1 esm_class=64 data_coding=8 message_payload="\x05\x00\x03\xcc\x02\x01\x04\x1f\x20\x2e"`,
		`deliver_sm seq=1 esm_class=64 data_coding=8 udh=050003cc0201 text="П\u202e"`, "П\u202e")
}

// A pattern that matches the empty text does not select a line without a text.
func TestSearchWithoutText(t *testing.T) {
	search := Filter{Grep: regexp.MustCompile("^$"), Decoder: smppDecoder()} // the pattern of an empty text
	if search.Match(mustParse(t, lineHead+"enquire_link seq=1")) {
		t.Error("found")
	}
}

func TestJSONText(t *testing.T) {
	got := string(AppendJSON(nil, mustParse(t, lineHead+"submit_sm seq=1"), "Привет"))
	if want := `"command":"submit_sm","sequence":1,"text":"Привет","fields":{"seq":"1"}}`; !strings.HasSuffix(got, want+"\n") {
		t.Errorf("got %s", got)
	}
}
