package explain

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"pmg/config"
	"pmg/connector"
	"pmg/gateway"
	"pmg/gateway/intake"
	"pmg/gateway/leave"
	routes "pmg/gateway/route"
	"pmg/internal/smstext"
	"pmg/protocols"
	"pmg/protocols/httpsms"
	"pmg/sms"
	"pmg/sms/number"
	"pmg/sms/rewrite"
)

// A run is a message on its way to one target of its route. It has its own gateway, so that rates and the log are
// those of a first message.
type run struct {
	*asked
	gateway *gateway.Gateway
	step    string  // step that the message is in
	rules   []rule  // rules that had an effect: on the way in, later on the way out
	logged  []entry // lines of the log since the step began
	way     *routes.Way
	ways    int
	text    string // the text of the message when it arrived
	err     error
}

// An entry is a line of the gateway's log, as far as it is read.
type entry struct{ Message, Field string }

// Write implements io.Writer for the log.
func (r *run) Write(line []byte) (int, error) {
	var e entry
	err := json.Unmarshal(line, &e)
	r.logged = append(r.logged, e)
	return len(line), err
}

// run passes the message through the steps, and converts it for the run's target. It returns the number of targets.
func (e *asked) run() (targets int, err error) {
	r := &run{asked: e}
	c := *e.config
	c.PDULog.Enabled = false
	if r.gateway, err = gateway.New(&c, zerolog.New(r), e.drivers); err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, r.gateway.Close()) }()
	r.gateway.Convert.Tell = r.rule
	r.gateway.Intake.Use(r.recorded(intake.Steps()))
	l := r.link(e.from, e.account)
	s := &intake.Submission{
		Way: intake.Submitted, From: &l.Source, Session: l, Room: intake.AnyRoom{}, Strict: isOwnAPI(e.from), Preview: true,
	}
	if e.account == nil {
		s.Way = intake.Delivered
	}
	if err := r.describe(s); err != nil {
		return 0, err
	}
	v := r.gateway.Intake.Take(r.gateway.Node.Clock.Now(), s)
	if r.err != nil {
		return 0, r.err
	}
	r.end(s, v)
	return r.ways, nil
}

// isOwnAPI reports whether clients of a connector use PMG's own HTTP API, which refuses invalid messages.
func isOwnAPI(c *config.Connector) bool {
	return c.Transport() != config.BySession && slices.Contains(c.HTTP.Dialects, "pmg")
}

// link returns a session of a connector's peer.
func (r *run) link(c *config.Connector, account *config.Account) *connector.Link {
	l := &connector.Link{}
	on := r.gateway.Table.Connector(c.Name)
	l.Open(&connector.Instance{Connector: on, Number: 1}, netip.AddrPort{}, r.gateway.Node.Clock.Now(), nil)
	name := ""
	if account != nil {
		name = account.SystemID
		l.Account = r.gateway.Logins.Accounts().Account(name)
	}
	l.Origin = r.gateway.Node.Origins.Of(name, c.Name)
	return l
}

// describe fills in the message of a submission.
func (r *run) describe(s *intake.Submission) error {
	if r.question.PDU == "" {
		s.Change = r.write
		return nil
	}
	d := s.From.Connector.Driver
	s.PDU = d.NewPDU()
	if err := d.ParseLog(s.PDU, []byte(r.question.PDU)); err != nil {
		return fmt.Errorf("cannot explain a PDU that %s does not know: %w", d.Name(), err)
	}
	if _, ok := s.PDU.Text(); !ok {
		return errors.New("cannot explain a PDU without a text: only messages are explained")
	}
	if several := s.Session.Can.Recipients; several != nil {
		several.To(s.PDU, 0) // the PDU's other messages take the same steps
	}
	return nil
}

