package intake

import (
	"pmg/connector"
	"pmg/gateway/keep"
	"pmg/sms"
)

// RateStep is the name of the step that limits the rate, which operations take as well.
const RateStep = "rate"

// StepRate is the step "rate", which operations take as well.
func (d *Checker) StepRate(now int64, s *Submission) Verdict {
	wait, ok := int64(0), false
	if s.Many {
		wait, ok = s.From.Account.AdmitOfMany(now)
	} else {
		wait, ok = s.From.Account.Admit(now)
	}
	if s.After = now + wait; !ok {
		s.After = 0
		return s.refuses(d, now, sms.Throttled, &d.node.LogLimits.Fast, "message refused: the account is faster than its rate")
	}
	switch {
	case s.Others != nil && s.Others.isFull():
		return s.tooMany(d, now)
	case s.Others == nil && s.Session != nil:
		d.eases(now, s.Session)
	}
	return Pass
}

// tooMany refuses a recipient because its PDU becomes too many messages.
func (s *Submission) tooMany(d *Checker, now int64) Verdict {
	return s.refuses(
		d, now, sms.QueueFull, &d.node.LogLimits.NoRoom,
		"message refused: one PDU may become 4096 short messages or 8 MiB at most; send fewer recipients together",
	)
}

func stepOpen(d *Checker, now int64, s *Submission) Verdict {
	if s.Session != nil && s.Session.Revoked {
		return s.refuses(d, now, sms.BadState, nil, "")
	}
	closed := d.node.Draining()
	if s.Way == Replaced {
		closed = !d.node.Memory.HasSpare() // messages from disk will stay in memory from now on
	}
	if closed || !d.keep.MayStore() {
		return s.refuses(d, now, sms.QueueFull, nil, "")
	}
	return Pass
}

func stepRead(d *Checker, now int64, s *Submission) (v Verdict) {
	fresh := s.Message == nil
	if fresh {
		s.Message = d.node.Messages.Get()
		s.Message.Origin = s.From.Origin
	}
	var code sms.Code
	if s.Change != nil {
		code = s.Change(now, s.Message)
	} else {
		code = d.convert.Message(now, s.Session, s.PDU, s.Message)
	}
	if fresh {
		s.Message.Arrived = now
	}
	if code != sms.OK {
		return s.invalid(d, now, code, "message refused: no valid message can be made of its fields: ")
	}
	if s.Way == Delivered && isReceipt(s.Message) {
		s.Way = Reported
	}
	return Pass
}

// isReceipt reports whether a message is certainly a receipt.
func isReceipt(m *sms.Message) bool {
	return m != nil && m.Kind == sms.Receipt && m.Flags&sms.ByText == 0
}

func stepText(d *Checker, _ int64, s *Submission) Verdict {
	m, from := s.Message, s.From.Connector
	if m.Flags&sms.ByText == 0 {
		return Pass
	}
	smsc := d.receipts.Of(from.Config())
	if d.receipts.IsOfLatest(smsc, m) {
		m.Flags &^= sms.ByText
		s.Way = Reported
		return Pass
	}
	s.Work = func() sms.Code {
		is, err := d.receipts.IsOfOurs(smsc, m)
		switch {
		case err != nil:
			d.keep.LogLookup(err)
			return sms.SystemError
		case is:
			m.Flags &^= sms.ByText
		default:
			d.convert.Unreport(from, m)
		}
		return sms.OK
	}
	return Later
}

func stepSchedule(d *Checker, now int64, s *Submission) Verdict {
	if code := d.mayWait(now, s); code != sms.OK {
		return s.tooLate(d, now, code)
	}
	return Pass
}

// tooLate refuses a submission that its account may not schedule.
func (s *Submission) tooLate(d *Checker, now int64, code sms.Code) Verdict {
	if code == sms.QueueFull {
		return s.invalid(
			d, now, code,
			"message refused: as many messages of its account as may (max_scheduled) wait for their delivery time: ",
		)
	}
	return s.invalid(d, now, code, "message refused: its delivery time is further ahead than max_schedule of its account: ")
}

