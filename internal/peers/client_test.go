package peers

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"pmg/sms/charset"
)

// A clientBench is a library that is a client of a gateway, with the test's own SMSC behind it.
type clientBench struct {
	t       testing.TB // of the scenario
	outer   testing.TB // of all scenarios of the library
	row     *peer
	gateway *gateway
	smsc    *testSMSC
	library func() library // starts it, or returns the one that runs
	kannel  *kannel        // that runs
}

// end ends the gateway, and Kannel.
func (b *clientBench) end() {
	b.gateway.kill()
	if b.kannel != nil {
		b.kannel.stop()
	}
}

// A clientScenario is what a client does, and what must come of it at both ends.
type clientScenario struct {
	name, column string
	run          func(b *clientBench)
}

// The number that the library submits from, and one that it submits to.
const (
	short  = "1234"
	mobile = "46700000001"
	parked = "46990000001" // leads to a connector that is down
)

// Texts with what is easily lost: characters of the extension table, and outside the first plane.
const (
	escapes = "price [12] {€}"
	plane   = "räksmörgås 😀 Ω"
)

func clientScenarios() []clientScenario {
	all := []clientScenario{
		{"transceiver", "bind", func(b *clientBench) { b.bind("transceiver").submits("hello") }},
		{"transmitter", "bind", func(b *clientBench) { b.bind("transmitter").submits("hello") }},
		{"receiver", "bind", func(b *clientBench) {
			p := b.bind("receiver")
			b.smsc.deliver(b.t, mo("", "hello"))
			p.gets("hello")
		}},
		{"wrong password", "bind", func(b *clientBench) {
			p := b.connect()
			if e := p.ask(request{Do: "bind", Kind: "transceiver", Name: "acme", Password: "wrong", Version: 0x34}); e.Status == 0 && e.Error == "" {
				b.t.Error("the login succeeded")
			}
		}},
	}
	for _, v := range []struct {
		name          string
		version, size int
	}{{"3.3", 0x33, 8}, {"3.4", 0x34, 16}, {"5.0", 0x50, 16}} {
		all = append(all, clientScenario{"version " + v.name, "versions", func(b *clientBench) {
			p := b.connect()
			if e := p.ask(request{Do: "bind", Kind: "transceiver", Name: "acme", Password: "s3cret", Version: v.version}); e.Status != 0 {
				b.t.Fatalf("got %+v", e)
			}
			if id := p.submits("hello"); len(id) != v.size {
				b.t.Errorf("got the id %q", id)
			}
		}})
	}
	all = append(all, texts()...)
	all = append(all, receipts()...)
	all = append(all, originated()...)
	return append(all, operations()...)
}

// connect starts the library.
func (b *clientBench) connect() *client { return &client{peerEnd{t: b.t, lib: b.library()}, b} }

// bind starts the library and logs in.
func (b *clientBench) bind(kind string) *client {
	b.t.Helper()
	p := b.connect()
	if e := p.ask(request{Do: "bind", Kind: kind, Name: "acme", Password: "s3cret", Version: 0x34}); e.Status != 0 || e.Error != "" {
		b.t.Fatalf("cannot bind: %+v", e)
	}
	return p
}

// A client is a library that has connected.
type client struct {
	peerEnd
	b *clientBench
}

// submit submits a message by the library, and returns its id.
func (p *client) submit(m message) (id string) {
	p.t.Helper()
	m.From, m.To = short, mobile
	e := p.ask(request{Do: "submit", message: m})
	if e.Status != 0 || e.Error != "" || e.ID == "" {
		p.t.Fatalf("the submit was answered %+v", e)
	}
	return e.ID
}

// submits submits a plain text by the library. It must arrive.
func (p *client) submits(text string) (id string) {
	p.t.Helper()
	id = p.submit(message{Text: text})
	if line := p.b.smsc.record.next(p.t, "submit_sm"); field(line, "short_message") != text {
		p.t.Errorf("the SMSC got %s", line)
	}
	return id
}

// arrives wants a submit_sm with fields at the SMSC, and returns it.
func (b *clientBench) arrives(fields ...string) string {
	b.t.Helper()
	line := b.smsc.record.next(b.t, "submit_sm")
	for _, f := range fields {
		if !strings.Contains(line+" ", " "+f+" ") {
			b.t.Errorf("the SMSC got %s, want %s", line, f)
		}
	}
	return line
}

