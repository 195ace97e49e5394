package statement

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pmg/events"
	"pmg/sms"
)

// A book writes events of some accounts, and their balances.
type book struct {
	t        *testing.T
	r        *rand.Rand
	number   uint64
	at       time.Time
	lines    []byte
	printer  events.Printer
	balances map[string]sms.Money
	payments map[string][]Payment
}

func newBook(t *testing.T, seed uint64, at time.Time) *book {
	return &book{
		t: t, r: rand.New(rand.NewPCG(seed, 1)), at: at, balances: map[string]sms.Money{}, payments: map[string][]Payment{},
	}
}

// accounts have names of which one is in another, and one that is escaped.
var accounts = []string{"acme", "acme2", `a"b`}

// add adds a random event, or a payment.
func (b *book) add() {
	b.at = b.at.Add(time.Duration(b.r.Int64N(int64(3 * time.Hour))))
	account := accounts[b.r.IntN(len(accounts))]
	network, _ := sms.ReadNetwork([]string{"24001", "240", "310410", ""}[b.r.IntN(4)])
	price := sms.Money(b.r.IntN(3)) * 15_001
	at := b.at.UnixNano()
	if b.r.IntN(10) == 0 {
		amount := sms.Money(b.r.IntN(3_000_000) - 500_000)
		b.balances[account] += amount
		b.payments[account] = append(b.payments[account], Payment{At: b.at.UTC(), Amount: amount, Reference: fmt.Sprint("r", b.number)})
		return
	}
	b.number++
	switch b.r.IntN(8) {
	case 0:
		b.balances[account] += 15_001
		e := events.BalanceEvent{Number: b.number, ID: b.number, Account: account, Network: network, Refund: 15_001, At: at}
		b.lines = b.printer.AppendBalance(b.lines, &e)
	case 1:
		state := []sms.State{sms.StateDelivered, sms.StateUndeliverable, sms.StateEnroute}[b.r.IntN(3)]
		e := events.Event{
			Number: b.number, Kind: sms.Receipt, Connector: "telia", ToAccount: account, Network: network, Accepted: at, Ended: at,
			Delivery: &events.Delivery{Client: 1, State: state},
		}
		b.lines = b.printer.Append(b.lines, &e)
	default:
		e := events.Event{
			Number: b.number, ID: b.number, Account: account, Connector: "clients", ToConnector: "telia", Network: network,
			Source: []byte("acme"), Accepted: at - int64(b.r.IntN(2e9)), Ended: at,
			Charge: events.Charge{Price: price, Cost: price / 3},
		}
		switch b.r.IntN(4) {
		case 0:
			e.Part, e.Parts = uint8(b.r.IntN(3)), 3
		case 1:
			e.Charge = events.Charge{Price: 3 * price, Cost: price / 3 * 3, Shorts: 3}
		case 2:
			e.State, e.Charge = events.Failed, events.Charge{}
		}
		b.balances[account] -= e.Charge.Price
		b.lines = b.printer.Append(b.lines, &e)
	}
	b.lines = append(b.lines, '\n')
}

// dir writes the events as files of a directory.
func (b *book) dir() string {
	dir := b.t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "events.log"), b.lines, 0o600); err != nil {
		b.t.Fatal(err)
	}
	return dir
}

func (b *book) ledger(account string) *Ledger {
	return &Ledger{Account: account, Timezone: "UTC", Balance: b.balances[account], Event: b.number, Payments: b.payments[account]}
}

// amount reads an amount of JSON.
func amount(t *testing.T, v any) *big.Rat {
	text, ok := v.(string)
	if !ok {
		return new(big.Rat)
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		t.Fatalf("%q is no amount", text)
	}
	return r
}

// totals are sums that this test makes of lines in its own way.
type totals struct{ opening, charged, refunded, paid, closing *big.Rat }