// write fills in a message from the question. The types of its addresses follow from their form; the text is coded as
// a client of the connector would.
func (r *run) write(now int64, m *sms.Message) sms.Code {
	q := &r.question
	alphabet, text := smstext.Encode(r.from.Form().Default, q.Text)
	if source, dest := rewrite.Auto([]byte(q.From)), rewrite.Auto([]byte(q.To)); r.from.Transport() == config.BySession {
		source.Addr, dest.Addr = []byte(q.From), []byte(q.To)
		m.Set(source, dest, text)
		m.SetNative(r.gateway.Table.Connector(r.from.Name).Protocol, nil)
	} else if code := (&httpsms.Order{From: q.From, To: q.To, Text: text}).Fill(m); code != sms.OK {
		return code // requests need a '+' for an international number
	}
	if r.account == nil {
		m.Kind = sms.MO
	}
	if m.Alphabet = alphabet; q.DeliverIn > 0 {
		m.DeliverAt = now + int64(q.DeliverIn)
	}
	if q.Validity > 0 {
		m.Expires = max(now, m.DeliverAt) + int64(q.Validity)
	}
	return sms.OK
}

// recorded wraps steps so that the changes of each step are recorded.
func (r *run) recorded(steps []intake.Step) []intake.Step {
	for i := range steps {
		step := steps[i]
		steps[i].Do = func(d *intake.Checker, now int64, s *intake.Submission) intake.Verdict {
			var before sms.Message
			if s.Message != nil {
				before = sms.Message{Expires: s.Message.Expires, Notify: s.Message.Notify, DeliverAt: s.Message.DeliverAt}
			}
			seen := r.seen(s.Message)
			r.step, r.logged = step.Name, nil
			v := step.Do(d, now, s)
			switch m := s.Message; {
			case step.Name == "read":
				r.read(s)
			case step.Name == "opt out" && r.target == 0:
				r.optOut(m)
			case step.Name == "network":
				r.network(m)
			case step.Name == "route":
				v = r.choose(s, v)
			case step.Name == "credit" && v == intake.Pass && r.answer.price == "":
				r.price(now, s)
			case step.Name == "plugins" && r.target == 0:
				r.plugins(now, &before, seen, s)
			case v == intake.Pass && m != nil && r.target == 0:
				r.compare(now, &before, m)
			}
			if r.err != nil {
				v = intake.Refuse
			}
			return v
		}
	}
	return steps
}

// optOut records the lists that the text of a message changes.
func (r *run) optOut(m *sms.Message) {
	if c := r.gateway.Lists.Asked(m, false); c != nil {
		for _, what := range c.Preview() {
			r.answer.changes = append(r.answer.changes, "step opt out: "+what)
		}
	}
}

// read records the message that has arrived.
func (r *run) read(s *intake.Submission) {
	m := s.Message
	if m.Flags&sms.ByText != 0 { // the receipt's message was not found by id
		r.gateway.Convert.Unreport(s.From.Connector, m)
	}
	if m.Kind == sms.Receipt {
		r.err = errors.New("cannot explain a receipt: it goes to the client of its message, whatever the routes")
	}
	r.text, _ = smstext.Decode(m.Alphabet, m.Flags&sms.HasHeader != 0, m.Text())
	r.answer.from, r.answer.to = addressOf(m.Source()), addressOf(m.Dest())
}

// A seen are the fields of a message that plugins may change.
type seen struct{ from, to, text, tags, network string }

func (r *run) seen(m *sms.Message) (s seen) {
	if m != nil {
		s = seen{from: addressOf(m.Source()).String(), to: addressOf(m.Dest()).String(), tags: string(m.Tags())}
		s.network = cmp.Or(m.Network.String(), "not known")
		s.text, _ = smstext.Decode(m.Alphabet, m.Flags&sms.HasHeader != 0, m.Text())
	}
	return s
}

