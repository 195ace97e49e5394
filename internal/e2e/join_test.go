package e2e

import (
	"bytes"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/fiorix/go-smpp/smpp/pdu"
	"github.com/fiorix/go-smpp/smpp/pdu/pdutlv"

	"pmg/internal/testutil"
	"pmg/protocols/smpp"
)

// parts returns the fields of the parts of a text with a reference of 8 bits.
func (l long) parts(ref byte) (fields []string) {
	cut := l.cut()
	for i, octets := range cut {
		text := append([]byte{5, 0, 3, ref, byte(len(cut)), byte(i + 1)}, octets...)
		fields = append(fields, fmt.Sprintf("esm_class=64 data_coding=%d short_message=%s", l.coding, quoted(text)))
	}
	return fields
}

const toMobile = " source_addr=1234 destination_addr=46700000001 "

// submitAll submits messages, and returns the ids that the client knows them by.
func (p *peer) submitAll(first int, fields ...string) (ids []string) {
	p.t.Helper()
	for i, f := range fields {
		p.send(fmt.Sprintf("submit_sm seq=%d", first+i) + toMobile + f)
		ids = append(ids, field(p.want("submit_sm_resp", fmt.Sprintf("seq=%d", first+i), "status=0"), "message_id"))
	}
	return ids
}

// wantWhole reads the next submit, which must be a whole text.
func (p *peer) wantWhole(l long) {
	p.t.Helper()
	p.isWhole(p.taken(), l)
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

// Parts that were confirmed are sent after a power cut, as they came; a drain sends them too.
func TestPartsSurvive(t *testing.T) {
	parallel(t)
	s := site{operator: newSMSC(t), out: "long_messages: join", store: vfs.NewCrashableMem()}
	g := start(t, s)
	centre, client := s.operator.session(), g.bind("transmitter")
	p := longs()[1].parts(3)
	client.submitAll(2, p[:3]...)
	g = g.powerCut(&s, centre, client)
	centre, client = s.operator.session(), g.bind("transmitter")
	got := map[byte]bool{}
	for range 3 {
		got[centre.taken().SM.ShortMessage[5]] = true
	}
	if !got[1] || !got[2] || !got[3] {
		t.Errorf("parts %v", got)
	}
	client.submitAll(10, p...) // and joined ones survive as one
	centre.want("submit_sm", "data_coding=8")
	g.sync() // that they are one now is stored soon, and not before it leaves
	g = g.powerCut(&s, centre, client)
	centre = s.operator.session()
	centre.wantWhole(longs()[1])
	testutil.Eventually(t, "nothing is left", func() bool { return g.Pending() == 0 })
	centre.wantNo("submit_sm")
}

// sendParts sends the parts of the long texts as a mobile's messages.
func (p *peer) sendParts() {
	p.t.Helper()
	seq := 1000
	for i, l := range longs() {
		parts := l.parts(byte(i))
		parts[1], parts[3] = parts[3], parts[1]
		for _, fields := range parts {
			p.send(fmt.Sprintf("deliver_sm seq=%d source_addr=46700000001 destination_addr=1234 %s", seq, fields))
			p.want("deliver_sm_resp", fmt.Sprintf("seq=%d", seq), "status=0")
			seq++
		}
	}
}

const joinedRoutes = "{from: operator, to: clients}\n{to: operator}"

// go-smpp as a client reads the texts of mobiles whole.
func TestJoinedMessagesOfGoSMPP(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	g := start(t, site{operator: operator, clients: "long_messages: join", routes: joinedRoutes})
	centre := operator.session()
	var mu sync.Mutex
	var texts []string
	goSMPP(t, g, func(p pdu.Body) {
		mu.Lock()
		defer mu.Unlock()
		texts = append(texts, goText(p, p.TLVFields()[pdutlv.TagMessagePayload].Bytes()))
	})
	centre.sendParts()
	testutil.Eventually(t, "every text is there", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(texts) == len(longs())
	})
	for _, l := range longs() {
		if !slices.Contains(texts, l.text) {
			t.Errorf("no text %q in %q", l.text, texts)
		}
	}
}

// The npm package smpp does the same.
func TestJoinedMessagesOfNode(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	g := start(t, site{operator: operator, clients: "long_messages: join", routes: joinedRoutes})
	wantNode(t, func() { operator.session().sendParts() }, "whole.js", g.addr("clients"), fmt.Sprint(len(longs())))
}