func totalsOf(t *testing.T, b *book, account string, p Period) totals {
	s := totals{new(big.Rat), new(big.Rat), new(big.Rat), new(big.Rat), new(big.Rat)}
	add := func(at time.Time, v *big.Rat, in *big.Rat, sign int64) {
		signed := new(big.Rat).Mul(v, big.NewRat(sign, 1))
		if at.Before(p.From) {
			s.opening.Add(s.opening, signed)
		}
		if at.Before(p.To) {
			s.closing.Add(s.closing, signed)
			if !at.Before(p.From) {
				in.Add(in, v)
			}
		}
	}
	for line := range bytes.Lines(b.lines) {
		e := map[string]any{}
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatal(err)
		}
		if e["account"] != account {
			continue
		}
		at, err := time.Parse(time.RFC3339, e["ended_at"].(string))
		if err != nil {
			t.Fatal(err)
		}
		add(at, amount(t, e["price"]), s.charged, -1)
		add(at, amount(t, e["refund"]), s.refunded, 1)
	}
	for _, one := range b.payments[account] {
		add(one.At, amount(t, one.Amount.String()), s.paid, 1)
	}
	return s
}

// The sums and the balances of months are those that a naive reader gets, whatever lies before and behind the month, and the
// lines add up to them.
func TestSums(t *testing.T) {
	t.Parallel()
	for seed := range uint64(10) {
		b := newBook(t, seed, time.Date(2026, 8, 20, 0, 0, 0, 0, time.UTC))
		for range 1500 {
			b.add()
		}
		dir := b.dir()
		for _, account := range accounts {
			before := sms.Money(0)
			for i, month := range []string{"2026-09", "2026-10", "2026-11"} { // 25 October has 25 hours in Stockholm
				p, err := Month(month, "Europe/Stockholm", b.at.Add(time.Hour))
				if err != nil {
					t.Fatal(err)
				}
				s, err := Make(t.Context(), []string{dir}, p, b.ledger(account), NoNames)
				if err != nil {
					t.Fatal(err)
				}
				want := totalsOf(t, b, account, p)
				got := totals{
					amount(t, s.Opening.String()), amount(t, s.Charged.String()), amount(t, s.Refunded.String()),
					amount(t, s.Paid.String()), amount(t, s.Closing.String()),
				}
				for _, one := range []struct {
					name      string
					got, want *big.Rat
				}{
					{"opening", got.opening, want.opening}, {"charged", got.charged, want.charged},
					{"refunded", got.refunded, want.refunded}, {"paid", got.paid, want.paid}, {"closing", got.closing, want.closing},
				} {
					if one.got.Cmp(one.want) != 0 {
						t.Errorf("seed %d, %s, %s: %s is %s, not %s", seed, account, month, one.name, one.got, one.want)
					}
				}
				if i > 0 && s.Opening != before {
					t.Errorf("seed %d, %s, %s begins with %s, the month before ended with %s", seed, account, month, s.Opening, before)
				}
				before = s.Closing
				checkLines(t, s)
			}
		}
	}
}

// checkLines checks that the lines of a statement add up to its sums.
func checkLines(t *testing.T, s *Statement) {
	t.Helper()
	sum, messages, shorts, back := sms.Money(0), int64(0), int64(0), sms.Money(0)
	for _, l := range s.Lines {
		sum, messages, shorts = sum+l.Sum, messages+l.Messages, shorts+l.Shorts
		if l.Sum != l.Price*sms.Money(l.Shorts) {
			t.Errorf("%+v", l)
		}
	}
	for _, l := range s.Refunds {
		back += l.Sum
	}
	if sum != s.Charged || messages != s.Messages || shorts != s.Shorts || back != s.Refunded || s.Net() != sum-back {
		t.Errorf("the lines are %s for %d of %d, %s back: %+v", sum, shorts, messages, back, s)
	}
}

