package peers

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// An smscBench is a library that is the SMSC of a gateway, whose clients are the test's own.
type smscBench struct {
	t       testing.TB
	row     *peer
	gateway *gateway
	start   func() library // at the address that the gateway dials
}

// An smscScenario is what an SMSC does, and what must come of it at both ends. It has a gateway
// of its own, because what a gateway has learned of an SMSC is not forgotten.
type smscScenario struct {
	name, column string
	options      string // of the gateway's connector
	run          func(b *smscBench)
}

func smscScenarios() []smscScenario {
	all := []smscScenario{
		{"login", "bind", "", func(b *smscBench) {
			s := b.smsc()
			if e := s.login; e.Name != "pmg" || e.Password != "secret" {
				b.t.Errorf("got %+v", e)
			}
		}},
		{"plain", "submits", "", func(b *smscBench) { b.takes(`short_message="hello"`, "hello") }},
		{"GSM characters", "submits", "", func(b *smscBench) { b.takes(`short_message="price \x1b<12\x1b> \x1b(\x1be\x1b)"`, escapes) }},
		{"UCS-2", "submits", "", func(b *smscBench) { b.takes("data_coding=8 short_message="+wide(plane), plane) }},
		{"parts", "submits", "", func(b *smscBench) { b.takes(`esm_class=64 short_message="\x05\x00\x03\x07\x02\x01hello"`, "hello") }},
		{"binary", "submits", "", func(b *smscBench) {
			if e := b.takes(`data_coding=4 short_message="\x00\xff\x1b\x80"`, ""); e.Octets != "00ff1b80" {
				b.t.Errorf("the library got %+v", e.message)
			}
		}},
		{"message_payload", "submits", "", func(b *smscBench) {
			b.takes(`short_message="" message_payload="`+strings.Repeat("0123456789", 30)+`"`, strings.Repeat("0123456789", 30))
		}},
		{"messages of mobiles", "messages of mobiles", "", func(b *smscBench) {
			s := b.smsc()
			_, got := bindClient(b.t, b.gateway.others, "acme", nil)
			for _, m := range []message{{Text: "hello"}, {Text: plane, Coding: 8}} {
				m.From, m.To = mobile, short
				if e := s.ask(request{Do: "deliver", message: m}); e.Status != 0 {
					b.t.Errorf("the delivery was answered %+v", e)
				}
				text := field(got.next(b.t, "deliver_sm"), "short_message")
				if m.Coding == 8 {
					text = ucs2(text)
				}
				if text != m.Text {
					b.t.Errorf("the client got %q, want %q", text, m.Text)
				}
			}
		}},
		{"throttles every tenth", "faults", "", func(b *smscBench) {
			b.arrive(50, func(s *smsc, n int, e event) bool {
				if n%10 == 9 {
					s.answer(e, 0x58, "")
					return false
				}
				s.answer(e, 0, strconv.Itoa(n))
				return true
			})
		}},
		{"has a full queue now and then", "faults", "", func(b *smscBench) {
			b.arrive(50, func(s *smsc, n int, e event) bool {
				if n%3 == 1 {
					s.answer(e, 0x14, "")
					return false
				}
				s.answer(e, 0, strconv.Itoa(n))
				return true
			})
		}},
		{"refuses for good", "faults", "", func(b *smscBench) {
			s := b.smsc()
			c, got := bindClient(b.t, b.gateway.others, "acme", nil)
			id := b.submit(c, `registered_delivery=1 short_message="hello"`)
			s.answer(s.next("submit"), 0x0B, "")
			if line := got.next(b.t, "deliver_sm"); !has(field(line, "short_message"), "id:"+id+" ", " stat:REJECTD ") {
				b.t.Errorf("the client got %s", line)
			}
		}},
		{"closes its sessions", "faults", "", func(b *smscBench) {
			b.arrive(50, func(s *smsc, n int, e event) bool {
				if n == 20 || n == 35 {
					s.start(request{Do: "close"})
					return false
				}
				s.answer(e, 0, strconv.Itoa(n))
				return true
			})
		}},
		{"is killed and comes back", "faults", "", func(b *smscBench) {
			b.arrive(50, func(s *smsc, n int, e event) bool {
				if n == 20 {
					s.lib.close()
					s.lib, s.had = b.start(), nil
					return false
				}
				s.answer(e, 0, strconv.Itoa(n))
				return true
			})
		}},
		{"keep-alive of the gateway", "keep-alive", "enquire_interval: 100ms", func(b *smscBench) {
			b.smsc()
			within(b.t, "the library answers", func() bool { return b.gateway.logged("operator", " < enquire_link_resp ") })
		}},
		{"keep-alive of the library", "keep-alive", "", func(b *smscBench) {
			if e := b.smsc().ask(request{Do: "enquire"}); e.Status != 0 {
				b.t.Errorf("got %+v", e)
			}
		}},
		{"query", "operations", "operations: true", func(b *smscBench) { b.operates("query_sm") }},
		{"cancel", "operations", "operations: true", func(b *smscBench) { b.operates("cancel_sm") }},
		{"unbind", "unbind", "", func(b *smscBench) {
			s := b.smsc()
			if err := b.gateway.stop(b.t); err != nil {
				b.t.Errorf("the gateway ended with %v", err)
			}
			s.next("unbind")
		}},
	}
	for _, form := range forms() {
		all = append(all, smscScenario{"ids: " + form.name, "receipts", "", func(b *smscBench) { b.ids(form) }})
	}
	return all
}

