package whatif

import (
	"bytes"
	"cmp"
	"net/netip"
	"slices"

	"github.com/rs/zerolog"

	"pmg/config"
	"pmg/connector"
	"pmg/events"
	"pmg/gateway"
	"pmg/gateway/intake"
	"pmg/sms"
	"pmg/sms/rewrite"
)

// takenSteps are the steps of intake that depend neither on the text, which events lack, nor on what came before. The addresses
// of events are those behind the rules of rewrite.
var takenSteps = []string{"read", "plausible", "network", "lists", "route"}

// A replayer replays messages in a gateway of its own, without sockets and without a disk.
type replayer struct {
	question *Question
	gateway  *gateway.Gateway
	sources  map[string]*connector.Source // by account and connector; nil: the configuration has no such account
	sums     *sums
	line     events.Line
	from, to int64 // microseconds since 1970
	key      []byte
}

func newReplayer(q *Question) (*replayer, error) {
	c := *q.Config
	c.PDULog.Enabled, c.Plugins = false, nil
	g, err := gateway.New(&c, zerolog.Nop(), q.Drivers)
	if err != nil {
		return nil, err
	}
	steps := slices.DeleteFunc(intake.Steps(), func(s intake.Step) bool { return !slices.Contains(takenSteps, s.Name) })
	g.Intake.Use(steps)
	g.Intake.Narrow(&c)
	return &replayer{
		question: q, gateway: g, sources: map[string]*connector.Source{}, sums: newSums(), from: q.From.UnixMicro(),
		to: q.To.UnixMicro(),
	}, nil
}

// replay replays the messages of lines.
func (r *replayer) replay(lines []byte) {
	for line := range bytes.Lines(lines) {
		l := &r.line
		if !l.Read(bytes.TrimSuffix(line, []byte{'\n'})) {
			continue
		}
		at := cmp.Or(l.Ended, l.Accepted)
		switch {
		case string(l.Kind) != "submit", string(l.State) != "sent", len(l.Account) == 0, at < r.from, at >= r.to:
		case r.question.Account != "" && string(l.Account) != events.Escape(r.question.Account):
		default:
			r.one(l)
		}
	}
}

// one replays a message.
func (r *replayer) one(l *events.Line) {
	before := outcome{
		route: string(l.ToConnector), network: string(l.Network), price: l.Price, cost: l.Cost,
	}
	if before.route == "" {
		before.route = "account " + string(l.ToAccount)
	}
	after := r.outcome(l)
	r.sums.count(l, &before, &after)
}

// outcome returns what would become of a message.
func (r *replayer) outcome(l *events.Line) (o outcome) {
	from := r.source(l)
	if from == nil {
		o.refused = "there is no such account, or it may not submit messages"
		return o
	}
	g := r.gateway
	now := l.Accepted*1000 - g.Node.Clock.Ahead()
	s := &intake.Submission{
		Way: intake.Submitted, From: from, Room: intake.AnyRoom{}, Preview: true, Change: func(_ int64, m *sms.Message) sms.Code {
			m.Set(rewrite.Auto(l.Source), rewrite.Auto(l.Destination), nil) // events lack the types of addresses
			m.Network, _ = sms.ReadNetwork(string(l.Network))
			return sms.OK
		},
	}
	defer s.Drop()
	if g.Intake.TakeWaiting(now, s) != sms.OK {
		o.refused = cmp.Or(s.Refuser(g.Intake), "route") + ": " + cmp.Or(s.Why(), s.Code.String())
		return o
	}
	m := s.Message
	o.network = m.Network.String()
	price, why := g.Intake.Credit.Price(m, now)
	if why != "" {
		o.refused = "credit: " + why
		return o
	}
	shorts := sms.Money(max(l.Shorts, 1))
	o.price = price * shorts
	switch {
	case s.Lane == nil:
		o.route = "parked"
	case s.Lane.ToClient():
		o.route = "account " + events.Escape(s.Lane.Account)
	default:
		o.route = s.Lane.Home().Name
		if cost, ok := g.Table.Cost(s.Lane.Home().Name, m, l.Ended*1000); ok {
			o.cost = cost * shorts
		}
	}
	return o
}

// source returns who would submit a message.
func (r *replayer) source(l *events.Line) *connector.Source {
	r.key = append(append(append(r.key[:0], l.Account...), 0), l.Connector...)
	if s, ok := r.sources[string(r.key)]; ok {
		return s
	}
	s := r.newSource(events.Unescape(l.Account), events.Unescape(l.Connector))
	r.sources[string(r.key)] = s
	return s
}

func (r *replayer) newSource(account, by string) *connector.Source {
	g := r.gateway
	a := g.Table.Account(account)
	if a == nil {
		return nil
	}
	may := func(c *config.Connector) bool { return c.Listens() && a.MayUse(c) }
	c := g.Table.Incoming(by)
	for i := 0; (c == nil || !may(c)) && i < len(r.question.Config.Connectors); i++ {
		c = &r.question.Config.Connectors[i]
	}
	if c == nil || !may(c) {
		return nil
	}
	l := &connector.Link{}
	l.Open(&connector.Instance{Connector: g.Table.Connector(c.Name), Number: 1}, netip.AddrPort{}, g.Node.Clock.Now(), nil)
	l.Account = g.Logins.Accounts().Account(account)
	l.Origin = g.Node.Origins.Of(account, c.Name)
	return &l.Source
}
