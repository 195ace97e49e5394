package whatif

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"pmg/events"
	"pmg/sms"
)

// An outcome is what became, or would become, of a message.
type outcome struct {
	route   string // connector to the SMSC, or the account, as it stands in lines
	network string
	refused string // reason for which the message is refused; "": it is sent
	price   sms.Money
	cost    sms.Money
}

// A Side is a sum of messages, before or after the change.
type Side struct {
	Messages int64     `json:"messages"` // parts count as messages
	Shorts   int64     `json:"short_messages"`
	Price    sms.Money `json:"price"`
	Cost     sms.Money `json:"cost"`
	Margin   sms.Money `json:"margin"`
}

func (s *Side) count(o *outcome, shorts int64) {
	s.Messages++
	s.Shorts += shorts
	s.Price, s.Cost, s.Margin = s.Price+o.price, s.Cost+o.cost, s.Margin+o.price-o.cost
}

func (s *Side) add(other *Side) {
	s.Messages, s.Shorts = s.Messages+other.Messages, s.Shorts+other.Shorts
	s.Price, s.Cost, s.Margin = s.Price+other.Price, s.Cost+other.Cost, s.Margin+other.Margin
}

// A Row is the sums of the messages by a name.
type Row struct {
	Name   string `json:"name"`
	Before Side   `json:"before"`
	After  Side   `json:"after"`
}

// A Refusal is a reason for which messages would have been refused.
type Refusal struct {
	Reason   string    `json:"reason"`
	Messages int64     `json:"messages"`
	Price    sms.Money `json:"price"`   // what they were charged
	Example  string    `json:"example"` // the recipient of one
}

// An Answer says what a change would have done.
type Answer struct {
	Amounts  string    `json:"amounts"` // says in which currency amounts are
	From     time.Time `json:"from"`
	To       time.Time `json:"to"`
	Total    Row       `json:"total"`
	Moved    int64     `json:"moved"` // messages that would have gone another way
	Routes   []Row     `json:"routes"`
	Networks []Row     `json:"networks"`
	Accounts []Row     `json:"accounts"`
	Refused  []Refusal `json:"refused"`
}

// mostReasons is the maximum number of reasons that have rows of their own, others among them.
const mostReasons = 1000

// others is the reason of what has no row of its own.
const others = "others"

// sums are the sums of a replayer.
type sums struct {
	total                      Row
	moved                      int64
	routes, networks, accounts map[string]*Row
	refused                    map[string]*Refusal
}

func newSums() *sums {
	return &sums{
		routes: map[string]*Row{}, networks: map[string]*Row{}, accounts: map[string]*Row{},
		refused: map[string]*Refusal{others: {Reason: others}},
	}
}

func rowOf(all map[string]*Row, name string) *Row {
	r := all[name]
	if r == nil {
		r = &Row{Name: name}
		all[name] = r
	}
	return r
}

// count counts a message.
func (s *sums) count(l *events.Line, before, after *outcome) {
	shorts := int64(max(l.Shorts, 1))
	account := rowOf(s.accounts, string(l.Account))
	for _, r := range []*Row{&s.total, rowOf(s.routes, before.route), rowOf(s.networks, before.network), account} {
		r.Before.count(before, shorts)
	}
	if after.refused != "" {
		s.refuse(after.refused, 1, before.price, string(l.Destination))
		return
	}
	if after.route != before.route {
		s.moved++
	}
	for _, r := range []*Row{&s.total, rowOf(s.routes, after.route), rowOf(s.networks, after.network), account} {
		r.After.count(after, shorts)
	}
}

func (s *sums) refuse(reason string, messages int64, price sms.Money, example string) {
	if s.refused[reason] == nil && len(s.refused) >= mostReasons {
		reason = others
	}
	r := s.refused[reason]
	if r == nil {
		r = &Refusal{Reason: reason, Example: example}
		s.refused[reason] = r
	}
	if r.Example == "" {
		r.Example = example
	}
	r.Messages, r.Price = r.Messages+messages, r.Price+price
}

// add adds the sums of another replayer.
func (s *sums) add(other *sums) {
	s.moved += other.moved
	s.total.Before.add(&other.total.Before)
	s.total.After.add(&other.total.After)
	for _, both := range [][2]map[string]*Row{
		{s.routes, other.routes}, {s.networks, other.networks}, {s.accounts, other.accounts},
	} {
		for name, r := range both[1] {
			to := rowOf(both[0], name)
			to.Before.add(&r.Before)
			to.After.add(&r.After)
		}
	}
	for reason, r := range other.refused {
		if r.Messages == 0 {
			continue
		}
		s.refuse(reason, r.Messages, r.Price, r.Example)
	}
}

func (s *sums) answer(q *Question) *Answer {
	s.total.Name = "total"
	a := &Answer{
		Amounts: q.Config.AmountsIn(), From: q.From, To: q.To, Total: s.total, Moved: s.moved, Routes: rowsOf(s.routes),
		Networks: rowsOf(s.networks), Accounts: rowsOf(s.accounts), Refused: []Refusal{},
	}
	for _, r := range s.refused {
		if r.Messages == 0 {
			continue
		}
		a.Refused = append(a.Refused, *r)
	}
	slices.SortFunc(a.Refused, func(a, b Refusal) int {
		return cmp.Or(cmp.Compare(b.Messages, a.Messages), strings.Compare(a.Reason, b.Reason))
	})
	return a
}

func rowsOf(all map[string]*Row) (rows []Row) {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		row := *all[name]
		row.Name = events.Unescape([]byte(name))
		rows = append(rows, row)
	}
	return rows
}
