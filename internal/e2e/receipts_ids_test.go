package e2e

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/gateway/receipts"
	"pmg/internal/testkit/testutil"
	"pmg/store"
)

// An idForm is how an SMSC writes the number of a message in its answer and in its receipt.
type idForm struct {
	name            string
	answer, receipt func(n uint64) string
}

func idForms() []idForm {
	f := func(format string) func(uint64) string {
		return func(n uint64) string { return fmt.Sprintf(format, n) }
	}
	return []idForm{
		{"decimal", f("%d"), f("%d")}, {"hex", f("%016x"), f("%016X")}, {"hex, decimal", f("%X"), f("%010d")},
		{"decimal, hex", f("%d"), f("%x")}, {"uuid", f("61ce3b96-0c94-4d9c-8c3e-%012x"), f("61CE3B96-0C94-4D9C-8C3E-%012X")}, {"blanks", f("smsc-%d.7@x "), f("smsc-%d.7@x")},
	}
}

// A counting is an SMSC that counts its messages, all to one number, and sends a receipt of each, asked for or not.
// It knows of each what it was, and nothing of what the gateway makes of it.
type counting struct {
	idForm
	next    uint64
	order   string // behind, ahead, later, mixed
	numbers map[string]uint64
	later   []string
	seq     int
	random  *rand.Rand
}

// serve takes messages, and returns when all receipts were accepted.
func (c *counting) serve(t *testing.T, p *peer, messages int) {
	open := 0
	for taken := 0; taken < messages || open > 0; {
		line, err := p.next()
		command, _, _ := strings.Cut(line, " ")
		switch {
		case err != nil:
			t.Errorf("%d of %d messages, %d receipts are not answered: %v", taken, messages, open, err)
			return
		case command == "enquire_link":
			p.send("enquire_link_resp seq=" + field(line, "seq") + " status=0")
		case command == "deliver_sm_resp":
			open--
			if field(line, "status") != "0" {
				t.Errorf("a receipt was refused: %s", line)
			}
		case command == "submit_sm":
			taken++
			lines := c.take(line, taken == messages)
			for _, l := range lines {
				if strings.HasPrefix(l, "deliver_sm") {
					open++
				}
			}
			p.send(lines...)
		}
	}
}

// take returns what the SMSC sends because of a message.
func (c *counting) take(line string, last bool) (lines []string) {
	n := c.next
	c.next++
	c.numbers[strings.Trim(field(line, "short_message"), `"`)] = n
	c.seq++
	answer := fmt.Sprintf("submit_sm_resp seq=%s status=0 message_id=%q", field(line, "seq"), c.answer(n))
	receipt := fmt.Sprintf(`deliver_sm seq=%d source_addr=46700000001 destination_addr=1234 esm_class=4 short_message="id:%s sub:001 dlvrd:001 submit date:2511220102 done date:3511220103 stat:DELIVRD err:%03d text:x"`,
		c.seq, c.receipt(n), n%1000)
	order := c.order
	if order == "mixed" {
		order = []string{"behind", "ahead", "later"}[c.random.IntN(3)]
	}
	switch order {
	case "behind":
		lines = []string{answer, receipt}
	case "ahead":
		lines = []string{receipt, answer}
	default:
		lines = []string{answer}
		c.later = append(c.later, receipt)
		if len(c.later) > 12 {
			lines = append(lines, c.later[0])
			c.later = c.later[1:]
		}
	}
	if last {
		lines = append(lines, c.later...)
		c.later = nil
	}
	return lines
}

// submits submits messages first to last, every one of which asks for a receipt if all is set and
// every second otherwise. It returns the ids that the client knows them by, and the errors of the
// receipts that have come, by id.
func submits(t *testing.T, p *peer, name string, first, last int, all bool) (ids map[string]string, receipts map[string][]string) {
	ids, receipts = map[string]string{}, map[string][]string{}
	asked := 0
	var lines []string
	for n := first; n <= last; n++ {
		registered := 0
		if all || n%2 == 0 {
			registered = 1
			asked++
		}
		lines = append(lines, fmt.Sprintf(`submit_sm seq=%d source_addr=1234 destination_addr=46700000001 registered_delivery=%d short_message="%s%d"`, n, registered, name, n))
	}
	p.send(lines...)
	for answers := 0; answers < len(lines) || len(receipts) < asked; {
		line, err := p.next()
		switch command, _, _ := strings.Cut(line, " "); {
		case err != nil:
			t.Errorf("%s: %d answers, %d of %d receipts: %v", name, answers, len(receipts), asked, err)
			return ids, receipts
		case command == "submit_sm_resp":
			answers++
			ids[name+field(line, "seq")] = field(line, "message_id")
		case command == "deliver_sm":
			_, rest, _ := strings.Cut(line, "id:")
			_, failure, _ := strings.Cut(line, " err:")
			receipts[rest[:16]] = append(receipts[rest[:16]], failure[:3])
			p.send("deliver_sm_resp seq=" + field(line, "seq") + " status=0")
		}
	}
	return ids, receipts
}

