package intake

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"pmg/connector"
	"pmg/connector/account"
	"pmg/gateway/keep"
	"pmg/gateway/roomtest"
	"pmg/internal/testkit/testutil"
	"pmg/protocols/prototest/toy"
	"pmg/sms"
)

// A full room has room for nothing.
type full struct{}

func (full) HasRoom(keep.Accepted, *Several) bool { return false }

// A place is a Checker, and the log of what it refuses.
type place struct {
	*Checker
	t   testing.TB
	log *testutil.Log

	client *account.Account // that has logged in
}

// newPlace makes a Checker whose account has options, as has its operator, for routes.
func newPlace(t testing.TB, general, account, operator, routes string) *place {
	t.Helper()
	return newPlaceOf(t, general, "max_schedule: 1h, max_scheduled: 2, "+account, operator, routes)
}

// newPlaceOf is newPlace without other options of the account.
func newPlaceOf(t testing.TB, general, account, operator, routes string) *place {
	t.Helper()
	d := newDesk(t, fmt.Sprintf(`
pdulog: {enabled: false}
%s
accounts:
  - {system_id: client, password: secret, %s}
  - {system_id: other, password: secret}
connectors:
  - {name: clients, direction: in, address: "127.0.0.1:0"}
  - {name: operator, direction: out, address: "127.0.0.1:1", system_id: pmg, password: secret, %s}
  - {name: beside, direction: out, address: "127.0.0.1:1", system_id: pmg, password: secret}
routes: %s
`, general, account, operator, routes))
	p := &place{Checker: d, t: t, log: &testutil.Log{}}
	d.node.Log = zerolog.New(p.log)
	return p
}

// submission makes one of a message that comes in such a way.
func (p *place) submission(way Ways, kind sms.Kind, change func(*sms.Message)) *Submission {
	from := &connector.Source{Connector: p.table.Connector("clients"), Origin: p.node.Origins.Of("client", "clients")}
	if kind != sms.Submit {
		from = &connector.Source{Connector: p.table.Connector("operator"), Origin: p.node.Origins.Of("", "operator")}
	}
	return &Submission{Way: way, From: from, Room: open{}, Change: func(_ int64, m *sms.Message) sms.Code {
		m.Kind = kind
		m.Set(sms.Address{Addr: []byte("1234")}, sms.Address{Addr: []byte("46700000001")}, []byte("text"))
		if change != nil {
			change(m)
		}
		return sms.OK
	}}
}

const (
	toOperator = "[{from: operator, to: beside}, {to: operator}]"
	elsewhere  = `[{destination: "1", to: operator}]` // than to the recipient of the messages
	parks      = "no_route: park"
	hour       = 3600 * second
)

