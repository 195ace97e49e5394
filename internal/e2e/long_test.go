package e2e

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"

	"pmg/protocols/smpp"
	"pmg/sms/charset"
	"pmg/sms/userdata"
)

// A long is a text of four parts, and what it is in its data_coding.
type long struct {
	name   string
	coding uint8
	text   string
	octets []byte
	room   int // octets of a part beside a header of six
}

// longs are texts in GSM 7-bit with characters of the extension table, in UCS-2, and with
// emoji, which are surrogate pairs. They are placed so that cuts fall on them.
func longs() []long {
	gsm := strings.Repeat("x", 152) + strings.Repeat("€[Grüße]", 35)
	octets, _ := charset.Charset{}.Encode(nil, []byte(gsm), charset.Report)
	cyrillic := strings.Repeat("Привет, мир. ", 17)
	emoji := strings.Repeat("Hi 😀😁 ", 26) + strings.Repeat("😂", 11)
	return []long{
		{"GSM 7-bit", 0, gsm, octets, 153},
		{"UCS-2", 8, cyrillic, utf16be(cyrillic), 134},
		{"emoji", 8, emoji, utf16be(emoji), 134},
	}
}

func utf16be(s string) (b []byte) {
	for _, u := range utf16.Encode([]rune(s)) {
		b = append(b, byte(u>>8), byte(u))
	}
	return b
}

// cut cuts a text as the fact sheet says: as much as there is room for, but no character in
// two.
func (l long) cut() (parts [][]byte) {
	for rest := l.octets; len(rest) > 0; {
		n := min(l.room, len(rest))
		if n < len(rest) {
			switch {
			case l.coding == 0 && rest[n-1] == 0x1B:
				n--
			case l.coding == 8 && rest[n-2]&0xFC == 0xD8:
				n -= 2
			}
		}
		parts, rest = append(parts, rest[:n]), rest[n:]
	}
	return parts
}

// payload submits a text in message_payload.
func (l long) payload(n int) string {
	return fmt.Sprintf("submit_sm seq=%d source_addr=1234 destination_addr=46700000001 data_coding=%d message_payload=%s", n, l.coding, quoted(l.octets))
}

// quoted writes octets as the pdu log does.
func quoted(b []byte) string {
	var s strings.Builder
	for _, c := range b {
		fmt.Fprintf(&s, "\\x%02x", c)
	}
	return `"` + s.String() + `"`
}

// A long text leaves in parts, as the SMSC wants them, in order, and the client hears of one
// message. No character is cut.
func TestLongMessages(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	s := site{operator: operator, out: "long_messages: split8"}
	g := start(t, s)
	smsc, client := operator.session(), g.bind("transmitter")
	for i, l := range longs() {
		want := l.cut()
		if len(want) != 4 {
			t.Fatalf("%s: the test has %d parts", l.name, len(want))
		}
		client.send(l.payload(i + 2))
		client.want("submit_sm_resp", fmt.Sprintf("seq=%d", i+2), "status=0")
		ref := -1
		for number, octets := range want {
			pdu := smsc.taken()
			text := pdu.SM.ShortMessage
			if ref < 0 {
				ref = int(text[3])
			}
			head := []byte{5, 0, 3, byte(ref), 4, byte(number + 1)}
			if !bytes.Equal(text, append(head, octets...)) || pdu.SM.DataCoding != l.coding || pdu.SM.ESMClass != smpp.ClassHeader {
				t.Errorf("%s: part %d is %x in %d, want %x", l.name, number+1, text, pdu.SM.DataCoding, append(head, octets...))
			}
		}
	}
	// What is one message leaves as it came, and so do the client's own parts.
	client.send(`submit_sm seq=8 source_addr=1234 destination_addr=46700000001 short_message="`+strings.Repeat("A", 160)+`"`,
		`submit_sm seq=9 source_addr=1234 destination_addr=46700000001 esm_class=64 short_message="\x06\x08\x04\x00\x01\x02\x01`+strings.Repeat("A", 200)+`"`)
	client.accepted(8, 9)
	if n := len(smsc.taken().SM.ShortMessage); n != 160 {
		t.Errorf("%d octets", n)
	}
	if n := len(smsc.taken().SM.ShortMessage); n != 207 {
		t.Errorf("%d octets", n)
	}
	// More than 255 parts.
	client.send(long{octets: bytes.Repeat([]byte("A"), 255*153+1)}.payload(10))
	client.want("submit_sm_resp", "seq=10", "status=0x1(ESME_RINVMSGLEN)")
	client.fence()
}

