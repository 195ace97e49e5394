package stats

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"pmg/events"
	"pmg/internal/testkit/testutil"
	"pmg/sms"
)

func TestMain(m *testing.M) { testutil.NoLeaks(m) }

var begin = time.Date(2026, 11, 26, 20, 0, 0, 0, time.UTC)

// made returns the line of an event of a few accounts, connectors and days.
func made(r *rand.Rand, number uint64) []byte {
	at := begin.Add(time.Duration(number) * 7 * time.Second)
	if r.IntN(20) == 0 {
		e := events.BalanceEvent{Number: number, Account: pick(r, "acme", "beta"), Balance: 5_000_000, At: at.UnixNano()}
		if r.IntN(3) > 0 {
			e.ID, e.Refund = number-1, sms.Money(r.IntN(100_000))
		}
		return append(new(events.Printer).AppendBalance(nil, &e), '\n')
	}
	e := events.Event{
		Number: number, ID: number, Kind: sms.Kind(r.IntN(3)), Connector: pick(r, "clients", "smsc1", "smsc2"),
		Source: []byte("a\"b\\"), Destination: []byte("46700000001"), Attempts: 1, Tags: []byte("x y\\]"),
		Ended: at.UnixNano(), Part: uint8(r.IntN(3)), Parts: uint8(r.IntN(4)),
		Reason: []sms.Code{sms.OK, sms.Throttled, sms.Timeout, sms.Expired, sms.Deleted, sms.SystemError}[r.IntN(6)],
	}
	e.State = events.State(r.IntN(8))
	e.Accepted = e.Ended - int64([]time.Duration{0, 999 * time.Microsecond, 1500 * time.Millisecond, 11 * time.Second, 2 * time.Minute,
		5 * time.Hour, 40 * time.Hour, -3 * time.Second}[r.IntN(8)])
	switch e.Kind {
	case sms.Submit:
		e.Account, e.ToConnector = pick(r, "acme", "beta", ""), pick(r, "smsc1", "smsc2", "")
		if e.State == events.Sent {
			e.Charge.Price = sms.Money(r.IntN(3) * 45_001)
		}
	case sms.Receipt:
		e.Delivery = &events.Delivery{Client: 7, State: sms.States()[r.IntN(len(sms.States()))], Network: 3, NetworkError: 8}
	}
	if e.Kind != sms.Submit {
		e.ToAccount = pick(r, "acme", "beta")
	}
	return append(new(events.Printer).Append(nil, &e), '\n')
}

func pick(r *rand.Rand, all ...string) string { return all[r.IntN(len(all))] }

// expected counts lines in another way, by "hour|account|connector|figure".
func expected(t *testing.T, lines [][]byte) map[string]int64 {
	t.Helper()
	all := map[string]int64{}
	for _, one := range lines {
		var e struct {
			Kind, State, Reason, Account, Connector, Delivery string
			ToConnector                                       string    `json:"to_connector"`
			ToAccount                                         string    `json:"to_account"`
			Accepted                                          time.Time `json:"accepted_at"`
			Ended                                             time.Time `json:"ended_at"`
			Part, Parts                                       int
			Price, Refund                                     json.Number // in quotes
		}
		if err := json.Unmarshal(one, &e); err != nil {
			t.Fatalf("%v: %s", err, one)
		}
		account, connector := e.ToAccount, e.Connector
		if e.Kind == "submit" || e.Kind == "refund" {
			account, connector = e.Account, e.ToConnector
		}
		add := func(at time.Time, figure string, n int64) {
			if n != 0 {
				all[strings.Join([]string{at.Format("2006-01-02T15"), account, connector, figure}, "|")] += n
			}
		}
		switch took := e.Ended.Sub(e.Accepted); {
		case e.Kind == "refund":
			add(e.Ended, "refunded", millionths(t, e.Refund))
		case e.Kind == "mo" && e.State == "sent":
			add(e.Ended, "mo", 1)
			add(e.Ended, "mo_sent", 1)
		case e.Kind == "mo":
			add(e.Ended, "mo", 1)
			add(e.Ended, "mo_failed", 1)
		case e.Kind == "receipt" && e.Delivery == "delivered":
			add(e.Ended, "delivered", 1)
		case e.Kind == "receipt" && !slices.Contains([]string{"scheduled", "enroute", "accepted", ""}, e.Delivery):
			add(e.Ended, "undelivered", 1)
		case e.Kind == "submit" && e.State != "cut":
			add(e.Accepted, "accepted", 1)
			if e.Part < 2 && e.State != "joined" {
				add(e.Accepted, "messages", 1)
			}
			add(e.Ended, e.State, 1)
			add(e.Ended, "charged", millionths(t, e.Price))
			if slices.Contains([]string{"failed", "rejected", "unknown"}, e.State) {
				add(e.Ended, "because "+e.Reason, 1)
			}
			if e.State == "sent" {
				add(e.Ended, "delay_ms", max(0, took.Milliseconds()))
				for figure, d := range map[string]time.Duration{
					"late_1s": time.Second, "late_10s": 10 * time.Second, "late_1m": time.Minute, "late_1h": time.Hour,
				} {
					if took > d {
						add(e.Ended, figure, 1)
					}
				}
			}
		}
	}
	return all
}

