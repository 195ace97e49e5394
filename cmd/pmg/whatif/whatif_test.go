package whatif

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pmg/config"
	"pmg/events"
	"pmg/protocols"
	"pmg/protocols/smpp"
)

func drivers(string, *config.Config) (protocols.Driver, error) { return smpp.New(smpp.Options{}), nil }

const gatewayYAML = `
store: {engine: memory}
prices:
  - {name: standard, currency: EUR, file: %[1]s/standard.csv}
  - {name: one, currency: EUR, file: %[1]s/one.csv}
  - {name: two, currency: EUR, file: %[1]s/two.csv}
lists: [{name: blocked, file: %[1]s/blocked.txt}]
accounts:
  - {system_id: acme, password: secret, prices: standard, block: [blocked]}
  - {system_id: 'a"b', password: secret}
connectors:
  - {name: clients, direction: in, address: "127.0.0.1:0"}
  - {name: telia, direction: out, address: "127.0.0.1:1", system_id: pmg, password: secret, costs: one}
  - {name: cheap, direction: out, address: "127.0.0.1:2", system_id: pmg, password: secret, costs: two}
routes: [%[2]s]
`

// try writes files, and answers a question about routes.
func try(t *testing.T, routes string, lines []byte, account string, days ...time.Time) *Answer {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"standard.csv": "+46,0.045\n+33,0.09\n", "one.csv": "*,0.03\n", "two.csv": "*,0.01\n", "blocked.txt": "+46700000009\n",
		"events.log": string(lines),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text := fmt.Appendf(nil, gatewayYAML, dir, routes)
	c, _, err := config.Parse(text, config.Options{})
	if err != nil {
		t.Fatal(err)
	}
	a, err := Try(t.Context(), Question{
		Config: c, Drivers: drivers, Dirs: []string{dir}, From: days[0], To: days[1], Account: account, Progress: func(int64) {},
	})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// sent returns the lines of messages that were sent by telia, to these numbers.
func sent(at time.Time, account string, numbers ...string) (lines []byte) {
	var p events.Printer
	for i, to := range numbers {
		e := events.Event{
			Number: uint64(i + 1), ID: uint64(i + 1), Account: account, Connector: "clients", ToConnector: "telia",
			Source: []byte("acme"), Destination: []byte(to), Accepted: at.UnixNano(), Ended: at.UnixNano() + 1e6,
			Charge: events.Charge{Cost: 30_000},
		}
		if account == "acme" {
			e.Charge.Price = 45_000
		}
		if i == 0 {
			e.Charge = events.Charge{Price: 3 * e.Charge.Price, Cost: 90_000, Shorts: 3}
		}
		lines = append(p.Append(lines, &e), '\n')
	}
	return lines
}

var (
	noon = time.Date(2026, 11, 3, 12, 0, 0, 0, time.UTC)
	days = []time.Time{noon.Add(-time.Hour), noon.Add(time.Hour)}
)

// With the configuration that was in force, after is before: to the millionth, and by each name.
func TestSame(t *testing.T) {
	t.Parallel()
	var numbers []string
	for i := range 5000 {
		numbers = append(numbers, fmt.Sprintf("4670%07d", 100+i))
	}
	for _, account := range []string{"acme", `a"b`} {
		a := try(t, "{to: telia}", sent(noon, account, numbers...), account, days...)
		if a.Total.Before != a.Total.After || a.Moved != 0 || len(a.Refused) != 0 || a.Total.Before.Messages != 5000 || a.Total.Before.Shorts != 5002 {
			t.Errorf("%+v", a)
		}
		for _, r := range slices.Concat(a.Routes, a.Networks, a.Accounts) {
			if r.Before != r.After {
				t.Errorf("%+v", r)
			}
		}
	}
}

// Other routes have other costs; lists and missing prices refuse, with a reason and an example; other days and accounts, and what
// was not sent, do not count.
func TestOther(t *testing.T) {
	t.Parallel()
	lines := sent(noon, "acme", "46700000001", "46700000002", "46700000009", "33612345678", "4915212345678")
	a := try(t, `{to: cheap, destination: "467"}, {to: telia}`, lines, "", days...)
	var b bytes.Buffer
	err := a.write(&b, func(_ int, head []string, rows [][]string) string {
		text := strings.Join(head, "|") + "\n"
		for _, row := range rows {
			text += strings.Join(row, "|") + "\n"
		}
		return text
	})
	const want = `Messages from 2026-11-03 to 2026-11-03 that were sent; 2 of them would have gone another way; amounts are in EUR

SMSC|before|after|price before|after|cost before|after|margin before|after
cheap|0|2|0.00|0.18|0.00|0.04|0.00|0.14
telia|5|1|0.315|0.09|0.21|0.03|0.105|0.06
total|5|3|0.315|0.27|0.21|0.07|0.105|0.20
`
	if err != nil || !strings.HasPrefix(b.String(), want) {
		t.Errorf("%v\n%s\nwant\n%s", err, b.String(), want)
	}
	for _, text := range []string{
		"\nlists: ", "|46700000009|1|0.045\n", "\ncredit: there is no price for network unknown", "|4915212345678|1|0.045\n",
	} {
		if !strings.Contains(b.String(), text) {
			t.Errorf("no %q in %s", text, b.String())
		}
	}
	for name, none := range map[string]*Answer{
		"another account": try(t, "{to: telia}", lines, `a"b`, days...),
		"another day":     try(t, "{to: telia}", lines, "", noon.AddDate(0, 0, 1), noon.AddDate(0, 0, 2)),
		"not sent":        try(t, "{to: telia}", bytes.ReplaceAll(lines, []byte(`"sent","reason`), []byte(`"failed","reason`)), "", days...),
		"no event":        try(t, "{to: telia}", []byte("{}\nx\n"), "", days...),
	} {
		if none.Total.Before.Messages+none.Total.After.Messages != 0 {
			t.Errorf("%s: %+v", name, none.Total)
		}
	}
	gone := try(t, "{to: telia}", sent(noon, "gone", "46700000001"), "", days...)
	if len(gone.Refused) != 1 || !strings.Contains(gone.Refused[0].Reason, "no such account") || gone.Total.After.Messages != 0 {
		t.Errorf("%+v", gone)
	}
	unrouted := try(t, `{to: telia, destination: "33"}`, sent(noon, "acme", "46700000001"), "", days...)
	if len(unrouted.Refused) != 1 || !strings.HasPrefix(unrouted.Refused[0].Reason, "route: ") {
		t.Errorf("%+v", unrouted)
	}
	if text, err := json.Marshal(unrouted); err != nil || !strings.Contains(string(text), `"example":"46700000001"`) {
		t.Errorf("%s, %v", text, err)
	}
}

// Sums of replayers add up, and reasons without end become others.
func TestAdd(t *testing.T) {
	t.Parallel()
	all, other := newSums(), newSums()
	l := events.Line{Account: []byte("acme"), Destination: []byte("1"), Shorts: 2}
	for i := range mostReasons + 5 {
		other.count(&l, &outcome{route: "a", price: 2}, &outcome{refused: fmt.Sprint("reason ", i)})
	}
	all.count(&l, &outcome{route: "a", price: 2, cost: 1}, &outcome{route: "b", price: 3, cost: 1})
	all.add(other)
	a := all.answer(&Question{Config: config.Default()})
	if len(a.Refused) != mostReasons || a.Refused[0] != (Refusal{"others", 6, 12, "1"}) || a.Moved != 1 ||
		a.Total.Before != (Side{mostReasons + 6, 2 * (mostReasons + 6), 2 * (mostReasons + 6), 1, 2*(mostReasons+6) - 1}) ||
		a.Total.After != (Side{1, 2, 3, 1, 2}) || len(a.Routes) != 2 {
		t.Errorf("%+v, %+v", a.Refused[0], a.Total)
	}
	progress := progressTo(io.Discard)
	progress(1)
}

func BenchmarkReplay(b *testing.B) {
	dir := b.TempDir()
	c, _, err := config.Parse([]byte(`
store: {engine: memory}
accounts: [{system_id: acme, password: secret}]
connectors:
  - {name: clients, direction: in, address: "127.0.0.1:0"}
  - {name: telia, direction: out, address: "127.0.0.1:1", system_id: pmg, password: secret}
routes: [{to: telia}]
`), config.Options{})
	if err != nil {
		b.Fatal(err)
	}
	lines := sent(noon, "acme", slices.Repeat([]string{"46700000001"}, 1000)...)
	r, err := newReplayer(&Question{Config: c, Drivers: drivers, Dirs: []string{dir}, From: days[0], To: days[1]})
	if err != nil {
		b.Fatal(err)
	}
	defer r.gateway.Close()
	b.ReportAllocs()
	for b.Loop() {
		r.replay(lines)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/event")
}