// gets wants a delivery whose text is what the library made of it.
func (p *client) gets(text string) event {
	p.t.Helper()
	e := p.next("deliver")
	if e.Text != text {
		p.t.Errorf("the library got %+v, want %q", e.message, text)
	}
	return e
}

// texts are the kinds of messages.
func texts() []clientScenario {
	return []clientScenario{
		{"GSM characters", "texts", func(b *clientBench) {
			b.bind("transceiver").submit(message{Text: escapes})
			line := b.arrives()
			if got := gsm(field(line, "short_message")); got != escapes && ucs2(field(line, "short_message")) != escapes {
				b.t.Errorf("the SMSC got %q in %s", got, line)
			}
		}},
		{"UCS-2", "texts", func(b *clientBench) {
			b.bind("transceiver").submit(message{Text: plane, Coding: 8})
			line := b.arrives()
			if c := field(line, "data_coding"); c != "8" && c != "25" || ucs2(field(line, "short_message")) != plane {
				b.t.Errorf("the SMSC got %s", line)
			}
		}},
		{"binary", "octets", func(b *clientBench) {
			b.bind("transceiver").submit(message{Octets: "00ff1b80", Coding: 4})
			line := b.arrives()
			if c := field(line, "data_coding"); c != "4" && c != "245" || field(line, "short_message") != "\x00\xff\x1b\x80" {
				b.t.Errorf("the SMSC got %s", line)
			}
		}},
		{"flash", "octets", func(b *clientBench) {
			b.bind("transceiver").submit(message{Text: "now", Coding: 0xF0})
			line := b.arrives()
			if c := field(line, "data_coding"); c != "240" && c != "16" || field(line, "short_message") != "now" {
				b.t.Errorf("the SMSC got %s", line)
			}
		}},
		{"user data header", "octets", func(b *clientBench) {
			b.bind("transceiver").submit(message{UDH: "0605040b8423f0", Octets: "01060403", Coding: 4, Class: 0x40})
			if line := b.arrives(); !headed(line) || field(line, "short_message") != "\x06\x05\x04\x0b\x84\x23\xf0\x01\x06\x04\x03" {
				b.t.Errorf("the SMSC got %s", line)
			}
		}},
		{"own parts", "long texts", func(b *clientBench) {
			text := strings.Repeat("0123456789", 40)
			b.bind("transceiver").submit(message{Text: text, Parts: true})
			if got := b.joined(3); got != text {
				b.t.Errorf("the SMSC got %q", got)
			}
		}},
		{"message_payload", "long texts", func(b *clientBench) {
			text := strings.Repeat("0123456789", 40)
			b.bind("transceiver").submit(message{Text: text, Payload: true})
			if line := b.arrives(); field(line, "message_payload") != text {
				b.t.Errorf("the SMSC got %s", line)
			}
		}},
		{"validity", "options", func(b *clientBench) {
			b.bind("transceiver").submit(message{Text: "hello", Validity: "000001000000000R", Registered: 1})
			line := b.arrives()
			if r := field(line, "registered_delivery"); field(line, "validity_period") == "" || r != "1" && r != "17" {
				b.t.Errorf("the SMSC got %s", line)
			}
		}},
		{"vendor's parameter", "options", func(b *clientBench) {
			b.bind("transceiver").submit(message{Text: "hello", TLVs: map[string]string{"1400": "0102"}})
			b.arrives(`tlv_0x1400=0102`)
		}},
	}
}

// headed reports whether esm_class says that the text has a user data header.
func headed(line string) bool {
	class, _ := strconv.Atoi(field(line, "esm_class"))
	return class&0x40 != 0
}

// joined returns the text of parts with user data headers that arrive in order.
func (b *clientBench) joined(parts int) string {
	b.t.Helper()
	var text, reference string
	for n := 1; n <= parts; n++ {
		line := b.arrives()
		octets := field(line, "short_message")
		size := 6 // of a header with a reference of 8 bits
		if strings.HasPrefix(octets, "\x06\x08\x04") {
			size = 7
		}
		if !headed(line) || len(octets) < size || octets[size-2:size] != string([]byte{byte(parts), byte(n)}) || n > 1 && octets[3:size-2] != reference {
			b.t.Fatalf("the SMSC got part %d as %s", n, line)
		}
		reference = octets[3 : size-2]
		text += gsm(octets[size:])
	}
	return text
}