// An smsc is a library to which the gateway has bound.
type smsc struct {
	peerEnd
	login event
}

// smsc starts the library, and waits for the gateway's login.
func (b *smscBench) smsc() *smsc {
	b.t.Helper()
	s := &smsc{peerEnd: peerEnd{t: b.t, lib: b.start()}}
	s.login = s.next("bound")
	within(b.t, "the gateway has bound", func() bool { return strings.Contains(b.gateway.log.String(), `"message":"bound"`) })
	return s
}

// answer answers a request of the gateway.
func (s *smsc) answer(e event, status int, id string) {
	s.start(request{Do: "answer", Key: e.Key, Status: status, ID: id})
}

// takes submits a message of a client, of which the library must make a text. It returns what the
// library got.
func (b *smscBench) takes(fields, text string) event {
	b.t.Helper()
	s := b.smsc()
	c, _ := bindClient(b.t, b.gateway.others, "acme", nil)
	b.submit(c, fields)
	e := s.next("submit")
	s.answer(e, 0, "1")
	if e.From != short || e.To != mobile || text != "" && e.Text != text {
		b.t.Errorf("the library got %+v, want %q", e.message, text)
	}
	return e
}

// submit submits a message of a client, and returns its id.
func (b *smscBench) submit(c *end, fields string) (id string) {
	b.t.Helper()
	line := c.ask(b.t, fmt.Sprintf("submit_sm source_addr=%s destination_addr=%s %s", short, mobile, fields))
	if field(line, "status") != "0" {
		b.t.Fatalf("got %s", line)
	}
	return field(line, "message_id")
}

// arrive submits messages from a client until the library has accepted each. The library answers as
// take does, which reports whether it has accepted one.
func (b *smscBench) arrive(messages int, take func(s *smsc, n int, e event) bool) {
	b.t.Helper()
	s := b.smsc()
	c, _ := bindClient(b.t, b.gateway.others, "acme", nil)
	var requests []string
	for n := range messages {
		requests = append(requests, fmt.Sprintf(`submit_sm source_addr=%s destination_addr=%s short_message="%d"`, short, mobile, n))
	}
	for _, answer := range c.request(requests...) {
		if line := answerOf(b.t, answer); field(line, "status") != "0" {
			b.t.Fatalf("got %s", line)
		}
	}
	got := map[string]bool{}
	for n := 0; len(got) < messages; n++ {
		e := s.next("submit")
		if take(s, n, e) {
			got[e.Text] = true
		}
	}
}