// Parts that a client has made pass as they came, also those of which some are missing, that
// come twice or in disorder, or that contradict each other, and headers that cannot be.
func TestOddParts(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	g := start(t, site{operator: operator, clients: "charset: latin1", out: "charset: latin1, long_messages: split8, window: 1"})
	smsc, client := operator.session(), g.bind("transmitter")
	for i, header := range []string{
		`\x05\x00\x03\x07\x03\x03`, `\x05\x00\x03\x07\x03\x01`, `\x05\x00\x03\x07\x03\x01`, `\x05\x00\x03\x07\x04\x01`,
		`\x06\x08\x04\x00\x07\x03\x01`, `\x05\x00\x03\x07\x00\x00`, `\x05\x00\x03\x07\x02\x09`, `\x05\x00\x03\x07\x01\x01`,
		`\x03\x00\x03\x07`, `\x00`,
	} {
		client.send(fmt.Sprintf(`submit_sm seq=%d source_addr=1234 destination_addr=46700000001 esm_class=64 short_message="%s@[\xfc"`, i+2, header))
		client.want("submit_sm_resp", fmt.Sprintf("seq=%d", i+2), "status=0")
		if line := smsc.want("submit_sm", "esm_class=64"); !strings.HasSuffix(line, ` short_message="`+header+`@[\xfc"`) {
			t.Errorf("%s became %s", header, line)
		} else {
			smsc.answer(0, field(line, "seq"))
		}
	}
	client.send(`submit_sm seq=20 source_addr=1234 destination_addr=46700000001 esm_class=64 short_message="\x05\x00\x03"`)
	client.want("submit_sm_resp", "seq=20", "status=0x1(ESME_RINVMSGLEN)")
}

// Parts are said by the optional parameters of SMPP, and a peer that has none hears it in a
// header.
func TestLongMessagesBySAR(t *testing.T) {
	parallel(t)
	operator, other := newSMSC(t), newSMSC(t)
	g := start(t, site{
		operator: operator, out: "long_messages: sar",
		more:   fmt.Sprintf("{name: other, direction: out, protocol: ucp, window: 9, address: %q, system_id: pmg, password: secret, reconnect_delay: 20ms, long_messages: split16}", other.addr()),
		routes: "{destination: 47, to: other}\n{to: operator}",
	})
	smsc, ucp, client := operator.session(), other.ucpSession(), g.bind("transmitter")
	for i, l := range longs() {
		client.send(l.payload(i + 2))
		client.want("submit_sm_resp", "status=0")
		for number, octets := range l.cut() {
			pdu := smsc.taken()
			n, _ := smpp.FindTLV(pdu.SM.TLVs, 0x020F)
			total, _ := smpp.FindTLV(pdu.SM.TLVs, 0x020E)
			ref, _ := smpp.FindTLV(pdu.SM.TLVs, 0x020C)
			if !bytes.Equal(pdu.SM.ShortMessage, octets) || pdu.SM.ESMClass != 0 || string(n) != string(rune(number+1)) || string(total) != "\x04" || len(ref) != 2 {
				t.Errorf("%s: part %d is %x, %x of %x, reference %x", l.name, number+1, pdu.SM.ShortMessage, n, total, ref)
			}
		}
	}
	client.send(strings.Replace(longs()[1].payload(6), "46700000001", "47", 1))
	client.want("submit_sm_resp", "status=0")
	for number := range 4 {
		line, _ := ucp.next()
		head, _ := hex.DecodeString(strings.TrimPrefix(field(line, "XSer"), "0107"))
		h, err := userdata.Parse(head[:min(7, len(head))])
		if err != nil || int(h.Part.Number) != number+1 || h.Part.Total != 4 || !h.Part.Wide || !strings.HasSuffix(line, "020108") {
			t.Errorf("part %d is %s", number+1, line)
		}
		ucp.send("op51_result seq=" + field(line, "seq") + " status=0 SM=47:010126000000")
	}
	// The client's own parts, by parameters that UCP does not have.
	client.send(`submit_sm seq=7 source_addr=1234 destination_addr=47 short_message="part" sar_msg_ref_num=7 sar_total_segments=2 sar_segment_seqnum=1`)
	client.want("submit_sm_resp", "seq=7", "status=0")
	line, _ := ucp.next()
	if !strings.HasSuffix(line, `MT=3 AMsg="part" XSer=0106050003070201`) {
		t.Error(line)
	}
	ucp.send("op51_result seq=" + field(line, "seq") + " status=0 SM=47:010126000000")
	client.send(`submit_sm seq=8 source_addr=1234 destination_addr=46 short_message="part" sar_msg_ref_num=7 sar_total_segments=2 sar_segment_seqnum=1`)
	client.want("submit_sm_resp", "seq=8", "status=0")
	if line := smsc.want("submit_sm"); !strings.HasSuffix(line, `short_message="part" sar_msg_ref_num=7 sar_total_segments=2 sar_segment_seqnum=1`) {
		t.Error(line)
	} else {
		smsc.answer(0, field(line, "seq"))
	}
}