// Each step that refuses a message answers its sender with a code that says what to do, counts the message, and logs
// why. A message that is refused for what another may do is one that its sender loses.
func TestStepsRefuse(t *testing.T) {
	t.Parallel()
	later := func(ahead int64) func(*sms.Message) { return func(m *sms.Message) { m.DeliverAt = now + ahead } }
	text := func(text string) func(*sms.Message) { return func(m *sms.Message) { m.SetText([]byte(text)) } }
	latin := func(m *sms.Message) { m.SetText([]byte("\xe3")); m.Alphabet = sms.Latin1 }
	drains := func(p *place, _ *Submission) { p.node.Drain() }
	noMemory := func(p *place, _ *Submission) { p.node.Memory.SetLimit(0) }
	stuck := func(p *place, _ *Submission) { p.keep.Storing.Store(1 << 40) }
	scheduled := func(n int64) func(*place, *Submission) {
		return func(_ *place, s *Submission) { s.From.Origin.Tally.Scheduled.Store(n) }
	}
	parked := func(n int64) func(*place, *Submission) {
		return func(_ *place, s *Submission) { s.From.Origin.Tally.Parked.Store(n) }
	}
	beside := func(others *Several) func(*place, *Submission) {
		return func(_ *place, s *Submission) { s.Others = others }
	}
	for name, c := range map[string]struct {
		general, account, operator, routes string
		way                                Ways // 0: Submitted, behind the rate
		kind                               sms.Kind
		change                             func(*sms.Message)
		before                             func(p *place, s *Submission)
		code                               sms.Code // OK: it passes
		step                               string   // that refuses it
		log                                string
	}{
		"as usual":                   {},
		"while the gateway stops":    {before: drains, code: sms.QueueFull, step: "open"},
		"MO while it stops":          {way: Delivered, kind: sms.MO, before: drains, code: sms.QueueFull, step: "open"},
		"replacement while it stops": {way: Replaced, before: drains},
		"replacement without memory": {way: Replaced, before: noMemory, code: sms.QueueFull, step: "open"},
		"at the SMSC without memory": {way: ReplacedAt, before: noMemory},
		"the store cannot keep up":   {before: stuck, code: sms.QueueFull, step: "open"},
		"replacement, likewise":      {way: Replaced, before: stuck, code: sms.QueueFull, step: "open"},
		"its account lost the login": {
			before: func(_ *place, s *Submission) { s.Session = &connector.Link{}; s.Session.Revoked = true },
			code:   sms.BadState, step: "open",
		},
		"no message": {
			before: func(_ *place, s *Submission) { s.Change = func(int64, *sms.Message) sms.Code { return sms.BadSource } },
			code:   sms.BadSource, step: "read", log: "no valid message",
		},
		"an hour ahead":           {change: later(hour)},
		"more than an hour ahead": {change: later(hour + 1), code: sms.BadSchedule, step: "schedule", log: "max_schedule"},
		"MO in a week":            {way: Delivered, kind: sms.MO, change: later(7 * 24 * hour)},
		"MO in more than a week": {
			way: Delivered, kind: sms.MO, change: later(7*24*hour + 1), code: sms.BadSchedule, step: "schedule",
		},
		"the second of two": {change: later(1), before: scheduled(1)},
		"the third of two": {
			change: later(1), before: scheduled(2), code: sms.QueueFull, step: "schedule", log: "max_scheduled",
		},
		"the third, due now": {change: later(0), before: scheduled(2)},
		"the third, counted already": {
			change: later(1), before: func(p *place, s *Submission) { scheduled(2)(p, s); s.Counted = true },
		},
		"the second beside another": {
			change: later(1), before: func(p *place, s *Submission) { scheduled(1)(p, s); s.Others = &Several{n: 1} },
			code: sms.QueueFull, step: "schedule",
		},
		"MO, the last that may wait": {way: Delivered, kind: sms.MO, change: later(1), before: scheduled(9_999)},
		"MO, one more": {
			way: Delivered, kind: sms.MO, change: later(1), before: scheduled(10_000), code: sms.QueueFull, step: "schedule",
		},
		"to a number on a list": {
			account: `rewrite: [{in: destination, deny: ["46*"]}]`, before: login, code: sms.BadDestination, step: "rewrite",
			log: "rule of rewrite",
		},
		"to a blocked number": {
			general: listed(t, "46700000001"), account: "block: [numbers]", code: sms.Blocked, step: "lists",
			log: "its recipient is on list numbers (block): blocked",
		},
		"to another":             {general: listed(t, "46700000002"), account: "block: [numbers]"},
		"to an allowed one":      {general: listed(t, "4670*"), account: "allow: [numbers]"},
		"to one not allowed":     {general: listed(t, "4671*"), account: "allow: [numbers]", code: sms.Blocked, step: "lists", log: "of allow"},
		"by a registered sender": {general: listed(t, "1234"), account: "senders: [numbers]"},
		"by another sender": {
			general: listed(t, "12345"), account: "senders: [numbers]", code: sms.BadSource, step: "lists", log: "of senders",
		},
		"MO of a blocked number": {
			way: Delivered, kind: sms.MO, general: listed(t, "1234"), operator: "block: [numbers]", code: sms.Blocked, step: "lists",
			log: "its sender is on list numbers",
		},
		"MO, not of the account": {way: Delivered, kind: sms.MO, general: listed(t, "1234"), account: "block: [numbers]"},
		"receipt, in any case":   {way: Reported, kind: sms.Receipt, general: listed(t, "1234"), operator: "block: [numbers]"},
		"no route":               {routes: elsewhere, code: sms.BadDestination, step: "route", log: "no route matches"},
		"MO without a route": {
			routes: elsewhere, way: Delivered, kind: sms.MO, code: sms.Rejected, step: "route", log: "no route matches",
		},
		"receipt without a route": {routes: elsewhere, way: Reported, kind: sms.Receipt},
		"MO that is a receipt":    {routes: elsewhere, way: Delivered, kind: sms.Receipt},
		"parked":                  {general: parks, account: "max_parked: 1", routes: elsewhere},
		"no more may be parked": {
			general: parks, account: "max_parked: 1", routes: elsewhere, before: parked(1), code: sms.QueueFull,
			step: "route", log: "max_parked",
		},
		"nor beside others": {
			general: parks, account: "max_parked: 1", routes: elsewhere, before: beside(&Several{n: 1}), code: sms.QueueFull,
			step: "route",
		},
		"MO, the last to be parked": {general: parks, routes: elsewhere, way: Delivered, kind: sms.MO, before: parked(9_999)},
		"MO, one more than is parked": {
			general: parks, routes: elsewhere, way: Delivered, kind: sms.MO, before: parked(10_000), code: sms.QueueFull,
			step: "route",
		},
		"missing characters": {
			operator: "encode_as: default, missing_characters: refuse", change: latin, code: sms.BadParameter, step: "fit",
			log: "missing_characters",
		},
		"too many parts": {
			operator: "long_messages: split8", account: "max_parts: 2", change: text(strings.Repeat("x", 400)),
			code: sms.BadLength, step: "fit", log: "max_parts",
		},
		"replaced by several": {
			way: Replaced, operator: "long_messages: split8", change: text(strings.Repeat("x", 161)), before: lane,
			code: sms.BadLength, step: "single",
		},
		"replaced by one": {
			way: Replaced, operator: "long_messages: split8", change: text(strings.Repeat("x", 160)), before: lane,
		},
		"replaced, converted": {
			way: ReplacedAt, operator: "encode_as: default", change: latin, before: lane, code: sms.BadLength,
			step: "single",
		},
		"several parts later": {
			operator: "long_messages: split8",
			change:   func(m *sms.Message) { later(1)(m); text(strings.Repeat("x", 400))(m) }, code: sms.QueueFull,
			step: "fit", log: "max_scheduled",
		},
		"no room": {
			before: func(_ *place, s *Submission) { s.Room = full{} }, code: sms.QueueFull, step: "room",
			log: "the queue for connector operator is full",
		},
		"no room among several": {
			before: func(_ *place, s *Submission) { s.Room, s.Waits, s.Others = full{}, true, &Several{} }, code: sms.QueueFull,
			step: "room",
		},
		"no memory": {
			before: func(p *place, s *Submission) { s.Room = full{}; p.node.Memory.SetLimit(0) }, code: sms.QueueFull,
			step: "room", log: "limits.memory is reached",
		},
		"its part of the memory": {
			before: func(p *place, s *Submission) { s.Room = full{}; s.From.Origin.Tally.Memory.Store(1 << 40) },
			code:   sms.QueueFull, step: "room", log: "half of limits.memory",
		},
		"parked needs no room": {general: parks, routes: elsewhere, before: func(_ *place, s *Submission) { s.Room = full{} }},
		"one PDU is full": {
			before: beside(&Several{n: mostOfOne}), code: sms.QueueFull, step: "room", log: "4096 short messages",
		},
		"the last of one PDU": {before: beside(&Several{n: mostOfOne - 1})},
		"one PDU has 8 MiB":   {before: beside(&Several{Octets: mostOctetsOfOne}), code: sms.QueueFull, step: "room"},
	} {
		if c.routes == "" {
			c.routes = toOperator
		}
		p := newPlace(t, c.general, c.account, c.operator, c.routes)
		s := p.submission(Submitted, c.kind, c.change)
		if s.Way = c.way; c.way == 0 {
			s.Way = Submitted
			p.Use(p.steps[1:])
		}
		if c.before != nil {
			c.before(p, s)
		}
		v := p.Take(now, s)
		if (v == Pass) != (c.code == sms.OK) || (v == Refuse) != (c.code != sms.OK) || s.Code != c.code || s.Refuser(p.Checker) != c.step {
			t.Errorf("%s: verdict %d, %s by %q; want %s by %q", name, v, s.Code, s.Refuser(p.Checker), c.code, c.step)
		}
		refused := int64(0)
		if c.code != sms.OK {
			refused = 1
		}
		if n := s.From.Connector.Stats.Refused.Load(); n != refused {
			t.Errorf("%s: %d are counted as refused", name, n)
		}
		if c.step == "route" && c.log == "no route matches" != (p.Unrouted() == 1) {
			t.Errorf("%s: %d had no route", name, p.Unrouted())
		}
		if log := p.log.String(); !strings.Contains(log, c.log) || c.code == sms.OK && log != "" {
			t.Errorf("%s: the log says %q", name, log)
		}
		s.Drop()
		s.Drop()
		if s.Message != nil {
			t.Errorf("%s: the message is still there", name)
		}
	}
}

