package smpp

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"pmg/protocols"
	"pmg/protocols/prototest"
)

func logOf(t *testing.T, hex string, text bool) string {
	t.Helper()
	var p PDU
	_ = p.Decode(prototest.Octets(t, hex)) // malformed ones are printed, too
	return string(p.AppendLog(nil, text))
}

// The form of the pdu log is fixed, because people process it with scripts.
func TestLogForm(t *testing.T) {
	f := func(line string, text bool, want string) {
		t.Helper()
		var p PDU
		if err := p.Decode(wireOf(t, line)); err != nil {
			t.Fatal(err)
		}
		if got := string(p.AppendLog(nil, text)); got != want {
			t.Errorf("\ngot  %s\nwant %s", got, want)
		}
	}
	same := func(line string) { t.Helper(); f(line, true, line) }
	same(`enquire_link seq=17`)
	same(`submit_sm_resp seq=17 status=0 message_id=0190f3a2c81b`)
	same(`submit_sm_resp seq=17 status=0 message_id=""`)
	same(`submit_sm_resp seq=17 status=0`)
	same(`submit_sm_resp seq=17 status=0x58(ESME_RTHROTTLED)`)
	same(`submit_sm_resp seq=17 status=0x22`)
	same(`submit_sm seq=17 status=0x1(ESME_RINVMSGLEN) source_addr_ton=1 source_addr=46700000001 short_message="hello"`)
	same(`submit_sm seq=1 source_addr="A B" short_message="say \"\\\xe5\x0a\""`)
	same(`submit_sm seq=1 user_message_reference=7 tlv_0x0204=07 tlv_0x1400= tlv_0x1454=00ff receipted_message_id="1\x00"`)
	same(`enquire_link seq=1 rest=0a0b`)
	f(`submit_sm seq=1 short_message="hello" message_payload="world!"`, false, `submit_sm seq=1 short_message=*5 message_payload=*6`)
	f(`bind_receiver seq=1 system_id=acme password=s3cret`, true, `bind_receiver seq=1 system_id=acme password=***`)
}

func TestLogOfMalformed(t *testing.T) {
	f := func(hex string, full bool, want string) {
		t.Helper()
		got := logOf(t, hex, full)
		if got != want {
			t.Errorf("\ngot  %s\nwant %s", got, want)
		}
		var p PDU
		err := p.ParseLog([]byte(got))
		if hidden := strings.Contains(got, "*"); hidden != errors.Is(err, protocols.ErrHidden) || !hidden && err != nil {
			t.Errorf("%s: ParseLog: %v", got, err)
		}
		if again := string(p.AppendLog(nil, true)); err == nil && again != got {
			t.Errorf("\nagain %s\nwant  %s", again, got)
		}
		if err == nil && !bytes.HasPrefix(prototest.Octets(t, hex), p.AppendWire(nil)) {
			t.Errorf("%s: the octets differ from the received ones", got)
		}
	}
	f("00000014000000040000000000000007"+"41424344", true,
		`submit_sm seq=7 malformed hex=0000001400000004000000000000000741424344 error="service_type does not end"`)
	f("00000014000000040000000000000007"+"41424344", false,
		`submit_sm seq=7 malformed hex=*20 error="service_type does not end"`)
	f("00000012000001100000000000000007"+"4142", true,
		`unknown seq=7 malformed hex=000000120000011000000000000000074142 error="command_id 0x00000110 is not known"`)
	f("000000", true, `unknown seq=0 malformed hex=000000 error="header of 3 octets is not complete"`)
	f("0000000F000000150000000000000007"+"0000002F00000002", true,
		`enquire_link seq=7 malformed hex=0000000f000000150000000000000007 error="command_length 15 is less than 16"`)

	// F29: a PDU that cannot be read may be long, and is cut.
	long := strings.Repeat("41", 65000)
	f("0000fdf8000001100000000000000007"+long, true,
		`unknown seq=7 malformed hex=0000fdf8000001100000000000000007`+long[:2*(maxOctets-16)]+`*63992 error="command_id 0x00000110 is not known"`)

	// H18: these may hold a password.
	f("00000014000000020000000000000007"+"41424344", true,
		`bind_transmitter seq=7 malformed hex=*20 error="system_id does not end"`)
	f("000000140000000B0000000000000007"+"41004242", true,
		`outbind seq=7 malformed hex=*20 error="password does not end"`)
	f("000000148000000B0000000000000007"+"41004200", true,
		`unknown seq=7 status=0 malformed hex=*20 error="command_id 0x8000000b is not known"`)
	f("0000001580000009000000000000000741"+"00733363", true, // system_id, and the password where parameters belong
		`bind_transceiver_resp seq=7 status=0 malformed hex=*21 error="optional parameters do not end with the PDU"`)
}