// operations are what a client does beside submitting messages.
func operations() []clientScenario {
	return []clientScenario{
		{"data_sm", "data_sm", func(b *clientBench) {
			p := b.bind("transceiver")
			e := p.ask(request{Do: "data", message: message{From: short, To: mobile, Text: "hello"}})
			if e.Status != 0 || e.ID == "" {
				b.t.Fatalf("got %+v", e)
			}
			line := <-b.smsc.record.lines
			if field(line, "short_message") != "hello" && field(line, "message_payload") != "hello" {
				b.t.Errorf("the SMSC got %s", line)
			}
		}},
		{"submit_multi", "submit_multi", func(b *clientBench) {
			p := b.bind("transceiver")
			to := []string{mobile, "46700000002", "46700000003"}
			if e := p.ask(request{Do: "multi", Many: to, message: message{From: short, Text: "hello"}}); e.Status != 0 || e.ID == "" {
				b.t.Fatalf("got %+v", e)
			}
			got := map[string]bool{}
			for range to {
				got[field(b.arrives(), "destination_addr")] = true
			}
			for _, number := range to {
				if !got[number] {
					b.t.Errorf("%s got nothing", number)
				}
			}
		}},
		{"query", "operations", func(b *clientBench) {
			p := b.bind("transceiver")
			id := p.waits()
			if e := p.ask(request{Do: "query", ID: id, message: message{From: short}}); e.Status != 0 || e.State != 1 {
				b.t.Errorf("got %+v", e)
			}
		}},
		{"replace", "operations", func(b *clientBench) {
			p := b.bind("transceiver")
			id := p.waits()
			if e := p.ask(request{Do: "replace", ID: id, message: message{From: short, Text: "anew"}}); e.Status != 0 {
				b.t.Errorf("got %+v", e)
			}
		}},
		{"cancel", "operations", func(b *clientBench) {
			p := b.bind("transceiver")
			id := p.waits()
			if e := p.ask(request{Do: "cancel", ID: id, message: message{From: short, To: parked}}); e.Status != 0 {
				b.t.Errorf("got %+v", e)
			}
			if e := p.ask(request{Do: "cancel", ID: id, message: message{From: short, To: parked}}); e.Status == 0 {
				b.t.Error("a message was cancelled twice")
			}
		}},
		{"keep-alive of the library", "keep-alive", func(b *clientBench) {
			if e := b.bind("transceiver").ask(request{Do: "enquire"}); e.Status != 0 || e.Error != "" {
				b.t.Errorf("got %+v", e)
			}
		}},
		{"keep-alive of the gateway", "keep-alive", func(b *clientBench) {
			p := b.bind("transceiver")
			alive := []string{" < enquire_link_resp "}
			if b.row.protocol == "ucp" {
				alive = []string{" < op31_result "}
			}
			within(b.t, "the library answers", func() bool { return b.gateway.logged("clients", alive...) })
			p.submits("hello")
		}},
		{"unbind", "unbind", func(b *clientBench) {
			if e := b.bind("transceiver").ask(request{Do: "unbind"}); e.Status != 0 || e.Error != "" {
				b.t.Errorf("got %+v", e)
			}
			if b.row.protocol == "smpp" {
				within(b.t, "the library has logged out", func() bool { return b.gateway.logged("clients", " > unbind_resp ") })
			}
		}},
	}
}

// waits submits a message that cannot leave by the library.
func (p *client) waits() (id string) {
	p.t.Helper()
	e := p.ask(request{Do: "submit", message: message{From: short, To: parked, Text: "later"}})
	if e.Status != 0 || e.ID == "" {
		p.t.Fatalf("got %+v", e)
	}
	return e.ID
}

// gsm returns the text of octets with a septet each.
func gsm(octets string) string {
	b, _ := charset.Charset{}.Decode(nil, []byte(octets))
	return string(b)
}

// ucs2 returns the text of octets of UTF-16.
func ucs2(octets string) string {
	var units []uint16
	for i := 0; i+1 < len(octets); i += 2 {
		units = append(units, uint16(octets[i])<<8|uint16(octets[i+1]))
	}
	return string(utf16.Decode(units))
}

// wide returns a text in UTF-16, as a field of a line.
func wide(text string) string {
	var b []byte
	for _, u := range utf16.Encode([]rune(text)) {
		b = append(b, byte(u>>8), byte(u))
	}
	return octets(b)
}

// octets returns octets as a field of a line.
func octets(b []byte) string {
	var s strings.Builder
	for i := range b {
		fmt.Fprintf(&s, `\x%s`, hex.EncodeToString(b[i:i+1]))
	}
	return `"` + s.String() + `"`
}
