package smpp

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"pmg/protocols"
	"pmg/protocols/prototest"
	"pmg/sms"
)

// server returns a session to which a client of a version is bound.
func server(t testing.TB, version uint8) *session {
	s := New(Options{}).NewSession(protocols.SessionOptions{Name: "PMG"}).(*session)
	p := &PDU{ID: BindTransceiver, SequenceNumber: 1}
	p.Bind().InterfaceVersion = version
	s.Start(1, p)
	if a := s.Receive(1, p); a.Kind != protocols.Login || a.Credentials.Bind != protocols.Transceiver {
		t.Fatalf("got %+v", a)
	}
	if a := s.Login(1, p, sms.OK); a.Kind != protocols.Send || s.Bound() != protocols.Transceiver {
		t.Fatalf("got %+v", a)
	}
	return s
}

// untold is the version of an SMSC that does not send its version.
const untold = 0xFF

// client returns a session that is bound to an SMSC of a version.
func client(t testing.TB, version uint8) *session {
	s := New(Options{}).NewSession(protocols.SessionOptions{Role: protocols.Client}).(*session)
	p := new(PDU)
	s.Start(1, p)
	p.ID |= Response
	p.Body = true
	if version != untold {
		p.BindResp().TLVs = AppendTLV(nil, TagVersion, []byte{version})
	}
	if a := s.Receive(1, p); a.Kind != protocols.Bound {
		t.Fatalf("got %+v", a)
	}
	return s
}

// message returns the message in a PDU in the form of the pdu log.
func message(t testing.TB, s *session, now int64, line string) (*sms.Message, sms.Code) {
	t.Helper()
	var p PDU
	if err := p.Decode(wireOf(t, line)); err != nil {
		t.Fatal(err)
	}
	a := s.Receive(now, &p)
	if a.Kind != protocols.Message {
		t.Fatalf("%s: got %+v", line, a)
	}
	if a.Messages > 0 {
		s.To(&p, 0)
	}
	m := new(sms.Message)
	code := s.Message(now, &p, m)
	return m, code
}

func TestKinds(t *testing.T) {
	f := func(s *session, line string, want sms.Kind) {
		t.Helper()
		if m, code := message(t, s, 1, line); m.Kind != want || code != sms.OK {
			t.Errorf("%s: got kind %d, %s", line, m.Kind, code)
		}
	}
	f(server(t, 0x34), `submit_sm seq=1 destination_addr=1 esm_class=4`, sms.Submit)
	c := client(t, 0x34)
	f(c, `deliver_sm seq=1`, sms.MO)
	f(c, `deliver_sm seq=1 esm_class=4`, sms.Receipt)
	f(c, `deliver_sm seq=1 esm_class=68`, sms.Receipt) // with a header, which does not belong
	f(c, `deliver_sm seq=1 esm_class=32`, sms.Receipt)
	f(c, `deliver_sm seq=1 esm_class=16`, sms.MO) // the reader's own acknowledgement
	f(c, `deliver_sm seq=1 esm_class=64 short_message="\x10"`, sms.MO)
	f(c, `deliver_sm seq=1 validity_period=whatever`, sms.MO)
}

func TestTimesOfAMessage(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC).UnixNano()
	f := func(times string, deliver, expires time.Duration, want sms.Code) {
		t.Helper()
		m, code := message(t, server(t, 0x34), now, "submit_sm seq=1 destination_addr=1 "+times)
		prototest.Times(t, times, now, m, code, deliver, expires, want)
	}
	f("", 0, 0, sms.OK)
	f("schedule_delivery_time=000000010000000R", time.Hour, 0, sms.OK)
	f("schedule_delivery_time=261120100000000+", 0, 0, sms.OK) // in the past: now
	f("validity_period=000000020000000R", 0, 2*time.Hour, sms.OK)
	f("schedule_delivery_time=000000010000000R validity_period=261120140000000+", time.Hour, 2*time.Hour, sms.OK)
	f("schedule_delivery_time=000000030000000R validity_period=261120140000000+", 0, 0, sms.BadValidity)
	f("validity_period=261120100000000+", 0, 0, sms.BadValidity)
	f("validity_period=1", 0, 0, sms.BadValidity)
	f("schedule_delivery_time=1", 0, 0, sms.BadSchedule)
}

