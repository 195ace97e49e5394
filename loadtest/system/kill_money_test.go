package system

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pmg/admin"
	"pmg/events/statement"
	"pmg/gateway/credit"
	"pmg/internal/testkit/process"
	"pmg/internal/testkit/testutil"
	"pmg/loadtest"
	"pmg/sms"
)

var moneyKills = flag.Int("money-kills", 5, "how often TestKillMoney kills the gateway")

const killMoneyConfig = `
log: {format: json}
pdulog: {enabled: false}
admin: {address: "127.0.0.1:0", socket: %q}
store: {dir: %q, ballast: 0B}
events: {dir: %q, rotate_every: 0s}
prices: [{name: standard, currency: EUR, file: %q}]
accounts: [{system_id: load, password: secret, prices: standard, balance: {mode: prepaid, charge: delivered, month: "1000000"}}]
connectors:
  - {name: clients, direction: in, address: %q, window: 100}
  - {name: operator, direction: out, address: %q, instances: 2, window: 10, max_queue: 500, queue_wait: 60s, long_messages: split8,
     system_id: pmg, password: secret, reconnect_delay: 20ms, retry: []}
routes: [{to: operator}]
`

// killPrices have other prices for some of the load's numbers, such as none.
const killPrices = "for,price\n*,0.045\n+467000001,0.000001\n+467000002,0\n+467000003,0.012345\n"

// A gateway that is killed again and again, while an account spends what it has and pays more, counts its money exactly: the balance
// is what was paid less what the events say was charged, it never was below zero, and nothing stays reserved.
func TestKillMoney(t *testing.T) {
	testutil.Long(t)
	t.Parallel()
	sink := startChargedSink(t)
	dir := process.NewStoreDir(t)
	prices := filepath.Join(t.TempDir(), "prices.csv")
	if err := os.WriteFile(prices, []byte(killPrices), 0o600); err != nil {
		t.Fatal(err)
	}
	socket := shortSocket(t)
	file := process.WriteConfig(t, fmt.Sprintf(killMoneyConfig, socket, dir, dir+"-events", prices, testutil.FreeAddress(t), sink.Addr()))
	loads := startThrottled(killLoads, 200)
	pays := startPayer(t, socket, "load")
	serve := func() *process.Process {
		p := program(t).Serve(t, file)
		e := p.Wait("listening")
		loads.to.Store(&e.Address)
		return p
	}
	for range *moneyKills {
		p := serve()
		time.Sleep(time.Duration(rand.IntN(500)) * time.Millisecond)
		p.Kill()
		for _, line := range p.Problems() {
			t.Error(line)
		}
	}
	p := serve()
	testutil.Eventually(t, "messages are sent", func() bool { return p.Status().Sent > 100 })
	loads.stop(t)
	paid := pays.stop()["load"]
	p.Settle()
	wantsNothingReserved(t, p, "load")
	sink.Close() // which may send more receipts
	if status := p.Stop(); status != 0 {
		t.Errorf("exit status %d", status)
	}
	sent, all := endsOf(t, dir+"-events")
	bills := billsIn(t, dir+"-events")
	charged, back := bills["load"].charged, bills["load"].back
	p = serve()
	end := wantsNothingReserved(t, p, "load")
	if got := amountOf(t, end.Balance); got != paid-charged+back || got < 0 || charged == 0 || back == 0 || sent == all {
		t.Errorf(
			"paid %s, charged %s, given back %s, but the balance is %s; %d of %d messages were sent", paid, charged, back, got, sent, all,
		)
	}
	var history []credit.Payment
	p.Ask("credit/history?account=load", &history)
	sum := sms.Money(0)
	for _, one := range history {
		sum += amountOf(t, one.Amount)
	}
	if sum != paid {
		t.Errorf("paid %s, and the history has %s", paid, sum)
	}
	var bill statement.Statement
	p.Ask("statement?account=load", &bill)
	if bill.Closing != amountOf(t, end.Balance) || bill.Opening == 0 && (bill.Charged != charged || bill.Refunded != back || bill.Paid != paid) ||
		bill.Opening+bill.Paid-bill.Net() != bill.Closing {
		t.Errorf("the statement is %+v", bill)
	}
	t.Logf(
		"%d kills: paid %s in %d payments, %d of them entered again; %d of %d messages sent, charged %s, given back %s, left %s; %d throttled",
		*moneyKills, paid, len(history), pays.again, sent, all, charged, back, end.Balance, loads.throttled(),
	)
}

// startChargedSink starts an SMSC that refuses some messages, and that reports some of the others as not delivered.
func startChargedSink(t *testing.T) *loadtest.Sink {
	t.Helper()
	sink, err := loadtest.StartSink(loadtest.SinkOptions{
		Listen: "127.0.0.1:0", Delay: 2 * time.Millisecond, Faults: loadtest.Faults{RefuseEvery: 7},
		Receipts: true, Receipt: loadtest.ReceiptOptions{DelayMax: 20 * time.Millisecond, Fail: 0.3},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { sink.Close() })
	return sink
}

// shortSocket returns the name of a socket, which must be short.
func shortSocket(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "pmg")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return filepath.Join(dir, "admin")
}

