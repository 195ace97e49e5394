package files

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"

	"pmg/config"
	"pmg/events"
	"pmg/gateway/credit"
	"pmg/internal/console"
	"pmg/sms"
	"pmg/store"
)

// CompareLosses compares a store of which a part is lost with the events.
func CompareLosses(out io.Writer, cfg *config.Config, dir string) error {
	var keys [][]byte
	if cfg != nil {
		keys = cfg.Store.Keys()
	}
	s, err := store.Open(dir, store.Options{Keys: keys})
	if err != nil {
		return err
	}
	defer s.Close()
	money, err := credit.Compare(s)
	if err != nil {
		return err
	}
	eventsDir := ""
	if cfg != nil {
		eventsDir = cfg.Events.Dir
	}
	again, err := addEvents(s, eventsDir, money)
	if err != nil {
		return err
	}
	if again > 0 {
		fmt.Fprintf(out, "messages that have ended by their events, and wait again: %d; pmg queue list shows what waits\n", again)
	}
	writeMoney(out, money, eventsDir != "")
	return nil
}

// addEvents adds all events, and returns how many messages of the store have ended by them.
func addEvents(s store.Store, dir string, money *credit.Comparison) (again int, err error) {
	waiting := map[uint64]bool{}
	for from, next := uint64(0), uint64(1); next != 0; from = next {
		if next, err = s.Scan(from, 1000, func(e *store.Entry) error { waiting[e.ID] = true; return nil }); err != nil {
			return 0, err
		}
	}
	last := uint64(0)
	add := func(line []byte) {
		var e struct {
			Number             uint64
			ID, State, Account string
			Price, Refund      sms.Money
		}
		if json.Unmarshal(line, &e) != nil || e.Number <= last { // an event may be both in the store and in the files
			return
		}
		last = e.Number
		money.Add(e.Number, e.Account, e.Price, e.Refund)
		if id, err := strconv.ParseUint(e.ID, 16, 64); err == nil && e.State != "" && waiting[id] {
			delete(waiting, id)
			again++
		}
	}
	if dir != "" {
		err = events.Read(dir, 0, func(lines []byte) error {
			for line := range bytes.Lines(lines) {
				add(line)
			}
			return nil
		})
		if err != nil {
			return 0, fmt.Errorf("cannot read the events in %s: %w", dir, err)
		}
	}
	_, err = s.Events(0, math.MaxInt, func(_ uint64, line []byte) error { add(line); return nil })
	return again, err
}

// writeMoney writes the balances that may be old beside those that payments and events give.
func writeMoney(out io.Writer, money *credit.Comparison, withEvents bool) {
	all := money.Accounts()
	if len(all) == 0 {
		return
	}
	fmt.Fprintln(out, "balances of accounts, which may be those of an earlier time:")
	wrong := false
	for _, a := range all {
		fmt.Fprintf(out, "  %s: %s in the store; paid %s", console.Plain(a.Account), a.Balance, a.Paid)
		if withEvents {
			fmt.Fprintf(out, ", charged %s, given back %s by the events", a.Charged, a.Refunded)
		}
		if withEvents && money.Whole() && a.Counted != a.Balance {
			fmt.Fprintf(out, ": the balance is %s by these, %s more", a.Counted, sms.Money(a.Counted-a.Balance))
			wrong = true
		}
		fmt.Fprintln(out)
	}
	switch {
	case !withEvents:
		fmt.Fprintln(out, "name the configuration with -c, whose events.dir says what was charged, to compare them")
	case !money.Whole():
		fmt.Fprintln(out, "the events of the first messages are gone, so that they give no balance")
	case wrong:
		fmt.Fprintln(
			out, "payments may be lost as well: compare with your own books (pmg credit history ACCOUNT), and then enter the "+
				"difference with pmg credit add ACCOUNT AMOUNT --comment repair",
		)
	}
}