// A client's message reaches the SMSC, whichever field the text was in.
func TestMessageThroughEncode(t *testing.T) {
	f := func(version uint8, in, want string) {
		t.Helper()
		m, code := message(t, server(t, 0x34), 1, in)
		if code != sms.OK {
			t.Fatalf("%s: %s", in, code)
		}
		var p PDU
		client(t, version).Encode(1, &p, m, 9)
		if got := string(p.AppendLog(nil, true)); got != want {
			t.Errorf("\ngot  %s\nwant %s", got, want)
		}
		throughLog(t, &p, p.AppendWire(nil))
	}
	const all = `service_type=CMT source_addr_ton=5 source_addr_npi=1 source_addr=PMG dest_addr_ton=1 dest_addr_npi=1 destination_addr=46700000001 esm_class=67 protocol_id=1 priority_flag=2 `
	const more = `validity_period=000001000000000R registered_delivery=1 replace_if_present_flag=1 data_coding=8 sm_default_msg_id=1 short_message="\x00A"`
	f(0x34, `submit_sm seq=1 `+all+`schedule_delivery_time=000000010000000R `+more+` tlv_0x1400=0102 source_port=1`,
		`submit_sm seq=9 `+all+more+` tlv_0x1400=0102 source_port=1`)
	f(untold, `submit_sm seq=1 `+all+more+` tlv_0x1400=0102`, `submit_sm seq=9 `+all+more+` tlv_0x1400=0102`)
	old := strings.NewReplacer("000001000000000R", "700102000000000+", "priority_flag=2", "priority_flag=1")
	f(0x33, `submit_sm seq=1 `+all+more+` tlv_0x1400=0102`, old.Replace(`submit_sm seq=9 `+all+more))
	f(0x33, `submit_sm seq=1 destination_addr=1 registered_delivery=18`, `submit_sm seq=9 destination_addr=1 registered_delivery=1`)
	f(0x33, `submit_sm seq=1 destination_addr=1 registered_delivery=16`, `submit_sm seq=9 destination_addr=1`)
	f(0x34, `submit_sm seq=1 destination_addr=1 user_message_reference=1 message_payload="text" source_port=1`,
		`submit_sm seq=9 destination_addr=1 short_message="text" user_message_reference=1 source_port=1`)
	f(0x34, `submit_sm seq=1 destination_addr=1 short_message="text" message_payload=""`,
		`submit_sm seq=9 destination_addr=1 short_message="text"`)
	long := strings.Repeat("x", 255)
	for _, version := range []uint8{0x33, 0x34} {
		f(version, `submit_sm seq=1 destination_addr=1 short_message="`+long+`"`,
			`submit_sm seq=9 destination_addr=1 message_payload="`+long+`"`)
	}
	f(0x34, `submit_sm seq=1 destination_addr=1 priority_flag=99`, `submit_sm seq=9 destination_addr=1 priority_flag=4`)
}

// A delivery does not have the fields that only a submit may have (§4.6.1).
func TestEncodeDelivery(t *testing.T) {
	m, _ := message(t, server(t, 0x34), 1, `submit_sm seq=1 destination_addr=1 esm_class=67 validity_period=000001000000000R `+
		`registered_delivery=1 replace_if_present_flag=1 sm_default_msg_id=1 short_message="\x00A"`)
	var p PDU
	server(t, 0x34).Encode(1, &p, m, 9)
	const want = `deliver_sm seq=9 destination_addr=1 esm_class=64 registered_delivery=1 short_message="\x00A"`
	if got := string(p.AppendLog(nil, true)); got != want {
		t.Errorf("\ngot  %s\nwant %s", got, want)
	}
}