// Every receipt reaches the client of its own message, and no other: whatever form the ids have,
// where they count from, and whether receipts come before or behind the answers.
// An SMSC that sends receipts of all messages has its own numbers as the only oracle.
func TestReceiptsByID(t *testing.T) {
	const messages = 50 // of each account
	parallel(t)
	orders := []string{"behind", "ahead", "later", "mixed"}
	for n, form := range idForms() {
		for _, i := range []int{n % 3, 3} {
			order, from := orders[i], []uint64{1, 0x1000, 95, 1}[i]
			t.Run(form.name+", "+order, func(t *testing.T) {
				s := site{operator: newSMSC(t), memory: true, accounts: "{system_id: other, password: s3cret}", routes: "{from: operator, to: {account: acme}}\n{to: operator}"}
				g := start(t, s)
				acme, smsc, other := g.bind("transceiver"), s.operator.session(), g.dial("clients")
				other.bind("transceiver", "other", "s3cret")
				c := &counting{idForm: form, next: from, order: order, numbers: map[string]uint64{}, random: rand.New(rand.NewPCG(1, 2))}
				var wg sync.WaitGroup
				wg.Go(func() { c.serve(t, smsc, 2*messages) })
				var ids [2]map[string]string
				var receipts [2]map[string][]string
				for i, p := range []*peer{acme, other} {
					wg.Go(func() { ids[i], receipts[i] = submits(t, p, []string{"acme", "other"}[i], 2, messages+1, i == 1) })
				}
				wg.Wait()
				for i := range ids {
					c.check(t, ids[i], receipts[i])
				}
				for _, p := range []*peer{acme, other} {
					p.wantNo("deliver_sm")
				}
			})
		}
	}
}

// check compares what the clients have got with what the SMSC has sent.
func (c *counting) check(t *testing.T, ids map[string]string, receipts map[string][]string) {
	wrong := 0
	for text, id := range ids {
		for _, failure := range receipts[id] {
			if n, _ := strconv.Atoi(failure); uint64(n) != c.numbers[text]%1000 || len(receipts[id]) > 1 {
				wrong++
			}
		}
		delete(receipts, id)
	}
	if wrong > 0 || len(receipts) > 0 {
		t.Errorf("%d receipts of another message, or once more; %d of messages of nobody", wrong, len(receipts))
	}
}

// The form that the option says is the only one that is looked up, from the first receipt on, and a
// reload changes it.
func TestReceiptIDsOption(t *testing.T) {
	parallel(t)
	s := site{operator: newSMSC(t), memory: true, out: "receipt_ids: decimal"}
	g := start(t, s)
	client, smsc := g.bind("transceiver"), s.operator.session()
	small, large := client.submitted(smsc, 1, "64"), client.submitted(smsc, 2, "100")
	smsc.fence()
	smsc.receipt(101, "100", "DELIVRD")
	client.wantReceipt(small, "DELIVRD")
	s.out = "receipt_ids: same"
	if err := g.reload(s); err != nil {
		t.Fatal(err)
	}
	smsc.receipt(102, "100", "DELIVRD")
	client.wantReceipt(large, "DELIVRD")
}

// A receipt whose id can be read in two ways is kept while an answer may come that it belongs to, and while
// the forms may differ.
func TestReceiptIsHeld(t *testing.T) {
	parallel(t)
	s := site{operator: newSMSC(t), memory: true}
	g := start(t, s)
	client, smsc := g.bind("transceiver"), s.operator.session()
	one := client.submitted(smsc, 1, "17")
	smsc.fence()
	smsc.receipt(101, "17", "DELIVRD")
	client.wantReceipt(one, "DELIVRD")
	two := client.submitted(smsc, 2, "18")
	three := client.submitOne(3, asks)
	seq := field(smsc.want("submit_sm"), "seq")
	smsc.receipt(102, "18", "DELIVRD") // in decimal, of the message that is under way, perhaps
	testutil.Eventually(t, "it is kept", func() bool { return g.Gateway.Keeper.Aside(store.Orphan) == 1 })
	client.fence()
	if !client.silent("deliver_sm") {
		t.Error("a guess")
	}
	smsc.send("submit_sm_resp seq=" + seq + " status=0 message_id=12")
	client.fence()
	if !client.silent("deliver_sm") {
		t.Error("a guess of two")
	}
	_, _ = two, three
}

// The known form of ids outlives a power cut: ids that can be read in two ways find their messages immediately,
// also behind answers that are under way.
func TestReceiptFormIsKept(t *testing.T) {
	parallel(t)
	s := site{operator: newSMSC(t), store: vfs.NewCrashableMem()}
	g := start(t, s)
	client, smsc := g.bind("transceiver"), s.operator.session()
	c := &counting{idForm: idForms()[2], next: 1, order: "later", numbers: map[string]uint64{}}
	var wg sync.WaitGroup
	wg.Go(func() { c.serve(t, smsc, 60) })
	ids, told := submits(t, client, "m", 2, 61, true)
	wg.Wait()
	c.check(t, ids, told)
	known := client.submitted(smsc, 100, "4D")
	g.settled()
	g = g.powerCut(&s, client, smsc)
	client, smsc = g.bind("transceiver"), s.operator.session()
	client.submitOne(101, asks)
	smsc.want("submit_sm") // which is not answered
	if f := g.Receipts.SMSCs.Forms(); len(f) != 1 || f[0] != (receipts.IDForm{Operator: "operator", Form: "decimal"}) {
		t.Errorf("forms of ids: %+v", f)
	}
	smsc.receipt(901, "77", "UNDELIV")
	client.wantReceipt(known, "UNDELIV")
}