// H18: the log of a session that has not logged in does not show octets that may be a
// misplaced password, whatever PDU they are in.
func TestLogHidesPasswords(t *testing.T) {
	const password, inHex = "s3cret", "733363726574"
	f := func(hex, want string) {
		t.Helper()
		got := logOf(t, hex, false)
		if got != want {
			t.Errorf("\ngot  %s\nwant %s", got, want)
		}
		if strings.Contains(got, password) || strings.Contains(got, inHex) {
			t.Errorf("password is in %q", got)
		}
		var p PDU
		if err := p.ParseLog([]byte(got)); !errors.Is(err, protocols.ErrHidden) {
			t.Errorf("%s: ParseLog: %v, want that octets are hidden", got, err)
		}
	}
	// The body of a bind with a command_length of 16 is read as a header.
	f("61636d65"+"00733363"+"72657400"+"000034"+"00",
		`unknown seq=* malformed hex=*16 error="cannot find the beginning of the PDU"`)
	// Our answer repeats four octets of that header.
	f("00000010"+"80000000"+"00000002"+inHex[:8], `generic_nack seq=* status=0x2(ESME_RINVCMDLEN)`)
	// A bind's body after an id with the Response bit, and after an unknown id.
	body := "61636d6500" + inHex + "00" + "0034000000"
	f("00000021"+"8000000a"+"00000000"+"00000001"+body, `unknown seq=1 status=0 malformed hex=*33 error="command_id 0x8000000a is not known"`)
	f("00000021"+"0000000a"+"00000000"+"00000001"+body, `unknown seq=1 malformed hex=*33 error="command_id 0x0000000a is not known"`)
	// Octets after the last field of a bind that a bound session sends.
	bind := "00000029" + "00000009" + "00000000" + "00000001" + "61636d6500" + "7800" + "00" + "340000" + "00" + inHex + inHex + "00"
	f(bind, `bind_transceiver seq=1 system_id=acme password=*** interface_version=52 rest=*13`)
	if got := logOf(t, bind, true); !strings.HasSuffix(got, " rest=*13") {
		t.Errorf("got %s", got)
	}
	// An answer with the id of a login, and the other octets in a parameter.
	f("00000025"+"80000009"+"00000000"+"00000001"+"61636d6500"+"1400000c"+inHex+inHex,
		`bind_transceiver_resp seq=1 status=0 system_id=acme tlv_0x1400=*12`)
}

// H24: without texts, octets of unknown meaning are not printed.
func TestLogWithoutTexts(t *testing.T) {
	f := func(line, want string) {
		t.Helper()
		var p PDU
		if err := p.Decode(wireOf(t, line)); err != nil {
			t.Fatal(err)
		}
		if got := string(p.AppendLog(nil, false)); got != want {
			t.Errorf("\ngot  %s\nwant %s", got, want)
		}
	}
	f(`submit_sm seq=1 destination_addr=1 short_message="hello" user_message_reference=7 tlv_0x0204=68656c6c6f callback_num_atag="hello" `+
		`receipted_message_id="1f\x00" tlv_0x1400=68656c6c6f`,
		`submit_sm seq=1 destination_addr=1 short_message=*5 user_message_reference=7 tlv_0x0204=*5 callback_num_atag=*5 `+
			`receipted_message_id="1f\x00" tlv_0x1400=*5`)
	f(`enquire_link seq=1 rest=68656c6c6f`, `enquire_link seq=1 rest=*5`)
}

// F29: a line shows at most maxOctets octets of unknown meaning, in all its fields together.
func TestLogIsCut(t *testing.T) {
	octets := strings.Repeat("ab", maxOctets-10)
	var p PDU
	if err := p.Decode(wireOf(t, `submit_sm seq=1 tlv_0x1400=`+octets+` tlv_0x1401=00010203040506070809aabb tlv_0x1402=00`)); err != nil {
		t.Fatal(err)
	}
	want := `submit_sm seq=1 tlv_0x1400=` + octets + ` tlv_0x1401=00010203040506070809*2 tlv_0x1402=*1`
	if got := string(p.AppendLog(nil, true)); got != want {
		t.Errorf("\ngot  %s\nwant %s", got, want)
	}
	if err := p.ParseLog([]byte(want)); !errors.Is(err, protocols.ErrHidden) {
		t.Errorf("ParseLog: %v", err)
	}
}

func TestParseLogRejects(t *testing.T) {
	f := func(line, want string) {
		t.Helper()
		var p PDU
		if err := p.ParseLog([]byte(line)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got error %v, want %q", line, err, want)
		}
	}
	f(``, "is not known")
	f(`submit seq=1`, "is not known")
	f(`submit_sm seq=x`, "is not a number of 32 bits")
	f(`submit_sm seq=1 esm_class=256`, "is not a number of 8 bits")
	f(`submit_sm seq=1 esm_class=1 source_addr=2`, "is not a field that can stand here")
	f(`submit_sm seq=1 short_message="a`, "has no closing quote")
	f(`submit_sm seq=1 short_message="\n"`, "is not an escape")
	f(`submit_sm seq=1 short_message="\xzz"`, "is not an octet")
	f(`submit_sm seq=1 tlv_0x14000=`, "is not a field")
	f(`submit_sm seq=1 tlv_0x1400=0`, "is not hex")
	f(`submit_sm seq=1 hello`, "is not a field")
	f(`submit_sm seq=1 short_message="`+strings.Repeat("a", 256)+`"`, "is longer than 255 octets")
	f(`enquire_link seq=1 system_id=a`, "is not a field")
}

// U7: a line is parsed even with the pdu log's further fields after the PDU.
func TestParseLogWithAbout(t *testing.T) {
	for _, line := range []string{
		`submit_sm seq=17 source_addr=1 short_message="hello" tlv_0x1400=00ff`,
		"submit_sm_resp seq=17 status=0 message_id=aa",
		"submit_sm_resp seq=17 status=0x58(ESME_RTHROTTLED)",
		"enquire_link seq=1",
	} {
		var plain, about PDU
		if err := plain.ParseLog([]byte(line)); err != nil {
			t.Fatal(err)
		}
		for _, more := range []string{" account=acme", ` id=00000000000000aa account="a b"`, " id=00000000000000aa"} {
			if err := about.ParseLog([]byte(line + more)); err != nil || string(about.AppendWire(nil)) != string(plain.AppendWire(nil)) {
				t.Errorf("%s: %v, %x instead of %x", line+more, err, about.AppendWire(nil), plain.AppendWire(nil))
			}
		}
	}
}