// A price that changes in the month makes a line of its own, and long texts are charged by their short messages.
func TestLines(t *testing.T) {
	t.Parallel()
	b := newBook(t, 1, time.Time{})
	at := time.Date(2026, 11, 3, 12, 0, 0, 0, time.UTC).UnixNano()
	telia, _ := sms.ReadNetwork("24001")
	cents := func(price sms.Money, shorts uint8) events.Charge { return events.Charge{Price: price, Shorts: shorts} }
	for _, e := range []events.Event{
		{Charge: cents(45_000, 1)}, {Charge: cents(45_000, 1)}, {Charge: cents(50_000, 1)}, {Charge: cents(150_000, 3)},
		{Charge: cents(50_001, 2)}, {Charge: cents(45_000, 1), Parts: 2}, {Charge: cents(45_000, 1), Parts: 2, Part: 1},
		{Network: 1240, Charge: cents(10_000, 1)}, {Network: 1240, State: events.Failed, Reason: sms.Timeout},
		{Network: 1240, Account: "other", Charge: cents(1, 1)},
		{Kind: sms.Receipt, ToAccount: "acme", Delivery: &events.Delivery{Client: 1, State: sms.StateDelivered}},
		{Kind: sms.Receipt, ToAccount: "acme", Delivery: &events.Delivery{Client: 1, State: sms.StateExpired}},
	} {
		b.number++
		e.Number, e.Accepted, e.Ended = b.number, at, at+int64(2*time.Second)
		if e.Network == 0 {
			e.Network = telia
		}
		if e.Kind == sms.Submit && e.Account == "" {
			e.Account, e.ToConnector = "acme", "telia"
		}
		b.lines = append(b.printer.Append(b.lines, &e), '\n')
	}
	p, err := Month("2026-11", "UTC", time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	l := &Ledger{Account: "acme", Currency: "EUR", Timezone: "UTC", Balance: -1_000_000, Event: b.number}
	s, err := Make(t.Context(), []string{b.dir()}, p, l, func(n sms.Network) string { return map[sms.Network]string{telia: "Telia"}[n] })
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, table := range s.Tables() {
		fmt.Fprintln(&text, table.Title)
		for _, row := range table.Rows {
			fmt.Fprintln(&text, strings.Join(row, " "))
		}
	}
	const want = `Charged, in EUR
240 - - 0.01 1 1 0.01
240 24001 Telia 0.045 3 4 0.18
240 24001 Telia 0.05 2 4 0.20
240 24001 Telia 0.050001 1 1 0.050001
total    7 10 0.440001
Balance
at the beginning -0.559999
paid 0.00
charged -0.440001
given back 0.00
at the end -1.00
Sent
240 - 1 0 0 – 2s
24001 Telia 7 1 1 50.0 % 2s
`
	if text.String() != want {
		t.Errorf("%s\nwant\n%s", text.String(), want)
	}
	if s.Title() != "Statement of account acme, 2026-11-01 to 2026-11-30 (UTC)" {
		t.Error(s.Title())
	}
	var file strings.Builder
	if err := s.WriteCSV(&file); err != nil || strings.Count(file.String(), "\n") != 7 ||
		!strings.Contains(file.String(), "charge,,240,24001,Telia,0.05,2,4,-0.20,EUR,,\n") {
		t.Errorf("%v %s", err, file.String())
	}
}

// An SMSC's statement has its costs and what became of its messages, and no balance.
func TestCosts(t *testing.T) {
	t.Parallel()
	b := newBook(t, 7, time.Date(2026, 10, 20, 0, 0, 0, 0, time.UTC))
	for range 800 {
		b.add()
	}
	p, err := Month("2026-11", "UTC", b.at.Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	s, err := Make(t.Context(), []string{b.dir()}, p, &Ledger{Connector: "telia", Event: b.number}, NoNames)
	if err != nil {
		t.Fatal(err)
	}
	want, delivered := new(big.Rat), int64(0)
	for line := range bytes.Lines(b.lines) {
		e := map[string]any{}
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatal(err)
		}
		if at, err := time.Parse(time.RFC3339, e["ended_at"].(string)); err != nil || at.Before(p.From) || !at.Before(p.To) {
			continue
		}
		want.Add(want, amount(t, e["cost"]))
		if e["delivery"] == "delivered" {
			delivered++
		}
	}
	got := int64(0)
	for _, one := range s.Traffic {
		got += one.Delivered
	}
	if amount(t, s.Charged.String()).Cmp(want) != 0 || got != delivered || s.Opening != 0 || s.Closing != 0 || s.Charged == 0 {
		t.Errorf("%s, not %s; delivered %d, not %d", s.Charged, want, got, delivered)
	}
	checkLines(t, s)
	if tables := s.Tables(); tables[1].Title != "Sent" || s.Title()[:19] != "Costs of SMSC telia" {
		t.Errorf("%s: %+v", s.Title(), tables)
	}
}

// Without all events of the period and since there is no statement.
func TestMissing(t *testing.T) {
	t.Parallel()
	b := newBook(t, 3, time.Date(2026, 10, 20, 0, 0, 0, 0, time.UTC))
	for range 600 {
		b.add()
	}
	p, err := Month("2026-11", "UTC", b.at.Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(b.lines, []byte{'\n'})
	lines = lines[:len(lines)-1]
	without := func(i, j int) []byte { return bytes.Join(append(append([][]byte{}, lines[:i]...), lines[j:]...), nil) }
	first := 0
	for i := range lines {
		var l events.Line
		if l.Read(bytes.TrimSuffix(lines[i], []byte{'\n'})) && l.Ended >= p.From.UnixMicro() {
			first = i
			break
		}
	}
	for name, c := range map[string]struct {
		lines []byte
		want  string
	}{
		"all":                 {b.lines, ""},
		"first of the period": {without(0, first+1), "events of the period are not there"},
		"before it":           {without(0, first-1), ""},
		"a middle one":        {without(first+20, first+22), fmt.Sprintf("the events %d to %d are not there", first+21, first+22)},
		"the last":            {without(len(lines)-1, len(lines)), fmt.Sprintf("the events %d to %d are not there", len(lines), len(lines))},
		"none":                {nil, fmt.Sprintf("the events 1 to %d are not there", len(lines))},
	} {
		one := *b
		one.lines = c.lines
		_, err := Make(t.Context(), []string{one.dir()}, p, b.ledger("acme"), NoNames)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, not %q", name, err, c.want)
		}
	}
	one, other := *b, *b
	one.lines, other.lines = without(first+5, first+30), without(first+40, first+60)
	s, err := Make(t.Context(), []string{one.dir(), other.dir()}, p, b.ledger("acme"), NoNames)
	if err != nil {
		t.Fatal(err)
	}
	if want := totalsOf(t, b, "acme", p); amount(t, s.Charged.String()).Cmp(want.charged) != 0 {
		t.Errorf("of two nodes: %s, not %s", s.Charged, want.charged)
	}
}

// Later events than the ledger's do not count, and a reader that has ended stops.
func TestEnd(t *testing.T) {
	t.Parallel()
	b := newBook(t, 5, time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC))
	for b.number < 200 {
		b.add()
	}
	early, l := *b, b.ledger("acme")
	l.Payments = append([]Payment{}, l.Payments...)
	for b.number < 400 {
		b.add()
	}
	p, err := Month("2026-11", "UTC", b.at.Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	want, err := Make(t.Context(), []string{early.dir()}, p, l, NoNames)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Make(t.Context(), []string{b.dir()}, p, l, NoNames)
	if err != nil || got.Charged != want.Charged || got.Opening != want.Opening {
		t.Errorf("%v: %+v, not %+v", err, got, want)
	}
	if _, err := Make(t.Context(), []string{filepath.Join(t.TempDir(), "none")}, p, l, NoNames); err == nil {
		t.Error("no directory is no error")
	}
	if err := want.WriteCSV(full{}); !errors.Is(err, errFull) {
		t.Errorf("%v", err)
	}
}

var errFull = errors.New("full")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

// Months are those of their zone; one that has not ended ends now.
func TestMonth(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 30, 22, 30, 0, 0, time.UTC)
	for _, c := range []struct{ month, zone, want string }{
		{"2026-10", "UTC", "2026-10-01T00:00:00Z to 2026-11-01T00:00:00Z"},
		{"2026-10", "Europe/Stockholm", "2026-10-01T00:00:00+02:00 to 2026-11-01T00:00:00+01:00"},
		{"2026-10", "Asia/Kolkata", "2026-10-01T00:00:00+05:30 to 2026-11-01T00:00:00+05:30"},
		{"", "UTC", "2026-11-01T00:00:00Z to 2026-11-30T22:30:00Z"},
		{"", "Asia/Kolkata", "2026-12-01T00:00:00+05:30 to 2026-12-01T04:00:00+05:30"},
		{"2026-12", "UTC", "the month 2026-12 has not begun"},
		{"11-2026", "UTC", `cannot read the month "11-2026": it is written like 2026-11`},
		{"2026-11", "Nowhere/Land", `cannot find the time zone "Nowhere/Land"`},
	} {
		p, err := Month(c.month, c.zone, now)
		got := fmt.Sprintf("%s to %s", p.From.Format(time.RFC3339), p.To.Format(time.RFC3339))
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s in %s: %s, not %s", c.month, c.zone, got, c.want)
		}
	}
}
