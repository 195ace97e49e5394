package statement

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"pmg/events"
	"pmg/sms"
)

// Names returns the name of a network, "" if there is none.
type Names func(sms.Network) string

// NoNames are the names where there is no table of networks.
func NoNames(sms.Network) string { return "" }

// rotated is how long before the end of its file an event may say that it has ended: it is written after the message has ended,
// by a clock that may have been set.
const rotated = time.Hour

// Make makes the statement of a period. dirs are the directories of events: one, or those of all nodes of a cluster. The events
// up to Ledger.Event must be written.
func Make(ctx context.Context, dirs []string, p Period, l *Ledger, names Names) (*Statement, error) {
	m := maker{
		ctx: ctx, ledger: l, from: p.From.UnixMicro(), to: p.To.Add(time.Microsecond - 1).UnixMicro(),
		name:  []byte(events.Escape(cmp.Or(l.Connector, l.Account))),
		lines: map[place]*Line{}, refunds: map[place]*Line{}, traffic: map[string]*Traffic{},
	}
	m.s = Statement{Period: p, Account: l.Account, Connector: l.Connector, Currency: l.Currency, Timezone: l.Timezone}
	err := events.ReadAll(dirs, p.From.Add(-rotated), m.add)
	if err != nil && !errors.Is(err, errEnd) {
		return nil, err
	}
	if m.last < l.Event {
		return nil, fmt.Errorf("the events %d to %d are not there", m.last+1, l.Event)
	}
	return m.statement(names), nil
}

// A place is where a message is counted.
type place struct {
	network string
	price   sms.Money
}

// A maker makes a statement of events.
type maker struct {
	ctx      context.Context
	ledger   *Ledger
	from, to int64  // microseconds since 1970
	name     []byte // of the account or the connector, as it stands in lines
	last     uint64 // number of the last event
	line     events.Line

	s                Statement
	lines, refunds   map[place]*Line
	traffic          map[string]*Traffic
	charged, givenUp sms.Money // after the period: charged, and given back
}

// errEnd ends the reading of events.
var errEnd = errors.New("the statement has all events")

// add adds an event.
func (m *maker) add(text []byte) error {
	number, ok := events.NumberOf(text)
	if !ok { // another program may have written to the file
		return nil
	}
	if number > m.ledger.Event {
		return errEnd
	}
	if m.last == 0 && number > 1 && !m.isBefore(text) {
		return fmt.Errorf("events of the period are not there: the first is number %d, of %s", number, m.ended())
	}
	if m.last != 0 && number != m.last+1 {
		return fmt.Errorf("the events %d to %d are not there: another node of the cluster may have them", m.last+1, number-1)
	}
	if m.last = number; number%4096 == 0 && m.ctx.Err() != nil {
		return m.ctx.Err()
	}
	if !bytes.Contains(text, m.name) || !m.line.Read(bytes.TrimSuffix(text, []byte{'\n'})) {
		return nil
	}
	m.sum(&m.line)
	return nil
}

// isBefore reports whether an event has ended before the period.
func (m *maker) isBefore(text []byte) bool {
	return m.line.Read(bytes.TrimSuffix(text, []byte{'\n'})) && cmp.Or(m.line.Ended, m.line.Accepted) < m.from
}

func (m *maker) ended() string { return time.UnixMicro(m.line.Ended).UTC().Format(time.RFC3339) }

// sum adds what an event says about the account or the SMSC.
func (m *maker) sum(l *events.Line) {
	smsc := m.ledger.Connector != ""
	of, from, amount := l.Account, l.ToAccount, l.Price
	if smsc {
		of, from, amount = l.ToConnector, l.Connector, l.Cost
	}
	at := cmp.Or(l.Ended, l.Accepted)
	switch kind := string(l.Kind); {
	case at < m.from:
	case kind == "submit" && bytes.Equal(of, m.name) && string(l.State) == "sent":
		m.charge(l, amount, at)
	case kind == "refund" && !smsc && bytes.Equal(of, m.name):
		if at >= m.to {
			m.givenUp += l.Refund
			return
		}
		m.s.Refunded += l.Refund
		count(m.refunds, place{string(l.Network), l.Refund}, 1, 1, l.Refund)
	case kind == "receipt" && bytes.Equal(from, m.name) && at < m.to:
		m.deliver(l)
	}
}

