package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf16"

	gosmpp "github.com/fiorix/go-smpp/smpp"
	"github.com/fiorix/go-smpp/smpp/pdu"
	"github.com/fiorix/go-smpp/smpp/pdu/pdufield"
	"github.com/fiorix/go-smpp/smpp/pdu/pdutext"
	"github.com/fiorix/go-smpp/smpp/pdu/pdutlv"

	"pmg/internal/testutil"
	"pmg/protocols/smpp"
	"pmg/sms/charset"
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

// taken reads a submit_sm as its fields.
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

// echo answers the parts of the long texts, which must be those of the fact sheet, and then
// sends each as a mobile's message.
func (p *peer) echo(t *testing.T) {
	var back []string
	for _, l := range longs() {
		for number, octets := range l.cut() {
			pdu := p.taken()
			text := pdu.SM.ShortMessage
			if want := append([]byte{5, 0, 3, text[3], 4, byte(number + 1)}, octets...); !bytes.Equal(text, want) || pdu.SM.DataCoding != l.coding {
				t.Errorf("%s: part %d is %x in %d, want %x", l.name, number+1, text, pdu.SM.DataCoding, want)
			}
			back = append(back, fmt.Sprintf("source_addr=46700000001 destination_addr=1234 esm_class=64 data_coding=%d short_message=%s", l.coding, quoted(text)))
		}
	}
	for i, fields := range back {
		p.send(fmt.Sprintf("deliver_sm seq=%d %s", i+1000, fields))
		p.want("deliver_sm_resp", fmt.Sprintf("seq=%d", i+1000), "status=0")
	}
}

// go-smpp as a client submits long texts, and reads them again as a mobile's, whole.
func TestLongMessagesOfGoSMPP(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	g := start(t, site{operator: operator, out: "long_messages: split8, window: 1", routes: "{from: operator, to: clients}\n{to: operator}"})
	centre := operator.session()
	var mu sync.Mutex
	joined := map[byte]string{} // by reference, the texts of the parts, which come in order
	for range 1000 {            // see TestGoSMPP: its sequence numbers are to be others than the gateway's
		pdu.NewEnquireLink()
	}
	client := goSMPP(t, g, func(p pdu.Body) {
		header := p.Fields()[pdufield.GSMUserData].(*pdufield.UDHList).Data[0].IEData.Data
		mu.Lock()
		defer mu.Unlock()
		joined[header[0]] += goText(p, p.Fields()[pdufield.ShortMessage].Bytes())
	})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, l := range longs() {
			m := &gosmpp.ShortMessage{Src: "1234", Dst: "46700000001", Text: pdutext.Raw(""), TLVFields: pdutlv.Fields{pdutlv.TagMessagePayload: l.octets}}
			if l.coding == 8 {
				m.Text = pdutext.UCS2("")
			}
			if _, err := client.Submit(m); err != nil {
				t.Errorf("%s: %v", l.name, err)
			}
		}
	}()
	centre.echo(t)
	<-done
	testutil.Eventually(t, "every text is there again", func() bool {
		mu.Lock()
		defer mu.Unlock()
		found := 0
		for _, l := range longs() {
			for _, text := range joined {
				if text == l.text {
					found++
				}
			}
		}
		return found == len(longs())
	})
}

// The npm package smpp does the same, with its own coders.
func TestLongMessagesOfNode(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	g := start(t, site{operator: operator, out: "long_messages: split8, window: 1", routes: "{from: operator, to: clients}\n{to: operator}"})
	var texts []map[string]any
	for _, l := range longs() {
		texts = append(texts, map[string]any{"coding": l.coding, "text": l.text})
	}
	arg, _ := json.Marshal(texts)
	wantNode(t, func() { operator.session().echo(t) }, "long.js", g.addr("clients"), string(arg))
}

// wantNode runs a script of node, which must print the long texts, and meanwhile what the SMSC
// does.
func wantNode(t *testing.T, meanwhile func(), script ...string) {
	t.Helper()
	var got, want []string
	for _, l := range longs() {
		want = append(want, l.text)
	}
	client := nodeCommand(t, script...)
	out, err := client.StdoutPipe()
	if err == nil {
		err = client.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Process.Kill() }) // it has already ended, unless the test failed
	meanwhile()
	if err := json.NewDecoder(out).Decode(&got); err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, got %q", err, got)
	}
	if err := client.Wait(); err != nil {
		t.Error(err)
	}
}