// throttled returns how often messages were throttled.
func (s *stubborn) throttled() (n int64) {
	for _, r := range s.results {
		n += r.Throttled
	}
	return n
}

// wantsNothingReserved waits until nothing is reserved, and returns the money of the account.
func wantsNothingReserved(t *testing.T, p *process.Process, account string) (c admin.Credit) {
	t.Helper()
	testutil.Eventually(t, "nothing is reserved", func() bool {
		var all []admin.Credit
		p.Ask("credit?account="+account, &all)
		c = all[0]
		return c.Reserved == "0.00"
	})
	return c
}

func amountOf(t *testing.T, text string) sms.Money {
	t.Helper()
	m, ok := sms.ReadMoney(text)
	if !ok {
		t.Errorf("%q is no amount", text)
	}
	return m
}

// A bill is what the events of an account say, summed up without the code of statements.
type bill struct {
	charged, back sms.Money
	lines         map[string]billLine // by network and the price of a short message
}

type billLine struct {
	messages, shorts int64
	sum              sms.Money
}

// billsIn returns what events say of money, by account. The test fails if one has a price whose message was not sent, or if a message
// was given back twice, or more than it was charged.
func billsIn(t *testing.T, dir string) map[string]*bill {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "events*"))
	if err != nil {
		t.Fatal(err)
	}
	bills := map[string]*bill{}
	prices, refunds := map[string]sms.Money{}, map[string]sms.Money{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(text) {
			var e struct {
				ID, Kind, State, Price, Refund, Account, Network string

				Shorts int64 `json:"short_messages"`
				Part   int
			}
			isFree := func() bool { return e.Kind == "submit" && e.State == "sent" && e.Price == "" } // such as reported as failed by a receipt before its answer
			if json.Unmarshal(line, &e) != nil || e.Price == "" && e.Refund == "" && !isFree() {
				continue
			}
			b := bills[e.Account]
			if b == nil {
				b = &bill{lines: map[string]billLine{}}
				bills[e.Account] = b
			}
			if isFree() {
				e.Price = "0"
			}
			if e.Price != "" {
				price, shorts := amountOf(t, e.Price), max(e.Shorts, 1)
				if prices[e.ID] += price; e.State != "sent" || price%sms.Money(shorts) != 0 {
					t.Errorf("charged though it was not sent, or for a part of a short message: %s", line)
				}
				b.charged += price
				of := fmt.Sprintf("%s %s", e.Network, price/sms.Money(shorts))
				l := b.lines[of]
				if l.shorts, l.sum = l.shorts+shorts, l.sum+price; e.Part <= 1 {
					l.messages++
				}
				b.lines[of] = l
			}
			if e.Refund != "" {
				refunds[e.ID] += amountOf(t, e.Refund)
				b.back += amountOf(t, e.Refund)
			}
		}
	}
	for id, refund := range refunds {
		if refund != prices[id] {
			t.Errorf("message %s was charged %s, and given back %s", id, prices[id], refund)
		}
	}
	return bills
}

// A payer enters payments for accounts, each again with its reference until it is answered.
type payer struct {
	t      *testing.T
	client http.Client
	ends   atomic.Bool
	again  int                  // payments that were entered more than once, and had been stored before
	paid   map[string]sms.Money // by account
	wg     sync.WaitGroup
}

// onePayment is enough for a few messages.
const onePayment = 500_000

func startPayer(t *testing.T, socket string, accounts ...string) *payer {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}
	p := &payer{t: t, client: http.Client{Timeout: testutil.Patience, Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}, paid: map[string]sms.Money{}}
	p.wg.Go(func() { p.run(accounts) })
	t.Cleanup(func() { p.ends.Store(true) })
	return p
}

// stop returns what was paid, when all is answered.
func (p *payer) stop() map[string]sms.Money {
	p.ends.Store(true)
	p.wg.Wait()
	return p.paid
}

func (p *payer) run(accounts []string) {
	for n := 0; !p.ends.Load() && !p.t.Failed(); n++ {
		for _, account := range accounts {
			for !p.pays(account, n) && !p.t.Failed() {
				time.Sleep(5 * time.Millisecond)
			}
			p.paid[account] += onePayment
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// pays enters a payment, and reports whether it is stored.
func (p *payer) pays(account string, n int) bool {
	resp, err := p.client.Post(fmt.Sprintf("http://localhost%s/credit/add?account=%s&amount=%s&reference=r%d", admin.Base, account, sms.Money(onePayment), n), "", nil)
	if err != nil {
		return false // it was killed, and the next one is asked
	}
	defer resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusOK:
	case http.StatusConflict:
		p.again++
		return true
	default:
		p.t.Errorf("a payment is answered %s", resp.Status)
		return false
	}
	var done admin.Paid
	if err := json.NewDecoder(resp.Body).Decode(&done); err != nil {
		return false // it was killed as it answered
	}
	left, balance, reserved := amountOf(p.t, done.Available), amountOf(p.t, done.Balance), amountOf(p.t, done.Reserved)
	if left < 0 || balance < 0 || reserved < 0 {
		p.t.Errorf("more is spent than there is: %+v", done.Credit)
	}
	return true
}