// plugins records how plugins have changed a message, and the plugins that were not asked.
func (r *run) plugins(now int64, before *sms.Message, was seen, s *intake.Submission) {
	change := func(format string, a ...any) {
		r.answer.changes = append(r.answer.changes, fmt.Sprintf("step plugins: "+format, a...))
	}
	for _, name := range r.gateway.Hooks.Waiting(s.Message) {
		if s.Code != sms.OK || s.Held() {
			break
		}
		change("plugin %s is not asked here, so its answer is not known", name)
	}
	for _, e := range r.logged {
		if !strings.HasPrefix(e.Message, "message refused") {
			change("%s", e.Message)
		}
	}
	is := r.seen(s.Message)
	for _, c := range []struct{ what, was, is string }{
		{"its sender is", was.from, is.from}, {"its recipient is", was.to, is.to}, {"its text is", was.text, is.text},
		{"it has the tags", was.tags, is.tags}, {"its network is", was.network, is.network},
	} {
		if c.was != c.is {
			change("%s %s", c.what, c.is)
		}
	}
	if at := s.Message.DeliverAt; at != before.DeliverAt {
		change("it leaves in %s", time.Duration(at-now).Round(time.Second))
	}
}

// network records the network of a message, if there is a table of networks.
func (r *run) network(m *sms.Message) {
	if r.config.Networks.File == "" || r.target != 0 {
		return
	}
	text := cmp.Or(m.Network.String(), "not known")
	if name := r.gateway.Intake.Networks.Name(m.Network); name != "" {
		text += " (" + name + ")"
	}
	r.answer.changes = append(r.answer.changes, "step network: its network is "+text)
}

// price records what the account pays for a message.
func (r *run) price(now int64, s *intake.Submission) {
	currency := r.gateway.Intake.Credit.CurrencyOf(&s.Message.Origin.Tally.Credit)
	if currency == "" {
		return
	}
	unit, _ := r.gateway.Intake.Credit.Price(s.Message, now)
	r.answer.price = (unit * sms.Money(s.Shorts())).String() + " " + currency
	if n := s.Shorts(); n > 1 {
		r.answer.price += fmt.Sprintf(" (%d short messages of %s)", n, unit)
	}
}

// compare records the changes of a step to other fields than the addresses and the text.
func (r *run) compare(now int64, before, m *sms.Message) {
	change := func(format string, a ...any) {
		r.answer.changes = append(r.answer.changes, fmt.Sprintf("step "+r.step+": "+format, a...))
	}
	if r.step == "quiet" && m.DeliverAt != before.DeliverAt {
		at := time.Unix(0, r.gateway.Node.Clock.Wall(m.DeliverAt)).In(r.account.QuietHours().Zone(number.Of(m.Dest())))
		change("it is delivered at %s, after the quiet hours of its recipient", at.Format("2006-01-02 15:04 MST"))
	}
	if m.Expires != before.Expires {
		from := ""
		if m.DeliverAt > now {
			from = " from its delivery time on"
		}
		change("it is valid for %s%s", time.Duration(m.Expires-max(now, m.DeliverAt)), from)
	}
	if m.Notify != before.Notify {
		change("it asks for receipts of success and failure")
	}
}

// choose records the targets of the message's route. The message goes to this run's target, whichever the step has chosen.
func (r *run) choose(s *intake.Submission, v intake.Verdict) intake.Verdict {
	if s.Held() {
		r.answer.held = true
		return v
	}
	if r.gateway.Table.LacksFirst(s.Message) {
		r.err = errors.New("cannot explain a part of a long message: the keyword of the first part decides about its route")
		return v
	}
	index, ways, ok := r.gateway.Table.Ways(s.Message)
	if !ok {
		return v
	}
	c := &r.config.Routes[index]
	r.answer.route = &route{index: index, name: r.config.RouteName(index), policy: c.Policy, least: c.LeastDelivered}
	if r.ways = len(ways); r.ways == 0 {
		return v
	}
	if r.way = &ways[r.target]; r.way.Back {
		return v
	}
	s.Lane, s.Code = r.way.Lane, sms.OK
	return intake.Pass
}

