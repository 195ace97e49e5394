package e2e

import (
	"fmt"
	"strings"
	"testing"
)

// A part that a client has made fits into one short message, or is refused, and the parts of one
// text keep their alphabet.
func TestTextOfParts(t *testing.T) {
	parallel(t)
	s := site{operator: newSMSC(t), memory: true, clients: "charset: latin1", out: "charset: gsm7, encode_as: shortest"}
	g := start(t, s)
	c, smsc := g.bind("transmitter"), s.operator.session()
	part := func(seq int, coding, more, text string) string {
		return fmt.Sprintf(`submit_sm seq=%d source_addr=1234 destination_addr=46700000001 %s`, seq, fmt.Sprintf(more, coding, text))
	}
	const header, sar = `esm_class=64 data_coding=%s short_message="\x05\x00\x03\x07\x02\x01%s"`, `data_coding=%s short_message="%s" sar_msg_ref_num=7 sar_total_segments=2 sar_segment_seqnum=1`
	accepted := func(line string, want ...string) {
		t.Helper()
		c.send(line)
		c.want("submit_sm_resp", "status=0")
		got := smsc.want("submit_sm")
		if !containsAll(got, want) {
			t.Errorf("want %s, got %s", want, got)
		}
		smsc.answer(0, field(got, "seq"))
	}
	long := strings.Repeat("a", 152) + `\xe3` // ã
	accepted(part(2, "0", header, long), strings.Repeat("a", 153)+`"`)
	accepted(part(3, "0", sar, long), strings.Repeat("a", 153)+`"`)
	c.send(part(4, "0", header, strings.Repeat(`\xbc`, 100)), part(5, "0", sar, strings.Repeat(`\xbc`, 100)))
	c.want("submit_sm_resp", "seq=4", "status=0x1(ESME_RINVMSGLEN)")
	c.want("submit_sm_resp", "seq=5", "status=0x1(ESME_RINVMSGLEN)")
	accepted(part(6, "8", header, strings.Repeat(`\x00A`, 20)), "data_coding=8")
	accepted(part(7, "8", sar, strings.Repeat(`\x00A`, 20)), "data_coding=8")
	accepted(part(8, "8", `data_coding=%s short_message="%s"`, strings.Repeat(`\x00A`, 20)), `short_message="AAAA`) // the whole text
}

// A text that was converted leaves with the data_coding of what it has become, whatever the client
// wrote, and is not replaced with octets of another alphabet.
func TestConvertedCoding(t *testing.T) {
	parallel(t)
	s := site{operator: newSMSC(t), memory: true, clients: "charset: utf8", out: "charset: gsm7, encode_as: default, window: 1"}
	g := start(t, s)
	c, smsc := g.bind("transmitter"), s.operator.session()
	submit := func(seq int, coding, text string) string {
		c.send(fmt.Sprintf(`submit_sm seq=%d source_addr=1234 destination_addr=46700000001 data_coding=%s short_message="%s"`, seq, coding, text))
		return field(c.want("submit_sm_resp", fmt.Sprint("seq=", seq), "status=0"), "message_id")
	}
	want := func(coding uint8, octets string) {
		t.Helper()
		if pdu := smsc.taken(); pdu.SM.DataCoding != coding || string(pdu.SM.ShortMessage) != octets {
			t.Errorf("%q in %#x, want %q in %#x", pdu.SM.ShortMessage, pdu.SM.DataCoding, octets, coding)
		}
	}
	submit(2, "3", `\xe9`) // é of Latin-1
	want(0, "\x05")
	submit(3, "0x11", `\xd0\xaf`) // Я, of class 1
	want(0x19, "\x04\x2f")
	submit(4, "0x11", `\xc3\xa9`)
	line := smsc.want("submit_sm")
	waits := submit(5, "3", `\xe9`)
	c.ask("replace_sm seq=6 message_id="+waits+` source_addr=1234 short_message="\xe8"`, "status=0x13(ESME_RREPLACEFAIL)")
	smsc.answer(0, field(line, "seq"))
	want(0, "\x05")
}