func stepValidity(d *Checker, now int64, s *Submission) Verdict {
	d.limitValidity(now, s.Message)
	return Pass
}

func stepReceipts(d *Checker, _ int64, s *Submission) Verdict {
	d.forceReceipts(s.Message)
	return Pass
}

func stepRewrite(d *Checker, now int64, s *Submission) Verdict {
	if code := d.convert.RewriteIn(s.From, s.Message); code != sms.OK {
		return s.invalid(d, now, code, "message refused by a rule of rewrite: ")
	}
	return Pass
}

func stepLists(d *Checker, now int64, s *Submission) Verdict {
	if !d.lists.Screens() {
		return Pass
	}
	if r := d.lists.Screen(s.Message, !s.Preview); r.Code != sms.OK {
		return s.invalid(d, now, r.Code, "message refused: "+r.Why+": ")
	}
	return Pass
}

func stepKeyword(d *Checker, _ int64, s *Submission) Verdict {
	m := s.Message
	d.table.RememberKeyword(m)
	if d.table.LacksFirst(m) {
		s.Work = func() sms.Code { d.table.FindFirst(m); return sms.OK }
		return Later
	}
	return Pass
}

func stepRoute(d *Checker, now int64, s *Submission) Verdict {
	m := s.Message
	if s.at.held {
		if d.mayPark(m, s.Others) {
			return Pass
		}
		return s.invalid(
			d, now, sms.QueueFull, "message refused: a plugin holds it, and max_parked messages of the account wait already: ",
		)
	}
	if s.Preview {
		s.Lane = d.table.Route(m)
	} else {
		s.Lane = d.table.Choose(m)
	}
	if s.Lane != nil {
		return Pass
	}
	switch {
	case d.table.LacksFirst(m):
		return s.invalid(
			d, now, sms.QueueFull,
			"message refused for now: the first part of the long message, whose keyword decides the route, has not come: ",
		)
	case d.parks(m) && d.mayPark(m, s.Others):
		return Pass
	case d.parks(m):
		return s.invalid(
			d, now, sms.QueueFull,
			"message refused: no route leads anywhere, and max_parked messages of the account wait for an operator already: ",
		)
	}
	d.unrouted.Add(1)
	return s.refuses(d, now, noRoute(m), &d.node.LogLimits.Unrouted, "message refused: no route matches")
}

func stepAddresses(d *Checker, now int64, s *Submission) Verdict {
	if !s.Strict || s.Lane == nil || s.Lane.ToClient() {
		return Pass
	}
	switch code := d.convert.CheckLeaving(s.Lane.Home(), s.Message); code {
	case sms.OK:
		return Pass
	case sms.BadSource:
		return s.invalid(d, now, code, "message refused: it has no sender, and no rule of rewrite sets one: ")
	default:
		return s.invalid(
			d, now, code,
			"message refused: its recipient is a national number, and no rule of rewrite makes it international, or "+
				"gives it ton: 2: ",
		)
	}
}

func stepFit(d *Checker, now int64, s *Submission) Verdict {
	if s.Lane == nil {
		n, code := d.convert.Whole(nil, s.Message) // a parked message is also charged by its length
		if s.at.whole = n; code != sms.OK {
			return s.tooLong(d, now, code)
		}
		return s.few(d, now)
	}
	if code := d.convert.Cross(s.Lane, s.Message); code != sms.OK {
		return s.invalid(d, now, code, "message refused: it cannot leave by the other protocol: ")
	}
	switch code := s.fit(d); code {
	case sms.OK:
		n, _ := d.convert.Whole(s.Lane, s.Message) // fit has already refused a text with too many parts
		s.at.whole = n
		return s.few(d, now)
	case sms.BadLength:
		return s.tooLong(d, now, code)
	default:
		return s.invalid(d, now, code, "message refused: missing_characters is refuse, and the peer's alphabet lacks some: ")
	}
}

// tooLong refuses a submission whose text is too long.
func (s *Submission) tooLong(d *Checker, now int64, code sms.Code) Verdict {
	return s.invalid(d, now, code, "message refused: its text takes more parts than there may be (max_parts of its account): ")
}