// login logs the client in.
func login(p *place, s *Submission) {
	if p.client == nil {
		p.client = (&roomtest.Ground{Node: p.node}).Client(p.t, "client")
	}
	s.From.Account = p.client
}

// lane makes a submission leave by the operator.
func lane(p *place, s *Submission) { s.Lane = p.table.LaneOf(p.table.Connector("operator")) }

// A message waits where its sender may wait, and takes its other steps when it goes on. With a code it is refused.
func TestStepsWait(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "", "", "", toOperator)
	s := p.submission(Delivered, sms.MO, nil)
	s.Room, s.Waits = full{}, true
	if v := p.Take(now, s); v != Later || s.Work != nil || s.Share == nil || s.Refuser(p.Checker) != "" {
		t.Errorf("verdict %d, %s", v, s.Code)
	}
	if v := p.Take(now, s); v != Pass {
		t.Errorf("when there is room: verdict %d, %s", v, s.Code)
	}
	s = p.submission(Delivered, sms.MO, nil)
	s.Code = sms.SystemError
	if v := p.Take(now, s); v != Refuse || s.Code != sms.SystemError || s.From.Connector.Stats.Refused.Load() != 1 {
		t.Errorf("after work that failed: verdict %d, %s", v, s.Code)
	}
	n := 0
	p.Use(append([]Step{{Name: "slow", Ways: Delivered, Do: func(_ *Checker, _ int64, s *Submission) Verdict {
		s.Work = func() sms.Code { n++; return sms.OK }
		return Later
	}}}, p.steps...))
	s = p.submission(Delivered, sms.MO, nil)
	if code := p.TakeWaiting(now, s); code != sms.OK || n != 1 || s.Share == nil || s.Work != nil {
		t.Errorf("%s after work that was done %d times", code, n)
	}
	p.Use(append([]Step{{Name: "failing", Ways: Delivered, Do: func(_ *Checker, _ int64, s *Submission) Verdict {
		s.Work = func() sms.Code { return sms.SystemError }
		return Later
	}}}, p.steps...))
	if code := p.TakeWaiting(now, p.submission(Delivered, sms.MO, nil)); code != sms.SystemError || n != 1 {
		t.Errorf("%s after work that failed; the next was done %d times", code, n)
	}
}

