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
func priced(t *testing.T, mode string) *place { return pricedBy(t, mode, "split8", toOperator) }

// pricedBy is priced with an SMSC that gets long texts in a way, and routes to it.
func pricedBy(t *testing.T, mode, long, routes string) *place {
	t.Helper()
	file := filepath.Join(t.TempDir(), "prices.csv")
	if err := os.WriteFile(file, []byte("+46700,0.01\n+46701,0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := newPlace(t, "no_route: park\nprices: [{name: p, currency: EUR, file: "+file+"}]", "prices: p, balance: {mode: "+mode+"}", "long_messages: "+long, routes)
	p.Use(p.steps[1:]) // behind the rate
	return p
}

// A text costs by its length, in price and rate, whichever way it leaves, and may not have more short messages than its account allows.
func TestCreditOfLength(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"split8", "split16", "sar", "auto", "pass", "payload", "parked"} {
		long, routes := way, toOperator
		if way == "parked" {
			long, routes = "auto", "[{destination: \"47\", to: operator}]"
		}
		p := pricedBy(t, "postpaid, limit: \"100\"", long, routes)
		c := &p.node.Origins.Of("client", "clients").Tally.Credit
		for _, one := range []struct {
			octets   int
			alphabet sms.Alphabet
			header   bool
			shorts   int // 0: refused
		}{
			{octets: 160, shorts: 1}, {octets: 161, shorts: 2}, {octets: 254, shorts: 2}, {octets: 1500, shorts: 10}, {octets: 1531},
			{octets: 15_000}, {octets: 60_000, alphabet: sms.UCS2}, {octets: 140, alphabet: sms.UCS2, shorts: 1},
			{octets: 142, alphabet: sms.UCS2, shorts: 2}, {octets: 159, header: true, shorts: 1},
		} {
			_, before := c.Balance()
			s := p.submission(Submitted, sms.Submit, func(m *sms.Message) {
				text := []byte(strings.Repeat("\x00a", one.octets/2+1)[:one.octets])
				if one.alphabet != sms.UCS2 {
					text = []byte(strings.Repeat("a", one.octets))
				}
				if m.Alphabet = one.alphabet; one.header {
					m.Flags |= sms.HasHeader
					copy(text, "\x05\x00\x03\x01\x02\x01")
				}
				m.Set(sms.Address{Addr: []byte("1234")}, sms.Address{TON: 1, Addr: []byte("46700000001")}, text)
			})
			code := p.TakeWaiting(now, s)
			_, reserved := c.Balance()
			if want := sms.Money(one.shorts) * 10_000; reserved-before != want || (code == sms.OK) != (one.shorts > 0) {
				t.Errorf("%s, %+v: %s, reserved %s, not %s", way, one, code, reserved-before, want)
			}
			if code != sms.OK {
				if code != sms.BadLength {
					t.Errorf("%s, %+v: %s", way, one, code)
				}
				continue
			}
			if s.Shorts() != one.shorts {
				t.Errorf("%s, %+v: %d short messages", way, one, s.Shorts())
			}
			s.Drop()
			if _, left := c.Balance(); left != before {
				t.Errorf("%s, %+v: %s stays reserved", way, one, left-before)
			}
		}
	}
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
		i.Undo(s.From, a, sms.SystemError)
		want(sms.Money(20_000 - 10_000*n))
	}
	if s := p.submission(Replaced, sms.Submit, func(m *sms.Message) { sms.SetPrice(m, 10_000, 1) }); fmt.Sprint(p.TakeWaiting(now, s)) != "" {
		s.Drop() // the message that stays has its reservation
	}
	want(0)
}