// rule records the effect of a rule, up to the first rule that refuses the message.
func (r *run) rule(s rewrite.Step) {
	if r.refusedBy() != "" {
		return
	}
	add := func(of string, texts []rewrite.Rule, in, out *rewrite.Rules) {
		if s.Rules == in || s.Rules == out {
			r.rules = append(r.rules, ruleOf(of, texts[s.Rule], &s))
		}
	}
	for i := range r.config.Connectors {
		c := &r.config.Connectors[i]
		add("connector "+c.Name, c.Rewrite, c.RewriteIn(), c.RewriteOut())
	}
	for i := range r.config.Accounts {
		a := &r.config.Accounts[i]
		add("account "+a.SystemID, a.Rewrite, a.RewriteIn(), a.RewriteOut())
	}
}

// refusedBy returns the rule that refuses the message, or "".
func (r *run) refusedBy() string {
	if n := len(r.rules); n > 0 {
		return r.rules[n-1].refusal
	}
	return ""
}

// end records how the steps ended for the message, and the ways out.
func (r *run) end(s *intake.Submission, v intake.Verdict) {
	var refused refusal
	if v == intake.Refuse {
		refused = r.refusal(s.Code)
	}
	if r.target == 0 {
		r.answer.in, r.answer.refusal, r.answer.parked = r.rules, refused, v == intake.Pass && s.Lane == nil
	}
	if r.way != nil {
		r.leave(s.Message, refused)
	}
}

// refusal returns the reason why the last step refuses the message.
func (r *run) refusal(code sms.Code) refusal {
	f := refusal{code: code.String(), step: r.step}
	f.refused = f.code
	if by := r.refusedBy(); by != "" {
		f.refused = by
	} else if len(r.logged) > 0 {
		f.refused = strings.TrimPrefix(strings.TrimPrefix(r.logged[0].Message, "message refused: "), "message refused by ")
		f.refused = strings.TrimSuffix(f.refused, ": "+f.code)
		if r.logged[0].Field != "" {
			f.refused += " (" + r.logged[0].Field + ")"
		}
	}
	return f
}

// leave records the ways to the target: one for an out connector, and one for each in connector that an
// account may have sessions on.
func (r *run) leave(m *sms.Message, refused refusal) {
	lane := r.way.Lane
	weight := ""
	if r.answer.route.policy == config.Weighted {
		weight = fmt.Sprintf(", weight %d", r.config.Routes[r.answer.route.index].To[r.way.Target].Weight)
	}
	add := func(to *config.Connector, account *config.Account, or bool, format string, a ...any) {
		w := way{target: r.way.Target, or: or, name: fmt.Sprintf(format, a...) + weight, back: r.way.Back, refusal: refused}
		if r.answer.route.policy == config.Cost {
			w.cost = r.cost(m)
		}
		w.quality, w.known = r.quality(m)
		if !w.back && w.refused == "" {
			w.text = r.sent(m, r.link(to, account))
		}
		r.answer.ways = append(r.answer.ways, w)
	}
	i := slices.IndexFunc(r.config.Accounts, func(a config.Account) bool { return a.SystemID == lane.Account })
	again := false
	for j := range r.config.Connectors {
		switch to := &r.config.Connectors[j]; {
		case !lane.ToClient() && to.Name == lane.Home().Name:
			add(to, nil, false, "connector %s", to.Name)
		case !lane.ToClient() || !r.config.Accounts[i].MayUse(to):
		case again:
			add(to, &r.config.Accounts[i], true, "%s on connector %s", receivers(to, "those"), to.Name)
		default:
			again = true
			add(
				to, &r.config.Accounts[i], false, "the %s of account %s on connector %s", receivers(to, "sessions"),
				lane.Account, to.Name,
			)
		}
	}
}

