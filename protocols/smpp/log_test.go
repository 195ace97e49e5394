package smpp

import (
	"bytes"
	"strings"
	"testing"
)

func logOf(t *testing.T, hex string, text bool) string {
	t.Helper()
	var p PDU
	_ = p.Decode(octetsOf(t, hex)) // malformed ones are printed, too
	return string(p.AppendLog(nil, text))
}

// The form of the pdu log is a contract: people cut it with awk.
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
	f := func(hex string, text bool, want string) {
		t.Helper()
		got := logOf(t, hex, text)
		if got != want {
			t.Errorf("\ngot  %s\nwant %s", got, want)
		}
		var p PDU
		if err := p.ParseLog([]byte(got)); err != nil {
			t.Fatal(err)
		}
		if again := string(p.AppendLog(nil, true)); text && again != got {
			t.Errorf("\nagain %s\nwant  %s", again, got)
		}
		if strings.Contains(got, " hex=") && text && !bytes.HasPrefix(octetsOf(t, hex), p.AppendWire(nil)) {
			t.Errorf("%s: the octets are not those that came", got)
		}
	}
	f("00000014000000040000000000000007"+"41424344", true,
		`submit_sm seq=7 malformed hex=0000001400000004000000000000000741424344 error="service_type does not end"`)
	f("00000014000000040000000000000007"+"41424344", false,
		`submit_sm seq=7 malformed hex=*20 error="service_type does not end"`)
	f("00000012000001100000000000000007"+"4142", true,
		`unknown seq=7 malformed hex=000000120000011000000000000000074142 error="command_id 0x00000110 is not known"`)
	f("000000", true, `unknown seq=0 malformed hex=000000 error="header of 3 octets is not complete"`)
	// What follows a length that is not right may be a login.
	f("0000000F000000150000000000000007"+"0000002F00000002", true,
		`enquire_link seq=7 malformed hex=0000000f000000150000000000000007 error="command_length 15 is not valid"`)
	// These may hold a password.
	f("00000014000000020000000000000007"+"41424344", true,
		`bind_transmitter seq=7 malformed error="system_id does not end"`)
	f("000000140000000B0000000000000007"+"41004200", true,
		`unknown seq=7 malformed error="command_id 0x0000000b is not known"`)
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
	f(`submit_sm seq=1 hello`, "is no field")
	f(`submit_sm seq=1 short_message="`+strings.Repeat("a", 256)+`"`, "is longer than 255 octets")
	f(`enquire_link seq=1 system_id=a`, "is not a field")
}

// Eight octets at a time or one, the same ones end what stands for itself.
func TestPlainPrefix(t *testing.T) {
	for length := range 20 {
		for at := range length {
			for c := range 256 {
				v := bytes.Repeat([]byte("a"), length)
				v[at] = byte(c)
				want := length
				if !plain[c] {
					want = at
				}
				if n := plainPrefix(v); n != want {
					t.Fatalf("%q: %d octets stand for themselves, want %d", v, n, want)
				}
			}
		}
	}
}
