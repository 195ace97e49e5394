package customers

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"pmg/events"
	"pmg/events/statement"
	"pmg/events/stats"
	"pmg/internal/console"
	"pmg/internal/figuretext"
	"pmg/sms"
	"pmg/sms/networks"
	"pmg/sms/number"
	"pmg/sms/prices"
	"pmg/sms/rewrite"
)

// Traffic selects the messages of events that a list of prices is compared with.
type Traffic struct {
	Dirs       []string // directories of events
	Account    string   // whose messages; "": those of all accounts
	Connector  string   // the out connector that has sent them; "": any
	From, To   time.Time
	Now        time.Time // the prices of this time are looked for
	NameOf     statement.Names
	missing    map[string]*unpriced
	line       events.Line
	from, till int64 // microseconds since 1970
}

// An unpriced is a destination without a price.
type unpriced struct {
	what     string
	messages int64
	account  string // an account with such a message
}

// flags adds the flags that select messages.
func (t *Traffic) flags(cmd *cobra.Command, days *stats.Days) {
	f := cmd.Flags()
	f.StringSliceVar(&t.Dirs, "events", nil, "`directories` of events, of whose messages those without a price are named")
	f.StringVar(&t.Account, "account", "", "with --events: only messages of this account")
	f.StringVar(&t.Connector, "connector", "", "with --events: only messages that this out connector has sent")
	f.StringVar(&days.Day, "day", "", "with --events: only this `day`: 2026-11-27, today or yesterday")
	f.StringVar(&days.Month, "month", "", "with --events: only this `month`: 2026-11")
	f.StringVar(&days.From, "from", "", "with --events: only from this `day` on")
	f.StringVar(&days.To, "to", "", "with --events: only up to this `day`, it included")
}

// prepare sets the period, and the names of networks.
func (t *Traffic) prepare(days stats.Days, known *networks.Table, now time.Time) error {
	var err error
	if t.From, t.To, err = days.Period(now); err != nil {
		return err
	}
	t.Now = now
	t.NameOf = statement.NoNames
	if known != nil {
		t.NameOf = known.Name
	}
	return nil
}

// mostMissing is the number of destinations without a price that are named.
const mostMissing = 20

// Without returns a line for each network that messages went to and for which a list has no price, and for each beginning of the
// numbers whose network is not known: those with the most messages first.
func (t *Traffic) Without(l *prices.List) ([]string, error) {
	t.missing, t.from, t.till = map[string]*unpriced{}, t.From.UnixMicro(), t.To.UnixMicro()
	err := events.ReadAll(t.Dirs, t.From, func(text []byte) error {
		if t.line.Read(bytes.TrimSuffix(text, []byte{'\n'})) && t.takes(&t.line) {
			t.add(l)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("cannot read events: %w", err)
	}
	all := slices.SortedFunc(maps.Values(t.missing), func(a, b *unpriced) int {
		return cmp.Or(cmp.Compare(b.messages, a.messages), cmp.Compare(a.what, b.what))
	})
	lines := []string{}
	for _, m := range all[:min(len(all), mostMissing)] {
		lines = append(lines, fmt.Sprintf(
			"%s: no price, and %s messages, such as those of account %s", m.what, figuretext.Number(m.messages),
			console.Plain(m.account),
		))
	}
	if more := len(all) - mostMissing; more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return lines, nil
}

// takes reports whether an event is that of a message that was selected. A long message counts once.
func (t *Traffic) takes(l *events.Line) bool {
	at := cmp.Or(l.Ended, l.Accepted)
	return string(l.Kind) == "submit" && l.Part == 1 && len(l.Account) > 0 && at >= t.from && at < t.till &&
		(t.Account == "" || string(l.Account) == events.Escape(t.Account)) &&
		(t.Connector == "" || string(l.ToConnector) == events.Escape(t.Connector))
}

// add counts the message of the line if the list has no price for it.
func (t *Traffic) add(l *prices.List) {
	network, _ := sms.ReadNetwork(string(t.line.Network))
	to := number.Of(rewrite.Auto(t.line.Destination)) // events lack the types of addresses
	if _, ok := l.Of(to, network, t.Now.UnixNano()); ok {
		return
	}
	what := destinationOf(to)
	if network != 0 {
		what = "network " + network.String()
		if name := t.NameOf(network); name != "" {
			what += " (" + console.Plain(name) + ")"
		}
	}
	m := t.missing[what]
	if m == nil {
		m = &unpriced{what: what, account: events.Unescape(t.line.Account)}
		t.missing[what] = m
	}
	m.messages++
}

// shownDigits is how many digits of a number are shown: they say which country it is of, and not whose it is.
const shownDigits = 4

// destinationOf returns the beginning of a number whose network is not known.
func destinationOf(n number.Number) string {
	if digits := n.Digits(); n.IsInternational() && len(digits) > shownDigits {
		return "numbers that begin with +" + string(digits[:shownDigits])
	}
	return "short codes and national numbers"
}
