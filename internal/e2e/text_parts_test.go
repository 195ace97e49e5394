package e2e

import (
	"fmt"
	"strings"
	"testing"
)

// A part that a client has made fits into one short message, or is refused, and the parts of one
// text keep their alphabet.
func TestTextOfParts(t *testing.T) {
	each(t, func(t *testing.T, a architecture) {
		s := site{operator: newSMSC(t), memory: true, clients: "charset: latin1", out: "charset: gsm7, encode_as: shortest"}
		g := start(t, a, s)
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
	})
}