// An account gets receipts of all that it submits if it is to, and no other account does.
func TestReceiptsAreForced(t *testing.T) {
	t.Parallel()
	const ends = sms.NotifySuccess | sms.NotifyFailure
	for _, c := range []struct {
		options, account string
		kind             sms.Kind
		asked, want      sms.Notify
	}{
		{"", "client", sms.Submit, 0, 0},
		{"receipts: force", "client", sms.Submit, 0, ends},
		{"receipts: force", "client", sms.Submit, sms.NotifySent, ends | sms.NotifySent},
		{"receipts: force", "other", sms.Submit, 0, 0},
		{"receipts: force", "nobody", sms.Submit, 0, 0},
		{"receipts: force", "client", sms.MO, 0, 0},
	} {
		p := newPlace(t, "", c.options, "", toOperator)
		s := p.submission(ReplacedAt, sms.Submit, func(m *sms.Message) { m.Notify, m.Kind = c.asked, c.kind })
		s.From.Origin = p.node.Origins.Of(c.account, "clients")
		if v := p.Take(now, s); v != Pass || s.Message.Notify != c.want {
			t.Errorf("%q of %s, kind %d: verdict %d, asks for %b", c.options, c.account, c.kind, v, s.Message.Notify)
		}
	}
}

// A part of a long message goes where the keyword of its first part leads, and is refused for now while nobody knows that.
func TestPartsFollowKeyword(t *testing.T) {
	t.Parallel()
	const routes = `[{keyword: stop, to: beside}, {to: {account: client}}]`
	part := func(p *place, number byte, text string) *Submission {
		return p.submission(Delivered, sms.MO, func(m *sms.Message) {
			m.SetText(append([]byte{5, 0, 3, 9, 2, number}, text...))
			m.Flags |= sms.HasHeader
		})
	}
	p := newPlace(t, "", "", "", routes)
	s := part(p, 2, "it")
	if v := p.Take(now, s); v != Later || s.Work == nil {
		t.Fatalf("the second part: verdict %d, %s", v, s.Code)
	}
	if s.Code = s.Work(); s.Code != sms.OK {
		t.Errorf("looking for the first part: %s", s.Code)
	}
	if v := p.Take(now, s); v != Refuse || s.Code != sms.QueueFull || p.Unrouted() != 0 {
		t.Errorf("without a first part: verdict %d, %s", v, s.Code)
	}
	for number, text := range []string{"STOP ", "it"} {
		s = part(p, byte(number+1), text)
		if v := p.Take(now, s); v != Pass || s.Lane == nil || s.Lane.Home().Name != "beside" {
			t.Errorf("part %d: verdict %d, %s, lane %v", number+1, v, s.Code, s.Lane)
		}
	}
}