// charge adds a message that was sent.
func (m *maker) charge(l *events.Line, amount sms.Money, at int64) {
	if at >= m.to {
		m.charged += amount
		return
	}
	price, shorts, first := amount, int64(1), int64(1)
	if n := sms.Money(l.Shorts); n > 1 && amount%n == 0 {
		price, shorts = amount/n, int64(n)
	}
	if l.Part > 1 {
		first = 0
	}
	m.s.Charged += amount
	m.s.Messages, m.s.Shorts = m.s.Messages+first, m.s.Shorts+shorts
	count(m.lines, place{string(l.Network), price}, first, shorts, amount)
	t := m.trafficOf(l.Network)
	t.Sent++
	t.DelayMS += max(l.Ended-l.Accepted, 0) / 1000
}

// deliver adds a receipt.
func (m *maker) deliver(l *events.Line) {
	switch string(l.Delivery) {
	case "delivered":
		m.trafficOf(l.Network).Delivered++
	case "expired", "deleted", "undeliverable", "unknown", "rejected", "skipped":
		m.trafficOf(l.Network).Undelivered++
	}
}

func (m *maker) trafficOf(network []byte) *Traffic {
	t := m.traffic[string(network)]
	if t == nil {
		t = &Traffic{Network: string(network)}
		m.traffic[t.Network] = t
	}
	return t
}

func count(all map[place]*Line, at place, messages, shorts int64, sum sms.Money) {
	l := all[at]
	if l == nil {
		l = &Line{Network: at.network, Price: at.price}
		all[at] = l
	}
	l.Messages, l.Shorts, l.Sum = l.Messages+messages, l.Shorts+shorts, l.Sum+sum
}

// statement returns what was summed up.
func (m *maker) statement(names Names) *Statement {
	s := &m.s
	s.Closing = m.ledger.Balance + m.charged - m.givenUp
	s.Payments = []Payment{}
	for _, p := range m.ledger.Payments {
		switch at := p.At.UnixMicro(); {
		case at >= m.to:
			s.Closing -= p.Amount
		case at >= m.from:
			p.At = p.At.In(s.From.Location())
			s.Payments = append(s.Payments, p)
			s.Paid += p.Amount
		}
	}
	s.Opening = s.Closing - s.Paid + s.Charged - s.Refunded
	if s.Connector != "" {
		s.Opening, s.Closing = 0, 0
	}
	s.Lines, s.Refunds, s.Traffic = linesOf(m.lines, names), linesOf(m.refunds, names), []Traffic{}
	for _, t := range m.traffic {
		if network, ok := sms.ReadNetwork(t.Network); ok {
			t.Name = names(network)
		}
		if t.Sent > 0 {
			t.DelayMS /= t.Sent
		}
		s.Traffic = append(s.Traffic, *t)
	}
	slices.SortFunc(s.Traffic, func(a, b Traffic) int { return strings.Compare(a.Network, b.Network) })
	return s
}

// linesOf returns lines in the order of networks and prices.
func linesOf(all map[place]*Line, names Names) []Line {
	lines := make([]Line, 0, len(all))
	for _, l := range all {
		if network, ok := sms.ReadNetwork(l.Network); ok {
			l.Country, l.Name = network.Country().String(), names(network)
			if network.IsCountry() {
				l.Network = ""
			}
		}
		lines = append(lines, *l)
	}
	slices.SortFunc(lines, func(a, b Line) int {
		return cmp.Or(
			strings.Compare(a.Country, b.Country), strings.Compare(a.Network, b.Network), cmp.Compare(a.Price, b.Price),
		)
	})
	return lines
}