// millionths returns an amount in millionths of a unit.
func millionths(t *testing.T, amount json.Number) int64 {
	t.Helper()
	if amount == "" {
		return 0
	}
	f, err := amount.Float64()
	if err != nil {
		t.Fatal(err)
	}
	return int64(math.Round(f * 1e6))
}

// read returns what is in a directory, as expected does.
func read(t *testing.T, dir string) map[string]int64 {
	t.Helper()
	rows, err := Read(context.Background(), dir, Query{By: []string{"hour", "account", "connector"}})
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]int64{}
	for _, r := range rows {
		name := strings.Join(r.Values, "|") + "|"
		for _, figure := range Figures() {
			if n := r.Figure(figure); n != 0 {
				all[name+figure] = n
			}
		}
		for reason, n := range r.Reasons() {
			all[name+"because "+reason] = n
		}
	}
	return all
}

func same(t *testing.T, what string, got, want map[string]int64) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if got[name] != want[name] {
			t.Errorf("%s: %s is %d, want %d", what, name, got[name], want[name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[name]; !ok {
			t.Errorf("%s: %s is %d, want none", what, name, got[name])
		}
	}
}

func opened(t *testing.T, dir string) *Counter {
	t.Helper()
	c, err := Open(dir, 0, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// files returns the content of a directory's files.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		b, ferr := os.ReadFile(filepath.Join(dir, e.Name()))
		if all[e.Name()] = string(b); ferr != nil {
			err = ferr
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Whatever of a save a crash leaves, each event is counted once.
func TestCrash(t *testing.T) {
	t.Parallel()
	for seed := range uint64(8) {
		r := rand.New(rand.NewPCG(seed, 1))
		dir, lines := t.TempDir(), [][]byte(nil)
		c := opened(t, dir)
		if err := c.Begin(0); err != nil {
			t.Fatal(err)
		}
		for range 12 {
			for range r.IntN(400) {
				lines = append(lines, made(r, uint64(len(lines)+1)))
			}
			if err := c.Count(bytes.Join(lines[max(0, int(c.Counted())-r.IntN(9)):], nil)); err != nil {
				t.Fatal(err)
			}
			before := files(t, dir)
			if _, err := c.Save(true); err != nil {
				t.Fatal(err)
			}
			if r.IntN(2) == 0 {
				continue
			}
			old := false
			for name := range files(t, dir) {
				if r.IntN(2) == 0 && name != countedName {
					old = restore(t, dir, name, before) || old
				}
			}
			if old || r.IntN(2) == 0 {
				restore(t, dir, countedName, before)
			}
			c = opened(t, dir)
			if r.IntN(3) == 0 { // events that were committed, and not written before
				lines = append(lines, made(r, uint64(len(lines)+1)))
			}
			if err := c.Begin(uint64(len(lines))); err != nil {
				t.Fatal(err)
			}
			if err := c.Count(bytes.Join(lines[c.Counted():], nil)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := c.Save(true); err != nil {
			t.Fatal(err)
		}
		same(t, fmt.Sprint("seed ", seed), read(t, dir), expected(t, lines))
		if t.Failed() {
			return
		}
	}
}

// restore makes a file as it was before.
func restore(t *testing.T, dir, name string, before map[string]string) bool {
	t.Helper()
	path, err := filepath.Join(dir, name), error(nil)
	if text, ok := before[name]; ok {
		err = os.WriteFile(path, []byte(text), 0o600)
	} else {
		err = os.Remove(path)
	}
	if err != nil {
		t.Fatal(err)
	}
	return true
}