// Values from another protocol may not fit into the fields of this one.
func TestEncodeForeignFields(t *testing.T) {
	m := &sms.Message{Expires: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC).UnixNano()}
	m.Set(sms.Address{Addr: []byte("PMG\x00")}, sms.Address{Addr: bytes.Repeat([]byte("1"), 65)}, []byte("hello"))
	var p PDU
	client(t, 0x34).Encode(1, &p, m, 9)
	const want = `submit_sm seq=9 validity_period=261120120000000+ short_message="hello"`
	if got := string(p.AppendLog(nil, true)); got != want {
		t.Errorf("\ngot  %s\nwant %s", got, want)
	}
}

func TestAnswer(t *testing.T) {
	f := func(s *session, id CommandID, code sms.Code, want string) {
		t.Helper()
		p := PDU{ID: id, SequenceNumber: 3}
		s.Answer(&p, code, 0x0190f3a2c81b0a0b)
		if got := string(p.AppendLog(nil, true)); got != want {
			t.Errorf("\ngot  %s\nwant %s", got, want)
		}
	}
	f(server(t, 0x34), SubmitSM, sms.OK, "submit_sm_resp seq=3 status=0 message_id=0190f3a2c81b0a0b")
	f(server(t, 0x50), SubmitSM, sms.OK, "submit_sm_resp seq=3 status=0 message_id=0190f3a2c81b0a0b")
	f(server(t, 0x00), SubmitSM, sms.OK, "submit_sm_resp seq=3 status=0 message_id=RY9FUUQ3")
	f(server(t, 0x34), SubmitSM, sms.Throttled, "submit_sm_resp seq=3 status=0x58(ESME_RTHROTTLED)")
	f(server(t, 0x34), SubmitSM, sms.Rejected, "submit_sm_resp seq=3 status=0x45(ESME_RSUBMITFAIL)")
	f(client(t, 0x34), DeliverSM, sms.OK, `deliver_sm_resp seq=3 status=0 message_id=""`)
	f(client(t, 0x34), DeliverSM, sms.Rejected, "deliver_sm_resp seq=3 status=0x66(ESME_RX_R_APPN)")
	f(client(t, 0x34), DeliverSM, sms.TemporaryFailure, "deliver_sm_resp seq=3 status=0x64(ESME_RX_T_APPN)")
}

// A session handles the four most frequent PDUs without allocation.
func TestSessionDoesNotAllocate(t *testing.T) {
	answered := func(p protocols.PDU, out []byte) { _ = p.(*PDU).Decode(out) }
	suite.SessionDoesNotAllocate(t, "submit_sm", server(t, 0x34), client(t, 0x34), hot[0].Octets(t), answered)
	suite.SessionDoesNotAllocate(t, "deliver_sm", client(t, 0x34), server(t, 0x34), hot[2].Octets(t), answered)
}

// BenchmarkSession measures a submit_sm, its message's way to an SMSC, and both answers.
func BenchmarkSession(b *testing.B) {
	in := hot[0].Octets(b)
	from, to := server(b, 0x34), client(b, 0x34)
	var p, q PDU
	var m sms.Message
	b.ReportAllocs()
	for b.Loop() {
		_ = p.Decode(in)
		from.Receive(2, &p)
		from.Message(2, &p, &m)
		to.Encode(2, &q, &m, to.NextSequence())
		from.Answer(&p, sms.OK, 1)
		to.Receive(2, &p)
	}
}

// For a validity that was given as a duration the remaining duration is sent (F23), and for
// one that was given as a time the same time.
func TestValidityLeft(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC).UnixNano()
	f := func(validity string, waited time.Duration, want string) {
		t.Helper()
		m, code := message(t, server(t, 0x34), now, "submit_sm seq=1 destination_addr=1 validity_period="+validity)
		if code != sms.OK {
			t.Fatal(code)
		}
		var p PDU
		client(t, 0x34).Encode(now+int64(waited), &p, m, 9)
		if got := string(p.SM.ValidityPeriod); got != want {
			t.Errorf("%s after %s: got %s, want %s", validity, waited, got, want)
		}
	}
	f("000000020000000R", 0, "000000020000000R")
	f("000000020000000R", 90*time.Minute, "000000003000000R")
	f("000000020000000R", 2*time.Hour-time.Millisecond, "000000000001000R")
	f("000001000000000R", time.Hour, "000000230000000R")
	f("000200000000000R", time.Hour, "270120120000000+") // too long for a duration in days
	f("261121120000000+", 3*time.Hour, "261121120000000+")
}