// A preview is no message, so that it does not count as one that took a route.
func TestPreviewTakesNoRoute(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "", "", "", toOperator)
	for _, preview := range []bool{true, false} {
		before := fmt.Sprint(p.table.Taken(1))
		s := p.submission(Delivered, sms.MO, nil)
		s.Preview = preview
		if v := p.Take(now, s); v != Pass || s.Lane == nil || (fmt.Sprint(p.table.Taken(1)) == before) != preview {
			t.Errorf("preview %t: verdict %d, taken %v after %v", preview, v, p.table.Taken(1), before)
		}
	}
}

// The text of a message to several recipients is fitted once for each lane, and all get the same: text, alphabet and parts, or
// the same refusal. The header of one recipient's text is not another's.
func TestSeveralAreAlike(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "", "", "long_messages: split8, encode_as: default, missing_characters: refuse", toOperator)
	p.Use(p.steps[1:]) // behind the rate
	others := &Several{}
	for n := range 3 {
		s := p.submission(Submitted, sms.Submit, func(m *sms.Message) {
			m.Alphabet = sms.Latin1
			m.SetText([]byte(strings.Repeat("\xe9", 200)))
		})
		s.Others = others
		if v := p.Take(now, s); v != Pass {
			t.Fatalf("recipient %d: verdict %d, %s", n, v, s.Code)
		}
		m := s.Message
		if m.Parts != 2 || m.Alphabet != sms.Default || m.Flags&sms.Converted == 0 || string(m.Text()) != strings.Repeat("\x05", 200) {
			t.Errorf("recipient %d gets %q of %d parts in alphabet %d, flags %b", n, m.Text(), m.Parts, m.Alphabet, m.Flags)
		}
		others.Add(s.Accepted())
		if len(others.All) != n+1 || others.n != int64(2*(n+1)) || others.Octets < int64((n+1)*2*200) {
			t.Errorf("%d messages, %d short ones, %d octets", len(others.All), others.n, others.Octets)
		}
	}
	if len(others.fitted) != 1 {
		t.Errorf("the text was fitted %d times", len(others.fitted))
	}
	others.Forget()
	others = &Several{}
	for n := range 2 {
		s := p.submission(Submitted, sms.Submit, func(m *sms.Message) {
			m.Alphabet = sms.Latin1
			m.SetText([]byte("\xe3"))
		})
		s.Others = others
		if v := p.Take(now, s); v != Refuse || s.Code != sms.BadParameter {
			t.Errorf("recipient %d of what cannot be sent: verdict %d, %s", n, v, s.Code)
		}
	}
}