// operates asks, as a client, for the state of a message at the library, or cancels it.
func (b *smscBench) operates(command string) {
	b.t.Helper()
	s := b.smsc()
	c, _ := bindClient(b.t, b.gateway.others, "acme", nil)
	id := b.submit(c, `short_message="hello"`)
	s.answer(s.next("submit"), 0, "abc7")
	answer := make(chan string, 1)
	ask := fmt.Sprintf("%s message_id=%s source_addr=%s", command, id, short)
	if command == "cancel_sm" {
		ask += " destination_addr=" + mobile
	}
	go func() { // until the gateway has noted the SMSC's answer, it answers itself
		for range 100 {
			line := <-c.request(ask)[0]
			if strings.HasPrefix(field(line, "message_state"), "2") || command == "cancel_sm" && field(line, "status") == "0" {
				answer <- line
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		answer <- "no answer of the SMSC"
	}()
	e := s.next("submit")
	if e.Command != command || e.ID != "abc7" {
		b.t.Fatalf("the library got %+v", e)
	}
	s.start(request{Do: "answer", Key: e.Key, ID: e.ID, State: 2})
	if line := answerOf(b.t, answer); !strings.HasPrefix(line, command+"_resp ") {
		b.t.Errorf("got %s", line)
	}
}

// A form is how an SMSC writes the ids of messages, which it counts from 1.
type form struct {
	name            string
	answer, receipt func(n int) string
	when            moment
}

// A moment is when the receipts come.
type moment int

const (
	behind   moment = iota // each right behind its answer
	before                 // each right before its answer
	reversed               // all behind the last answer, the last one first
)

// forms are six of them, and one of them at the other moments.
func forms() []form {
	decimal := func(n int) string { return strconv.Itoa(n) }
	hex := func(n int) string { return strconv.FormatInt(int64(n), 16) }
	padded := func(n int) string { return fmt.Sprintf("%010d", n) }
	paddedHex := func(n int) string { return fmt.Sprintf("%08X", n) }
	uuid := func(n int) string { return fmt.Sprintf("61ce3b96-0c94-4d1f-9f8e-%012x", n) }
	return []form{
		{"decimal", decimal, decimal, behind},
		{"decimal, in front of the answer", decimal, decimal, before},
		{"decimal, in reverse order", decimal, decimal, reversed},
		{"hexadecimal", hex, hex, behind},
		{"with zeros in front", padded, padded, behind},
		{"hexadecimal with zeros, then decimal", paddedHex, decimal, behind},
		{"decimal, then hexadecimal", decimal, hex, behind},
		{"UUID, then in capitals", uuid, func(n int) string { return strings.ToUpper(uuid(n)) }, behind},
	}
}

// ids submits 300 messages of each of two clients to one recipient. The library sends a receipt for
// each.
func (b *smscBench) ids(f form) {
	b.t.Helper()
	const messages = 300
	s := b.smsc()
	var ledgers []*ledger
	var answers [][]chan string
	var later []request // receipts
	for _, account := range []string{"acme", "bcme"} {
		l := newLedger(account)
		c, _ := bindClient(b.t, b.gateway.others, account, func(line string) { l.receipt(field(line, "short_message")) })
		var requests []string
		for n := range messages {
			requests = append(requests, fmt.Sprintf(`submit_sm source_addr=%s destination_addr=%s registered_delivery=1 short_message="%s %d"`, short, mobile, account, n))
		}
		answers, ledgers = append(answers, c.request(requests...)), append(ledgers, l)
	}
	for n := 1; n <= 2*messages; n++ {
		e := s.next("submit")
		account, number, _ := strings.Cut(e.Text, " ")
		i, err := strconv.Atoi(number)
		if err != nil {
			b.t.Fatalf("the library got %+v", e)
		}
		receipt := request{Do: "deliver", message: message{From: mobile, To: short, Class: 4, Text: fmt.Sprintf(
			"id:%s sub:001 dlvrd:001 submit date:2611221200 done date:2611221200 stat:%s err:000 text:", f.receipt(n), fate(account, i))}}
		if f.when == before {
			s.start(receipt)
		}
		s.answer(e, 0, f.answer(n))
		if f.when == behind {
			s.start(receipt)
		} else if f.when == reversed {
			later = append(later, receipt)
		}
	}
	for _, receipt := range slices.Backward(later) {
		s.start(receipt)
	}
	for a, l := range ledgers {
		for n, answer := range answers[a] {
			l.submitted(n, field(answerOf(b.t, answer), "message_id"))
		}
	}
	until := time.Now().Add(10 * time.Second)
	for ledgers[0].count() < messages || ledgers[1].count() < messages {
		if time.Now().After(until) {
			break // right says how many there are
		}
		time.Sleep(5 * time.Millisecond)
	}
	for _, l := range ledgers {
		l.right(b.t)
	}
}