// The octets of a message from SMPP are sent to SMPP unchanged.
func TestNativeThroughEncode(t *testing.T) {
	for _, fields := range []string{
		"data_coding=2", "data_coding=4", "data_coding=1", "data_coding=245", "data_coding=240", "data_coding=14",
		"registered_delivery=3", "registered_delivery=18", "registered_delivery=12", "esm_class=195", "esm_class=60",
		"registered_delivery=17 data_coding=192", "sm_default_msg_id=9",
	} {
		in := "submit_sm seq=9 destination_addr=1 " + fields + ` short_message="\x01ABC"`
		m, code := message(t, server(t, 0x34), 1, in)
		if code != sms.OK {
			t.Fatalf("%s: %s", in, code)
		}
		var p, want PDU
		client(t, 0x34).Encode(1, &p, m, 9)
		if err := want.Decode(wireOf(t, in)); err != nil {
			t.Fatal(err)
		}
		if got, want := p.AppendLog(nil, true), want.AppendLog(nil, true); !bytes.Equal(got, want) {
			t.Errorf("\ngot  %s\nwant %s", got, want)
		}
	}
}

// U14: a PDU returns its text with the alphabet.
func TestText(t *testing.T) {
	f := func(line string, ok bool, want protocols.Text) {
		t.Helper()
		var p PDU
		if err := p.ParseLog([]byte(line)); err != nil {
			t.Fatal(err)
		}
		got, found := p.Text()
		if found != ok || ok && (got.Field != want.Field || string(got.Octets) != string(want.Octets) ||
			got.Alphabet != want.Alphabet || got.Header != want.Header) {
			t.Errorf("%s: %+v, %t; want %+v", line, got, found, want)
		}
	}
	f(`submit_sm seq=1 short_message="hi"`, true,
		protocols.Text{Field: "short_message", Octets: []byte("hi"), Alphabet: sms.Default})
	f(`deliver_sm seq=1 esm_class=64 data_coding=8 message_payload="\x00a"`, true,
		protocols.Text{Field: "message_payload", Octets: []byte("\x00a"), Alphabet: sms.UCS2, Header: true})
	f(`submit_sm seq=1 destination_addr=46700000001`, false, protocols.Text{})
	f(`submit_sm_resp seq=1 status=0`, false, protocols.Text{})
	f(`submit_sm seq=7 malformed hex=0000001400000004000000000000000741424344 error="service_type does not end"`, false, protocols.Text{})
}

// A PDU that can be decoded as a login is a LoginRequest, and others are not.
func TestLoginStep(t *testing.T) {
	f := func(hex string, want protocols.LoginStep) {
		t.Helper()
		var p PDU
		_ = p.Decode(prototest.Octets(t, hex))
		if got := p.LoginStep(); got != want {
			t.Errorf("%s: %d, want %d", hex, got, want)
		}
	}
	f("00000017"+"00000009"+"00000000"+"00000001"+"00000034000000", protocols.LoginRequest)
	f("00000010"+"00000009"+"00000000"+"00000001", protocols.NoLogin)
	f("00000017"+"8000000a"+"00000000"+"00000001"+"00000034000000", protocols.NoLogin)
	f("00000011"+"80000001"+"00000000"+"00000001"+"00", protocols.LoginAccepted)
	f("00000010"+"80000001"+"0000000d"+"00000001", protocols.NoLogin)
	f("00000012"+"80000001"+"00000000"+"00000001"+"4141", protocols.NoLogin)
	f("00000010"+"80000000"+"00000000"+"00000001", protocols.NoLogin)
	f("00000010"+"00000015"+"00000000"+"00000001", protocols.NoLogin)
}