// The rate counts each part of a text. A PDU that is full of recipients is refused before the text is looked at.
func TestRateCountsParts(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "", "rate: 10, burst: 1", "long_messages: split8", toOperator)
	s := p.submission(Submitted, sms.Submit, func(m *sms.Message) { m.SetText([]byte(strings.Repeat("x", 1000))) })
	login(p, s)
	from := s.From
	if v := p.Take(now, s); v != Pass || s.After != now || s.Message.Parts != 7 {
		t.Fatalf("verdict %d, %s, answered in %d ns, %d parts", v, s.Code, s.After-now, s.Message.Parts)
	}
	s = p.submission(Submitted, sms.Submit, nil)
	s.From = from
	if v := p.Take(now, s); v != Pass || s.After != now+7*second/10 {
		t.Errorf("the next: verdict %d, %s, answered in %d ms", v, s.Code, (s.After-now)/1e6)
	}
	s = p.submission(Submitted, sms.Submit, nil)
	s.From, s.Others = from, &Several{n: mostOfOne}
	if v := p.Take(now, s); v != Refuse || s.Code != sms.QueueFull || s.Refuser(p.Checker) != "rate" || s.Message != nil {
		t.Errorf("a full PDU: verdict %d, %s by %s", v, s.Code, s.Refuser(p.Checker))
	}
}

// A session is not pressing any more when a message of it is admitted after a while.
func TestEases(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "", "", "", toOperator)
	s := p.submission(Submitted, sms.Submit, nil)
	login(p, s)
	s.Session = &connector.Link{Source: *s.From, Session: &toy.Session{}}
	s.Session.Pressing.Store(true)
	s.From.Account.IsPressing(now, 1000)
	if p.StepRate(now, s) != Pass || !s.Session.Pressing.Load() {
		t.Error("it eases while its account presses")
	}
	if p.StepRate(now+100*second, s) != Pass || s.Session.Pressing.Load() {
		t.Error("it presses later")
	}
}

// The ways of a step are words for operators.
func TestWays(t *testing.T) {
	t.Parallel()
	for w, want := range map[Ways]string{
		Submitted: "submit", Delivered | Reported: "MO, receipt", Replaced | ReplacedAt: "replace, replace at the SMSC",
		Submitted | Delivered | Reported | Replaced | ReplacedAt: "all", 0: "",
	} {
		if got := w.String(); got != want {
			t.Errorf("%d is %q, want %q", w, got, want)
		}
	}
}