// few refuses a submission that becomes more short messages than its client allows.
func (s *Submission) few(d *Checker, now int64) Verdict {
	n := max(int(sms.PartsOf(s.Message.Context())), s.Shorts())
	if s.Most > 0 && n > s.Most {
		return s.refuses(d, now, sms.BadLength, nil, "")
	}
	if s.Shorts() < 2 || s.Way&fresh == 0 {
		return Pass
	}
	return s.count(d, now)
}

func stepSingle(d *Checker, now int64, s *Submission) Verdict {
	m := s.Message
	if m.Parts > 1 || m.Flags&sms.Converted != 0 {
		return s.refuses(d, now, sms.BadLength, nil, "")
	}
	if paid := sms.PriceOf(m); paid != 0 && s.at.whole > 1 { // a long text must not replace a short one that was paid
		if price, _ := d.Credit.Price(m, now); price*sms.Money(s.at.whole) > paid {
			return s.refuses(d, now, sms.BadLength, nil, "")
		}
	}
	return Pass
}

// Shorts returns how many short messages a submission becomes, cut or whole.
func (s *Submission) Shorts() int { return max(int(s.Message.Parts), int(s.at.whole), 1) }

// count counts the parts of a submission towards the rate of its account, and towards the account's
// scheduled messages.
func (s *Submission) count(d *Checker, now int64) Verdict {
	if s.Lane != nil && s.Message.DeliverAt > now && d.isBeyond(s) {
		return s.tooLate(d, now, sms.QueueFull)
	}
	if client := s.From.Account; client != nil {
		client.Charge(now, int64(s.Shorts())-1) // one short message was already admitted
	}
	return Pass
}

func stepCredit(d *Checker, now int64, s *Submission) Verdict {
	code, why := sms.OK, ""
	if !s.Preview {
		code, why = d.Credit.Reserve(now, s.Message, s.Shorts())
	} else if _, why = d.Credit.Price(s.Message, now); why != "" {
		code = sms.NoPrice
	}
	if code == sms.OK {
		return Pass
	}
	s.at.why = why
	return s.invalid(d, now, code, "message refused: "+why+": ")
}

func stepRoom(d *Checker, now int64, s *Submission) Verdict {
	if s.Lane != nil {
		s.Share = d.shareFor(s.From, s.Lane)
	}
	a := s.Accepted()
	if s.Others != nil && !s.Others.has(a) {
		return s.tooMany(d, now)
	}
	switch {
	case s.Share == nil || s.Room.HasRoom(a, s.Others):
	case s.Others == nil && s.Waits:
		return Later
	default:
		return d.NoRoom(now, s)
	}
	if s.Way == Delivered {
		d.WarnNearlyFull(s.Share)
	}
	return Pass
}

// NoRoom refuses a submission for which there is no room.
func (d *Checker) NoRoom(now int64, s *Submission) Verdict {
	d.LogNoRoom(now, s.From, s.Share)
	return s.refuses(d, now, sms.QueueFull, nil, "")
}

// Accepted returns the message with its place.
func (s *Submission) Accepted() keep.Accepted {
	return keep.Accepted{Message: s.Message, Share: s.Share}
}

// shareFor returns the share of a lane for the messages of a source, which is usually the share of
// its last message.
func (d *Checker) shareFor(from *connector.Source, lane *connector.Lane) *connector.Share {
	if s := from.LastShare; s == nil || s.Lane != lane {
		from.LastShare = d.table.Share(lane, from.Origin)
	}
	return from.LastShare
}

// noRoute returns the answer to a message without a route.
func noRoute(m *sms.Message) sms.Code {
	if m.Kind == sms.MO {
		return sms.Rejected
	}
	return sms.BadDestination
}

// eases records that a message of a session is not refused immediately. If the session's account no longer has too many
// refusals, the session's lines in the pdu log are not limited any more.
func (d *Checker) eases(now int64, l *connector.Link) {
	if l.Pressing.Load() && !l.Account.IsPressing(now, 0) {
		l.Pressing.Store(false)
	}
}
