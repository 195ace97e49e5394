package intake

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pmg/gateway/keep"
	"pmg/sms"
)

// priced is an account that pays 0.01 for messages to numbers that begin with 46700, and nothing for those to 46701.
func priced(t *testing.T, mode string) *place {
	t.Helper()
	file := filepath.Join(t.TempDir(), "prices.csv")
	if err := os.WriteFile(file, []byte("+46700,0.01\n+46701,0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := newPlace(t, "prices: [{name: p, currency: EUR, file: "+file+"}]", "prices: p, balance: {mode: "+mode+"}", "long_messages: split8", toOperator)
	p.Steps = p.Steps[1:] // behind the rate
	return p
}

// A message is refused without a price, or without the money for all of its parts; what says why names what is missing. What was
// reserved for one that is not accepted is given back, once.
func TestCredit(t *testing.T) {
	t.Parallel()
	p := priced(t, "prepaid")
	c := &p.node.Origins.Of("client", "clients").Tally.Credit
	c.Pay(35_000)
	take := func(to, text string, preview bool) (*Submission, sms.Code) {
		s := p.submission(Submitted, sms.Submit, func(m *sms.Message) {
			m.Set(sms.Address{Addr: []byte("1234")}, sms.Address{TON: 1, Addr: []byte(to)}, []byte(text))
		})
		s.Preview = preview
		code := p.TakeWaiting(now, s)
		return s, code
	}
	want := func(reserved sms.Money) {
		t.Helper()
		if balance, got := c.Balance(); balance != 35_000 || got != reserved {
			t.Errorf("balance %s, reserved %s, not %s", balance, got, reserved)
		}
	}
	long := strings.Repeat("a", 400) // three parts
	if s, code := take("45700000001", "a", false); code != sms.NoPrice || !strings.Contains(s.Why(), "there is no price for network unknown in the list of prices p") {
		t.Errorf("without a price: %s, %q", code, s.Why())
	}
	if s, code := take("46701000001", long, false); code != sms.OK || sms.PriceOf(s.Message) != 0 {
		t.Errorf("for nothing: %s", code)
	}
	want(0)
	s, code := take("46700000001", long, false)
	if code != sms.OK || sms.PriceOf(s.Message) != 10_000 {
		t.Errorf("for 0.03: %s, %s", code, sms.PriceOf(s.Message))
	}
	want(30_000)
	if s, code := take("46700000001", "a", false); code != sms.NoCredit || !strings.Contains(s.Why(), "0.005 EUR are missing") {
		t.Errorf("for more than is left: %s, %q", code, s.Why())
	}
	if _, code := take("46700000001", "a", true); code != sms.OK {
		t.Errorf("as a preview: %s", code)
	}
	want(30_000)
	s.Drop()
	want(0)
	if s, code = take("46700000001", long, false); code != sms.OK {
		t.Fatal(code)
	}
	i := p.NewIntake(1)
	first, more, _ := i.Enter(now, s.Accepted(), nil)
	sum := sms.PriceOf(first.Message)
	for _, a := range more {
		sum += sms.PriceOf(a.Message)
	}
	if len(more) != 2 || sum != 30_000 {
		t.Errorf("%d parts more, %s", len(more), sum)
	}
	want(30_000)
	for n, a := range append([]keep.Accepted{first}, more...) {
		i.Undo(s.From, a)
		want(sms.Money(20_000 - 10_000*n))
	}
	if s := p.submission(Replaced, sms.Submit, func(m *sms.Message) { sms.SetPrice(m, 10_000) }); fmt.Sprint(p.TakeWaiting(now, s)) != "" {
		s.Drop() // the message that stays has its reservation
	}
	want(0)
}
