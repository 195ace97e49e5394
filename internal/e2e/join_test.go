package e2e

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/internal/testkit/testutil"
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

// The parts of a text become one message for an SMSC that wants whole messages, whatever their
// order, also when one comes twice, or in sar_ parameters.
func TestJoinedMessages(t *testing.T) {
	for _, stored := range []bool{false, true} {
		t.Run(fmt.Sprintf("stored=%v", stored), func(t *testing.T) {
			parallel(t)
			operator := newSMSC(t)
			s := site{operator: operator, out: "long_messages: join"}
			if stored {
				s.store = vfs.NewCrashableMem()
			}
			g := start(t, s)
			smsc, client := operator.session(), g.bind("transmitter")
			seq := 2
			for i, l := range longs() {
				p := l.parts(byte(i))
				for _, order := range [][]int{{0, 1, 2, 3}, {3, 1, 0, 2}, {1, 1, 3, 0, 3, 2}} {
					for _, n := range order {
						client.submitAll(seq, p[n])
						seq++
					}
					smsc.wantWhole(l)
				}
			}
			for n := range 2 { // short enough for short_message
				client.submitAll(seq, fmt.Sprintf(`short_message="half %d" sar_msg_ref_num=7 sar_total_segments=2 sar_segment_seqnum=%d`, n, n+1))
				seq++
			}
			pdu := smsc.taken()
			if string(pdu.SM.ShortMessage) != "half 0half 1" || len(pdu.SM.TLVs) > 0 {
				t.Errorf("%q with %x", pdu.SM.ShortMessage, pdu.SM.TLVs)
			}
			testutil.Eventually(t, "no place is taken", func() bool { return g.Pending() == 0 && g.Gateway.Node.Memory.Used() == 0 })
			smsc.fence()
			if !smsc.silent("submit_sm") {
				t.Error("another message")
			}
		})
	}
}

// Parts whose others do not come are sent as they came, and so are those that do not fit
// together. With one that asks, the client gets the
// receipt by the id that it knows that part by.
func TestPartsThatAreNotJoined(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	s := site{operator: operator, out: "long_messages: join", limits: "join_timeout: 1s", store: vfs.NewCrashableMem()}
	g := start(t, s)
	smsc, client := operator.session(), g.bind("transceiver")
	l := longs()[0]
	p := l.parts(9)
	wantParts := func(want ...string) { // in any order
		t.Helper()
		for range want {
			pdu := smsc.taken()
			fields := fmt.Sprintf("esm_class=%d data_coding=%d short_message=%s", pdu.SM.ESMClass, pdu.SM.DataCoding, quoted(pdu.SM.ShortMessage))
			at := slices.Index(want, fields)
			if at < 0 {
				t.Fatalf("unexpected: %s", fields)
			}
			want = slices.Delete(want, at, at+1)
		}
	}
	client.submitAll(2, p[0], p[2], p[3])
	wantParts(p[0], p[2], p[3])
	// Other totals under one reference.
	three := long{octets: l.octets[:400], room: 153}.parts(9)
	client.submitAll(10, three[0], p[1], three[1])
	wantParts(three[0], p[1], three[1])
	// One asks.
	s.limits = "join_timeout: 1m"
	if err := g.reload(s); err != nil {
		t.Fatal(err)
	}
	ids := client.submitAll(30, p[0], p[1], p[2], asking(p[3]))
	line := smsc.want("submit_sm", asks)
	smsc.send("submit_sm_resp seq=" + field(line, "seq") + " status=0 message_id=4711")
	smsc.fence()
	smsc.receipt(101, "4711", "DELIVRD")
	client.wantReceipt(ids[3], "DELIVRD")
	testutil.Eventually(t, "no place is taken", func() bool { return g.Pending() == 0 })
}

// A gateway that stops without a store sends the parts that it has.
func TestPartsAtStop(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	g := start(t, site{operator: operator, out: "long_messages: join", memory: true})
	smsc, client := operator.session(), g.bind("transmitter")
	client.submitAll(2, longs()[0].parts(3)[:2]...)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 2 {
			if n := len(smsc.taken().SM.ShortMessage); n < 100 {
				t.Errorf("%d octets", n)
			}
		}
	}()
	g.drain()
	<-done
}

// wantWhole reads the next submit, which must be a whole text.
func (p *peer) wantWhole(l long) {
	p.t.Helper()
	p.isWhole(p.taken(), l)
}

// asking returns the fields of a message that asks for receipts.
func asking(fields string) string {
	return strings.Replace(fields, "data_coding", asks+" data_coding", 1)
}

func (p *peer) isWhole(pdu *smpp.PDU, l long) {
	p.t.Helper()
	got := pdu.SM.ShortMessage
	if payload, ok := smpp.FindTLV(pdu.SM.TLVs, smpp.TagPayload); ok {
		got = payload
	}
	if !bytes.Equal(got, l.octets) || pdu.SM.DataCoding != l.coding || pdu.SM.ESMClass != 0 {
		p.t.Errorf("%s: got %x in %d with esm_class %d, want %x", l.name, got, pdu.SM.DataCoding, pdu.SM.ESMClass, l.octets)
	}
}