// P12: what a client or an SMSC of an old version sends is kept, because many say an old version
// and mean another one. A peer of an old version is sent no optional parameters, which is noted;
// the parts of a text keep their place.
func TestOldVersionParameters(t *testing.T) {
	t.Parallel()
	const sar = ` sar_msg_ref_num=7 sar_total_segments=2 sar_segment_seqnum=1`
	for _, says := range []uint8{0x00, 0x33, 0x34} {
		m, code := message(t, server(t, says), 1, `submit_sm seq=2 source_addr=1234 destination_addr=46700000001 short_message="x"`+sar+` tlv_0x1400=0102`)
		if code != sms.OK {
			t.Fatal(code)
		}
		for to, whole := range map[uint8]bool{0x00: false, 0x33: false, 0x34: true} {
			c := client(t, to)
			var p PDU
			c.Encode(1, &p, m, 5)
			line := string(p.AppendLog(nil, true))
			if strings.Contains(line, "tlv_0x1400=0102") != whole || (c.Drops(m) == nil) != whole {
				t.Errorf("client says 0x%02x, SMSC 0x%02x: leaves as %s, loses %v", says, to, line, c.Drops(m))
			}
			if p.SM.ESMClass&ClassHeader == 0 != whole {
				t.Errorf("client says 0x%02x, SMSC 0x%02x: a part has lost its place: %s", says, to, line)
			}
		}
	}
	m, _ := message(t, server(t, 0x34), 1, `submit_sm seq=2 destination_addr=46700000001 short_message="x"`+sar)
	if loss := client(t, 0x33).Drops(m); loss != nil {
		t.Errorf("a part loses %v", loss)
	}
}

// P12, I7: an option takes a peer for a later version than it says.
func TestVersionAtLeast(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		at, most   string
		says, want uint8
	}{
		{"3.3", "5.0", 0, Version33}, {"3.4", "5.0", 0, Version34}, {"3.4", "3.4", 0x33, Version34}, {"3.4", "5.0", 0x50, Version50},
		{"5.0", "3.4", 0, Version34}, {"5.0", "5.0", 0x34, Version50}, {"3.4", "3.3", 0, Version33}, {"", "5.0", 0, Version33},
	} {
		o := NewConnectorOptions()
		o.AtLeast, o.Version = c.at, c.most
		if got := o.spoken(c.says); got != uint32(c.want) {
			t.Errorf("version %s, at least %q, the peer says 0x%02x: 0x%02x, want 0x%02x", c.most, c.at, c.says, got, c.want)
		}
	}
}

// A text that came in message_payload leaves in it where texts are not cut, and otherwise only if it
// is too long for short_message. No loss is counted of it.
func TestPayloadStays(t *testing.T) {
	t.Parallel()
	const fields = `submit_sm seq=2 source_addr=1 destination_addr=2 `
	for _, f := range []struct {
		keep      bool
		in, other string
	}{
		{true, `message_payload="text"`, ""},
		{true, `message_payload="text" tlv_0x1400=01`, `tlv_0x1400=01 message_payload="text"`},
		{true, `short_message="text"`, ""},
		{true, `message_payload=""`, " "},
		{false, `message_payload="text"`, `short_message="text"`},
		{false, `message_payload="text" tlv_0x1400=01`, `short_message="text" tlv_0x1400=01`},
	} {
		m, code := message(t, server(t, Version34), 1, fields+f.in)
		if code != sms.OK {
			t.Fatalf("%s: %s", f.in, code)
		}
		c := client(t, Version34)
		c.o.KeepPayload = f.keep
		var p PDU
		c.Encode(1, &p, m, 2)
		want := f.in
		if f.other != "" {
			want = strings.TrimSpace(f.other)
		}
		if got := string(p.AppendLog(nil, true)); got != strings.TrimSpace(fields+want) {
			t.Errorf("%s, kept %t: became %s", f.in, f.keep, got)
		}
		m.Part, m.Parts = 1, 2
		c.Encode(1, &p, m, 2)
		if got := string(p.AppendLog(nil, true)); strings.Contains(got, "message_payload") {
			t.Errorf("a part of it is %s", got)
		}
		if lost := (&Driver{}).Leave(m); !strings.Contains(f.in, "1400") && lost != (protocols.Lost{}) {
			t.Errorf("%s: lost %v", f.in, lost)
		}
	}
}

