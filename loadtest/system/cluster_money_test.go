package system

import (
	"encoding/json"
	"strings"
	"testing"

	"pmg/admin"
	"pmg/internal/testkit/testutil"
	"pmg/sms"
)

// A paid is what account two of a cluster has paid in advance.
type paid struct{ amount sms.Money }

// startMoney pays in advance.
func startMoney(t *testing.T, owner *clusterNode) *paid {
	t.Helper()
	const amount = "1000000"
	testutil.Eventually(t, "the payment is entered", func() bool {
		code, _ := ask(owner.store, "POST", "credit/add?account=two&reference=first&amount="+amount, "")
		return code == 200 || code == 409
	})
	p := &paid{}
	p.amount, _ = sms.ReadMoney(amount)
	return p
}

// compare compares the balance at the owner with what was paid, less what the events of all nodes say was charged.
func (p *paid) compare(t *testing.T, owner *clusterNode, events []string) {
	t.Helper()
	var has admin.Credit
	testutil.Eventually(t, "nothing is reserved", func() bool {
		var all []admin.Credit
		code, text := ask(owner.store, "GET", "credit?account=two", "")
		if code != 200 || json.Unmarshal([]byte(text), &all) != nil || len(all) != 1 {
			return false
		}
		has = all[0]
		reserved, _ := sms.ReadMoney(has.Reserved)
		return reserved == 0
	})
	charged := sms.Money(0)
	for _, line := range readEndings(t, events).numbers {
		var e struct{ Account, Price, Refund string }
		if json.Unmarshal(line, &e) != nil || e.Account != "two" {
			continue
		}
		price, _ := sms.ReadMoney(strings.TrimSpace(e.Price))
		refund, _ := sms.ReadMoney(e.Refund)
		charged += price - refund
	}
	if balance := amountOf(t, has.Balance); balance != p.amount-charged || charged == 0 {
		t.Errorf("paid %s, charged %s, but the balance is %s", p.amount, charged, has.Balance)
	}
	t.Logf("paid %s, charged %s, left %s", p.amount, charged, has.Balance)
}