// cost returns what the SMSC of this run's target charges.
func (r *run) cost(m *sms.Message) *cost {
	c := &cost{}
	if lane := r.way.Lane; !lane.ToClient() {
		c.amount, c.known = r.gateway.Table.Cost(lane.Home().Name, m, r.gateway.Node.Clock.WallNow())
		_, c.currency = r.config.Currencies("", lane.Home().Name)
	}
	return c
}

// quality returns the quality of this run's target, and whether it is known and the policy of the route looks at it.
func (r *run) quality(m *sms.Message) (quality int, known bool) {
	of := r.question.Quality
	if of == nil || r.way.Lane.ToClient() || r.answer.route.policy != config.Cost && r.answer.route.policy != config.Quality {
		return connector.MostQuality, false
	}
	return of(r.way.Lane.Home().Name, m.Network)
}

// receivers returns a name for the sessions or the webhook that an account gets its messages by on a connector.
func receivers(on *config.Connector, sessions string) string {
	if on.Transport() == config.BySession {
		return sessions
	}
	return "events"
}

// passes asks the plugins of the hook send about a message that leaves by a session. It returns the message as it
// leaves, nil if it does not leave, and lines about the plugins' answers.
func (r *run) passes(m *sms.Message, l *connector.Link) (leaving *sms.Message, said string) {
	lane := r.way.Lane
	g := r.gateway
	if d := leave.New(g.Node, g.Keeper, g.Table, g.Convert, g.Hooks); !d.IsOpen(lane) {
		slot := &connector.Slot{Message: m, Link: l, Share: r.gateway.Table.Share(lane, m.Origin)}
		changed, leaves := d.Preview(r.gateway.Node.Clock.Now(), slot, func(plugin, says string) {
			said += fmt.Sprintf("     hook send: plugin %s %s\n", plugin, says)
		})
		switch {
		case !leaves:
			return nil, ": it does not leave now\n" + said
		case changed != nil:
			return changed, said
		}
	}
	return m, said
}

// parameters returns a line about the optional parameters that the account adds to its messages for an SMSC.
func (r *run) parameters(to *config.Connector) string {
	if r.account == nil || len(r.account.TLVs) == 0 || to.Protocol != "smpp" || to.Role() != protocols.Client {
		return ""
	}
	var tags []string
	for _, p := range r.account.TLVs {
		tags = append(tags, p.TLV)
	}
	return fmt.Sprintf(
		"     it gets the tlvs %s of account %s, if it came without them\n", strings.Join(tags, ", "), r.account.SystemID,
	)
}

// sent returns lines about the message as it is sent by a session.
func (r *run) sent(m *sms.Message, l *connector.Link) string {
	r.rules, r.logged = nil, nil
	m, said := r.passes(m, l)
	if m == nil {
		return said
	}
	out := r.gateway.Node.Messages.Copy(m)
	if l.Session == nil { // webhooks and requests convert the message themselves
		out = r.gateway.Convert.Leaving(&l.Source, out)
	} else if copied := r.gateway.Convert.Encode(
		r.gateway.Node.Clock.Now(), l, l.Connector.Driver.NewPDU(), out, 1,
	); copied != nil {
		out = copied
	}
	s := fmt.Sprintf(": from %s to %s\n", addressOf(out.Source()).full(), addressOf(out.Dest()).full()) + said
	s += lines("     ", r.rules) + r.parameters(l.Connector.Config())
	var lost []string
	for _, e := range r.logged {
		if e.Field != "" && m.Protocol() != l.Connector.Protocol {
			lost = append(lost, e.Field)
		}
	}
	if len(lost) > 0 {
		s += fmt.Sprintf("     it loses %s, which the protocol lacks\n", strings.Join(lost, ", "))
	}
	if r.text == "" {
		return s
	}
	parts := len(r.gateway.Convert.CutFor(l.Connector.Form(), m))
	if text := textOf(l.Connector.Form(), out, parts, r.text); text != nil {
		s += fmt.Sprintf("     the text is %s\n", text)
	}
	return s
}