// I8: a deliver of an SMSC with octets behind the text, or with a parameter that is cut off, counts
// with the fields that can be read. A submit of a client is refused, unless there are only NULs
// behind the text.
func TestTakenPartly(t *testing.T) {
	t.Parallel()
	good := func(id CommandID) []byte {
		var p PDU
		line := id.String() + ` seq=2 source_addr=1234 destination_addr=46700000001 short_message="text" user_message_reference=7`
		if err := p.ParseLog([]byte(line)); err != nil {
			t.Fatal(err)
		}
		return p.AppendWire(nil)
	}
	for _, c := range []struct {
		name, behind string
		client       bool // a client's counts, too
	}{
		{"a NUL", "\x00", true},
		{"three NULs", "\x00\x00\x00", true},
		{"an octet", "x", false},
		{"an unfinished tag", "\x14\x00", false},
		{"a parameter that is too long", "\x00\x1e\x00\x41ABCDE", false},
	} {
		for _, smsc := range []bool{true, false} {
			s, id := server(t, 0x34), SubmitSM
			if smsc {
				s, id = client(t, 0x34), DeliverSM
			}
			b := append(good(id), c.behind...)
			binary.BigEndian.PutUint32(b, uint32(len(b)))
			var p PDU
			if err := p.Decode(b); err == nil {
				t.Errorf("%s: not seen", c.name)
			}
			a := s.Receive(1, &p)
			if !smsc && !c.client {
				if a.Kind != protocols.Send || p.CommandStatus != StatusInvTLVStream {
					t.Errorf("%s of a client: %+v, status 0x%x", c.name, a, p.CommandStatus)
				}
				continue
			}
			m := &sms.Message{}
			if code := s.Message(1, &p, m); a.Kind != protocols.Message || !a.Partly || code != sms.OK || string(m.Text()) != "text" {
				t.Errorf("%s, of an SMSC %t: %+v, %s, %q", c.name, smsc, a, code, m.Text())
			}
			if _, _, params := nativeOf(m); string(params) != "\x02\x04\x00\x02\x00\x07" {
				t.Errorf("%s: parameters %x", c.name, params)
			}
			if got := p.AppendWire(nil); !bytes.Equal(got, b) || !strings.Contains(string(p.AppendLog(nil, true)), " malformed hex=") {
				t.Errorf("%s: written as %x, logged as %s", c.name, got, p.AppendLog(nil, true))
			}
		}
	}
}

// I8: the id in an answer counts, whatever stands behind it or in the place of its NUL.
func TestIDTakenPartly(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		"ABC12345": "ABC12345", "ABC12345\x00\x00": "ABC12345", "ABC12345\x00\x00\x1e\x00\x41A": "ABC12345",
		strings.Repeat("x", 64): strings.Repeat("x", 64), strings.Repeat("x", 66): "", "\x00\x00": "",
	} {
		b := append(binary.BigEndian.AppendUint32(nil, uint32(HeaderLen+len(body))), 0x80, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 9)
		b = append(b, body...)
		var p PDU
		if err := p.Decode(b); err == nil {
			t.Errorf("%q: not seen", body)
		}
		a := client(t, 0x34).Receive(1, &p)
		if a.Kind != protocols.Answered || a.Code != sms.OK || !a.Partly || string(p.MessageID()) != want {
			t.Errorf("%q: %+v, id %q, want %q", body, a, p.MessageID(), want)
		}
	}
}
