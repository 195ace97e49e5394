package e2e

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/gateway/credit"
	"pmg/internal/testkit/testutil"
	"pmg/sms"
)

// priced is a site with the account shop, which pays 0.045 for a short message before.
func priced(t *testing.T) (s site, events string) {
	t.Helper()
	prices := filepath.Join(t.TempDir(), "prices.csv")
	if err := os.WriteFile(prices, []byte("for,price\n*,0.045\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	events = filepath.Join(t.TempDir(), "events")
	return site{
		operator: newSMSC(t), store: vfs.NewCrashableMem(), more: withAPI, out: "window: 3, retry: [1ms, repeat]",
		top:      eventsIn(events) + "prices: [{name: standard, currency: EUR, file: " + prices + "}]\n",
		accounts: "{system_id: shop, password: s3cret, prices: standard, balance: {mode: prepaid, low: 0.05}}\n",
	}, events
}

// pays adds a payment of the account shop.
func (g *gw) pays(amount, reference string) {
	g.t.Helper()
	m, _ := sms.ReadMoney(amount)
	if _, err := g.Intake.Credit.Pay("shop", m, credit.Payment{Reference: reference}); err != nil {
		g.t.Fatal(err)
	}
}

// wantBalance waits until the account shop has a balance of which so much is reserved.
func (g *gw) wantBalance(balance, reserved string) {
	g.t.Helper()
	var got string
	testutil.Eventually(g.t, "the balance is "+balance+", reserved "+reserved, func() bool {
		b, r := g.Node.Origins.TallyOf("shop").Credit.Balance()
		got = b.String() + " " + r.String()
		return g.Keeper.Recovered() && got == balance+" "+reserved
	})
}

func (g *gw) shop() *api {
	a := g.api()
	a.name = "shop"
	return a
}

const oneShort = `{"from":"1234","to":"+46700000001","text":"hello","receipt":"none"}`

// What is paid can be spent once, by whoever submits at the same time and over power cuts. What an SMSC does not accept is given back.
func TestBalance(t *testing.T) {
	parallel(t)
	s, events := priced(t)
	s.operator.down() // so that messages wait
	g := start(t, s)
	g.shop().do("POST", "/v1/messages", oneShort).want(t, 402, "no-credit")
	g.pays("0.225", "invoice 1")
	if _, err := g.Intake.Credit.Pay("shop", 1, credit.Payment{Reference: "invoice 1"}); !errors.Is(err, credit.ErrTwice) {
		t.Errorf("the same payment twice: %v", err)
	}
	var accepted, refused atomic.Int64
	var all sync.WaitGroup
	for range 6 {
		a := g.shop()
		all.Go(func() {
			for range 4 {
				switch r := a.do("POST", "/v1/messages", oneShort); r.status {
				case 202:
					accepted.Add(1)
				case 402:
					refused.Add(1)
				}
			}
		})
	}
	all.Wait()
	if accepted.Load() != 5 || refused.Load() != 19 {
		t.Errorf("%d accepted, %d refused", accepted.Load(), refused.Load())
	}
	g.wantBalance("0.225", "0.225")
	g = g.powerCut(&s)
	g.wantBalance("0.225", "0.225")
	smsc := s.operator.session()
	for i := range 5 {
		status := 0
		if i%2 == 1 {
			status = 0x0b
		}
		smsc.answer(status, field(smsc.want("submit_sm"), "seq"))
	}
	g.wantBalance("0.09", "0.00")
	g.settled()
	g = g.powerCut(&s, smsc)
	g.wantBalance("0.09", "0.00")
	long := strings.Replace(oneShort, "hello", strings.Repeat("a", 170), 1)
	g.shop().do("POST", "/v1/messages", strings.Replace(oneShort, "hello", strings.Repeat("a", 330), 1)).want(t, 402, "no-credit")
	r := g.shop().do("POST", "/v1/messages", long)
	r.want(t, 202, "")
	g.wantBalance("0.09", "0.09")
	g.shop().do("POST", "/v1/messages", oneShort).want(t, 402, "no-credit")
	if b := g.shop().do("GET", "/v1/account", "").body; !strings.Contains(b, `"balance":{"balance":"0.09","reserved":"0.09","available":"0.00"}`) {
		t.Error(b)
	}
	smsc = s.operator.session()
	for range 2 {
		smsc.answer(0, field(smsc.want("submit_sm"), "seq"))
	}
	g.wantBalance("0.00", "0.00")
	g.settled()
	smsc.conn.Close()
	g.stop()
	sent := 0
	for _, e := range readEvents(t, events) {
		if (e.State == "sent") != (e.Price == "0.045") {
			t.Errorf("%+v", e)
		}
		if e.Price != "" {
			sent++
		}
	}
	if sent != 5 {
		t.Errorf("%d were charged", sent)
	}
	if n := g.log.count("the balance of an account is low"); n != 1 {
		t.Errorf("%d lines say that the balance is low", n)
	}
}

// Over power cuts under load the balance, what is reserved and what was charged are what was paid, to the last unit.
func TestBalanceOverPowerCuts(t *testing.T) {
	parallel(t)
	s, events := priced(t)
	s.out += ", on_unknown: resend"
	g := start(t, s)
	paid := sms.Money(0)
	for cut := range 6 {
		g.pays("0.45", fmt.Sprint("invoice ", cut))
		paid += 450_000
		smsc := s.operator.session()
		var all sync.WaitGroup
		for range 3 {
			a := g.shop()
			all.Go(func() {
				for range 5 {
					a.do("POST", "/v1/messages", oneShort)
				}
			})
		}
		for i := range 4 + cut%3 {
			smsc.answer([]int{0, 0, 0x0b}[i%3], field(smsc.want("submit_sm"), "seq"))
		}
		all.Wait()
		g = g.powerCut(&s, smsc)
		testutil.Eventually(t, "the messages are there", func() bool { return g.Keeper.Recovered() })
		balance, reserved := g.Node.Origins.TallyOf("shop").Credit.Balance()
		if want := sms.Money(g.Pending()) * 45_000; reserved != want || balance < reserved {
			t.Errorf("cut %d: balance %s, reserved %s, and %s wait", cut, balance, reserved, want)
		}
	}
	smsc := s.operator.session()
	for range g.Pending() {
		smsc.answer(0, field(smsc.want("submit_sm"), "seq"))
	}
	g.settled()
	balance, reserved := g.Node.Origins.TallyOf("shop").Credit.Balance()
	smsc.conn.Close()
	g.stop()
	// The files of events are not cut: what ended between the copy of the store and the end of its gateway has two events there.
	last := map[string]string{}
	for _, e := range readEvents(t, events) {
		last[e.ID] = e.Price
	}
	charged := sms.Money(0)
	for _, price := range last {
		m, _ := sms.ReadMoney(price)
		charged += m
	}
	if reserved != 0 || balance+charged != paid {
		t.Errorf("paid %s, charged %s, the balance is %s, reserved %s", paid, charged, balance, reserved)
	}
}

// An account that pays for what is delivered gets the rest back, once for each message, whether or not its client wants receipts, and
// over power cuts. Its SMSC is asked for receipts of failures.
func TestChargeDelivered(t *testing.T) {
	parallel(t)
	s, events := priced(t)
	s.accounts = strings.Replace(s.accounts, "low: 0.05", "charge: delivered, month: 0.27", 1)
	g := start(t, s)
	g.pays("1", "invoice 1")
	smsc := s.operator.session()
	one := func(id, registered string) {
		t.Helper()
		line := smsc.want("submit_sm", "registered_delivery="+registered)
		smsc.send(fmt.Sprintf("submit_sm_resp seq=%s status=0 message_id=%s", field(line, "seq"), id))
	}
	g.shop().do("POST", "/v1/messages", oneShort).want(t, 202, "")
	one("a1", "2")
	g.wantBalance("0.955", "0.00")
	g.settled()
	smsc.receipt(101, "a1", "UNDELIV")
	g.wantBalance("1.00", "0.00")
	g = g.powerCut(&s, smsc)
	smsc = s.operator.session()
	smsc.receipt(102, "a1", "UNDELIV")
	g.wantBalance("1.00", "0.00")
	g.shop().do("POST", "/v1/messages", oneShort).want(t, 202, "")
	one("b2", "2")
	g.wantBalance("0.955", "0.00")
	smsc.receipt(103, "b2", "DELIVRD")
	long := strings.Replace(oneShort, "hello", strings.Repeat("a", 200), 1)
	g.shop().do("POST", "/v1/messages", strings.Replace(long, "none", "final", 1)).want(t, 202, "")
	one("c3", "1")
	one("c4", "1")
	g.wantBalance("0.865", "0.00")
	smsc.receipt(104, "c3", "DELIVRD")
	smsc.receipt(105, "c4", "EXPIRED")
	smsc.receipt(106, "c4", "EXPIRED")
	g.wantBalance("0.91", "0.00")
	g = g.powerCut(&s, smsc)
	smsc = s.operator.session()
	smsc.receipt(107, "c4", "UNDELIV")
	smsc.receipt(108, "c3", "UNKNOWN")
	g.wantBalance("0.91", "0.00")
	r := g.shop().do("POST", "/v1/messages", strings.Replace(oneShort, "hello", strings.Repeat("a", 400), 1))
	r.want(t, 402, "no-credit") // 0.18 of the month's 0.27 were charged
	if !strings.Contains(r.body, "may not spend more this month (balance.month): 0.045 EUR are missing") {
		t.Error(r.body)
	}
	smsc.conn.Close()
	g.stop()
	charged, back := sms.Money(0), sms.Money(0)
	for _, e := range readEvents(t, events) {
		price, _ := sms.ReadMoney(e.Price)
		refund, _ := sms.ReadMoney(e.Refund)
		charged, back = charged+price, back+refund
	}
	if charged.String() != "0.18" || back.String() != "0.09" {
		t.Errorf("charged %s, given back %s", charged, back)
	}
}
