package peers

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// fate returns the state that message n of an account comes to, which differs between messages
// whose ids are alike.
func fate(account string, n int) string {
	return []string{"DELIVRD", "UNDELIV", "EXPIRED"}[(n+n/16+len(account)+int(account[0]))%3]
}

// receiptLine returns a receipt of the test's own SMSC for a submit. It goes to the submit's
// sender.
func receiptLine(seq int, submit, id, state string) string {
	return fmt.Sprintf(`deliver_sm seq=%d source_addr_ton=1 source_addr_npi=1 source_addr=%s destination_addr=%s esm_class=4 `+
		`short_message="id:%s sub:001 dlvrd:001 submit date:2611221200 done date:2611221200 stat:%s err:000 text:"`,
		seq, field(submit, "destination_addr"), field(submit, "source_addr"), id, state)
}

// receiptText finds what matters in the text of a receipt.
func receiptText() *regexp.Regexp {
	return regexp.MustCompile(`id:(\S+) .*stat:(\w+)`)
}

// A ledger compares the receipts of an account with its messages.
type ledger struct {
	mu      sync.Mutex
	account string
	want    map[string]string // state by the id in the answer
	got     map[string]string // state by the id in the receipt
	twice   int
	coarse  bool // all states but DELIVRD are alike
}

func newLedger(account string) *ledger {
	return &ledger{account: account, want: map[string]string{}, got: map[string]string{}}
}

// submitted records the answer to message n.
func (l *ledger) submitted(n int, id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.want[id] = fate(l.account, n)
}

// receipt records a receipt by its text.
func (l *ledger) receipt(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	m := receiptText().FindStringSubmatch(text)
	if m == nil {
		m = []string{"", text, "?"}
	}
	if l.got[m[1]] != "" {
		l.twice++
	}
	l.got[m[1]] = m[2]
}

func (l *ledger) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.got) + l.twice
}

// right returns how many messages have their receipt, and says what is wrong.
func (l *ledger) right(t testing.TB) (n int) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	foreign, wrong := 0, 0
	for id, state := range l.got {
		if l.coarse && l.want[id] != "" && l.want[id] != "DELIVRD" && state == "UNDELIV" {
			state = l.want[id]
		}
		switch l.want[id] {
		case "":
			foreign++
		case state:
			n++
		default:
			wrong++
		}
	}
	if n != len(l.want) || foreign+l.twice > 0 {
		t.Errorf("%s: of %d messages %d have their receipt, %d one with another state, %d none; %d receipts are of no message of the account, %d came again",
			l.account, len(l.want), n, wrong, len(l.want)-n-wrong, foreign, l.twice)
	}
	return n
}

// receipts are about what an SMSC says of messages that it has accepted.
func receipts() []clientScenario {
	return []clientScenario{
		{"ids from 1, one recipient, two accounts", "receipts", func(b *clientBench) { b.receipts(300) }},
	}
}

// receipts submits messages to one recipient, by the library and by the test's own client. The SMSC
// counts from 1, and its receipt is right behind its answer.
func (b *clientBench) receipts(messages int) {
	b.t.Helper()
	b.smsc.play(b.t, func(n int, line string) []string {
		account, number, _ := strings.Cut(field(line, "short_message"), " ")
		i, err := strconv.Atoi(number)
		if err != nil {
			return nil
		}
		return []string{receiptLine(1000+n, line, strconv.Itoa(n), fate(account, i))}
	})
	mine, others := newLedger("acme"), newLedger("bcme")
	mine.coarse = b.row.protocol == "ucp"
	p := b.bind("transceiver")
	other, _ := bindClient(b.t, b.gateway.others, "bcme", func(line string) { others.receipt(field(line, "short_message")) })
	var requests []string
	var begun []int
	for n := range messages {
		begun = append(begun, p.start(request{Do: "submit", message: message{From: short, To: mobile, Text: fmt.Sprint("acme ", n), Registered: 1}}))
		requests = append(requests, fmt.Sprintf(`submit_sm source_addr=1234 destination_addr=%s registered_delivery=1 short_message="bcme %d"`, mobile, n))
	}
	answers := other.request(requests...)
	for n := range messages {
		others.submitted(n, field(answerOf(b.t, answers[n]), "message_id"))
		mine.submitted(n, p.done(begun[n]).ID)
	}
	for range messages {
		mine.receipt(p.next("deliver").Text)
	}
	within(b.t, "the other account has its receipts", func() bool { return others.count() >= messages })
	mine.right(b.t)
	others.right(b.t)
	for range 2 * messages {
		b.smsc.record.next(b.t, "submit_sm")
	}
}

// mo returns a message of a mobile to the library. fields come before the text.
func mo(fields, text string) string {
	return fmt.Sprintf(`deliver_sm source_addr_ton=1 source_addr_npi=1 source_addr=%s destination_addr=%s %s short_message=%q`, mobile, short, fields, text)
}

// moRaw is mo with a text as it is written in a pdu log.
func moRaw(fields, text string) string {
	return strings.TrimSuffix(mo(fields, ""), `""`) + text
}

// originated are the kinds of messages that mobiles send.
func originated() []clientScenario {
	one := func(name, request, text string) clientScenario {
		return clientScenario{name, "messages of mobiles", func(b *clientBench) {
			p := b.bind("transceiver")
			b.smsc.deliver(b.t, request)
			p.gets(text)
		}}
	}
	long := strings.Repeat("0123456789", 30)
	return []clientScenario{
		one("plain message", mo("", "hello"), "hello"),
		one("message with GSM characters", moRaw("", `"price \x1b<12\x1b> \x1b(\x1be\x1b)"`), escapes),
		one("UCS-2 message", moRaw("data_coding=8", wide(plane)), plane),
		one("flash message", mo("data_coding=240", "now"), "now"),
		one("sender with a name", strings.Replace(mo("", "hello"), "source_addr_ton=1 source_addr_npi=1 source_addr="+mobile, "source_addr_ton=5 source_addr=Acme", 1), "hello"),
		one("message with message_payload", strings.Replace(mo("", long), "short_message=", `short_message="" message_payload=`, 1), long),
		one("message by data_sm", fmt.Sprintf(`data_sm source_addr_ton=1 source_addr_npi=1 source_addr=%s destination_addr=%s message_payload="hello"`, mobile, short), "hello"),
		{"message in parts", "messages of mobiles", func(b *clientBench) {
			p := b.bind("transceiver")
			for n, text := range []string{"first ", "second"} {
				b.smsc.deliver(b.t, moRaw("esm_class=64", fmt.Sprintf(`"\x05\x00\x03\x07\x02\x%02x%s"`, n+1, text)))
			}
			first := p.next("deliver")
			if first.Text == "first second" { // the library has joined them
				return
			}
			second := p.next("deliver")
			if first.Text != "first " || second.Text != "second" {
				b.t.Errorf("the library got %+v and %+v", first.message, second.message)
			}
		}},
	}
}