// The receipts of the parts become one, for the message that the client has submitted.
func TestReceiptOfLongMessage(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	g := start(t, site{operator: operator, out: "long_messages: split8", memory: true})
	smsc, client := operator.session(), g.bind("transceiver")
	client.send(strings.Replace(longs()[0].payload(2), "data_coding=0", "registered_delivery=1", 1))
	id := field(client.want("submit_sm_resp", "seq=2", "status=0"), "message_id")
	for n := range 4 {
		line := smsc.want("submit_sm", "registered_delivery=1")
		smsc.send(fmt.Sprintf("submit_sm_resp seq=%s status=0 message_id=part%d", field(line, "seq"), n))
	}
	for n := range 4 {
		smsc.send(fmt.Sprintf(`deliver_sm seq=%d source_addr=46700000001 destination_addr=1234 esm_class=4 short_message="id:part%d sub:001 dlvrd:001 submit date:2611221200 done date:2611221201 stat:DELIVRD err:000 text:"`, n+50, n))
		smsc.want("deliver_sm_resp", fmt.Sprintf("seq=%d", n+50), "status=0")
	}
	line := client.want("deliver_sm", "esm_class=4")
	if !strings.Contains(line, "id:"+id+" ") || !strings.Contains(line, " stat:DELIVRD ") {
		t.Errorf("%s is no receipt for %s", line, id)
	}
	client.send("deliver_sm_resp seq=" + field(line, "seq") + " status=0")
	client.fence() // there is no other
}

// Whole texts go in message_payload where the SMSC wants that, whatever the client has done.
func TestLongMessagesInPayload(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	g := start(t, site{operator: operator, out: "long_messages: payload"})
	smsc, client := operator.session(), g.bind("transmitter")
	for i, n := range []int{140, 161, 254, 1500} {
		text := bytes.Repeat([]byte("A"), n)
		if n > 254 {
			client.send(long{octets: text}.payload(i + 2))
		} else {
			client.send(fmt.Sprintf("submit_sm seq=%d destination_addr=1 short_message=%s", i+2, quoted(text)))
		}
		client.want("submit_sm_resp", "status=0")
		pdu := smsc.taken()
		payload, _ := smpp.FindTLV(pdu.SM.TLVs, smpp.TagPayload)
		if n > 160 != (len(payload) == n) || n <= 160 != (len(pdu.SM.ShortMessage) == n) {
			t.Errorf("%d octets: %d in short_message, %d in message_payload", n, len(pdu.SM.ShortMessage), len(payload))
		}
	}
}
