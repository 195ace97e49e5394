package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/internal/testutil"
	"pmg/protocols/smpp"
)

// submitAll submits messages, and returns the ids that the client knows them by.
func (p *peer) submitAll(first int, fields ...string) (ids []string) {
	p.t.Helper()
	for i, f := range fields {
		p.send(fmt.Sprintf("submit_sm seq=%d source_addr=1234 destination_addr=46700000001 %s", first+i, f))
		ids = append(ids, field(p.want("submit_sm_resp", fmt.Sprintf("seq=%d", first+i), "status=0"), "message_id"))
	}
	return ids
}

// Parts that were confirmed are sent after a power cut, as they came, and joined ones survive as one.
func TestPartsSurvive(t *testing.T) {
	parallel(t)
	s := site{operator: newSMSC(t), out: "long_messages: join", store: vfs.NewCrashableMem()}
	g := start(t, s)
	smsc, client := s.operator.session(), g.bind("transmitter")
	var parts []string
	for n := range 3 {
		parts = append(parts, fmt.Sprintf(`esm_class=64 short_message="\x05\x00\x03\x03\x03\x%02x%s"`, n+1, strings.Repeat(string(rune('A'+n)), 100)))
	}
	client.submitAll(2, parts[:2]...)
	g = g.powerCut(&s, smsc, client)
	smsc, client = s.operator.session(), g.bind("transmitter")
	got := map[string]bool{}
	for range 2 {
		line := smsc.want("submit_sm")
		got["esm_class=64 short_message="+field(line, "short_message")] = true
		smsc.answer(0, field(line, "seq"))
	}
	if !got[parts[0]] || !got[parts[1]] {
		t.Errorf("parts %v", got)
	}
	client.submitAll(10, parts[1], parts[2], parts[0])
	whole := `message_payload="` + strings.Repeat("A", 100) + strings.Repeat("B", 100) + strings.Repeat("C", 100) + `"`
	smsc.want("submit_sm", whole)
	g.sync() // that they are one now is stored soon, and not before it leaves
	g = g.powerCut(&s, smsc, client)
	smsc = s.operator.session()
	smsc.answer(0, field(smsc.want("submit_sm", whole), "seq"))
	testutil.Eventually(t, "nothing is left", func() bool { return g.Pending() == 0 })
	smsc.wantNo("submit_sm")
}

// taken reads a submit_sm, accepts it, and returns its fields.
func (p *peer) taken() *smpp.PDU {
	p.t.Helper()
	line := p.want("submit_sm")
	p.answer(0, field(line, "seq"))
	var pdu smpp.PDU
	if err := pdu.ParseLog([]byte(line)); err != nil {
		p.t.Fatal(err)
	}
	return &pdu
}

// parts returns the fields of the parts of a text with a reference of 8 bits.
func (l long) parts(ref byte) (fields []string) {
	cut := l.cut()
	for i, octets := range cut {
		text := append([]byte{5, 0, 3, ref, byte(len(cut)), byte(i + 1)}, octets...)
		fields = append(fields, fmt.Sprintf("esm_class=64 data_coding=%d short_message=%s", l.coding, quoted(text)))
	}
	return fields
}
