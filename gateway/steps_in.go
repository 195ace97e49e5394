package gateway

import (
	"pmg/connector"
	"pmg/gateway/keep"
	"pmg/sms"
)

func (g *Gateway) stepRate(now int64, s *submission) Verdict {
	l := s.from
	wait, ok := l.Account.Admit(now)
	if s.after = now + wait; !ok {
		s.after = 0
		return s.refuses(g, now, sms.Throttled, &g.Storms.Fast, "message refused: the account is faster than its rate")
	}
	if s.others == nil {
		g.eases(now, l)
	} else if s.others.isFull() {
		return s.tooMany(g, now)
	}
	return Pass
}

// tooMany refuses a recipient because its PDU becomes too many messages.
func (s *submission) tooMany(g *Gateway, now int64) Verdict {
	return s.refuses(g, now, sms.QueueFull, &g.Storms.NoRoom, "message refused: one PDU may become 4096 short messages or 8 MiB at most; send fewer recipients together")
}

func (g *Gateway) stepOpen(now int64, s *submission) Verdict {
	closed := g.Draining()
	if s.way == Replaced {
		closed = !g.Memory.HasSpare() // what waited on disk stays in memory from then on
	}
	if closed || !g.MayStore() {
		return s.refuses(g, now, sms.QueueFull, nil, "")
	}
	return Pass
}

func (g *Gateway) stepRead(now int64, s *submission) (v Verdict) {
	var code sms.Code
	if s.change != nil {
		code = s.change(now, s.message)
	} else {
		s.message = g.Messages.Get()
		s.message.Origin = s.from.Origin
		code = g.Convert.Message(now, s.from, s.pdu, s.message)
		s.message.Arrived = now
	}
	if code != sms.OK {
		return s.invalid(g, now, code, "message refused: ")
	}
	if s.message.Kind == sms.Receipt && s.way == Delivered {
		s.way = Reported
	}
	return Pass
}

func (g *Gateway) stepSchedule(now int64, s *submission) Verdict {
	if code := g.mayWait(now, s); code != sms.OK {
		return s.invalid(g, now, code, "message refused: ")
	}
	return Pass
}

func (g *Gateway) stepValidity(now int64, s *submission) Verdict {
	g.limitValidity(now, s.message)
	return Pass
}

func (g *Gateway) stepReceipts(_ int64, s *submission) Verdict {
	g.forceReceipts(s.message)
	return Pass
}

func (g *Gateway) stepRewrite(now int64, s *submission) Verdict {
	if code := g.Convert.RewriteIn(s.from, s.message); code != sms.OK {
		return s.invalid(g, now, code, "message refused by a rule of rewrite: ")
	}
	return Pass
}

func (g *Gateway) stepKeyword(_ int64, s *submission) Verdict {
	g.NoteKeyword(s.message)
	return Pass
}

func (g *Gateway) stepRoute(now int64, s *submission) Verdict {
	m := s.message
	if s.lane = g.Route(m); s.lane != nil {
		return Pass
	}
	switch {
	case g.WaitsForFirst(m):
		return Pass
	case g.parks(m) && g.mayPark(m, s.others):
		return Pass
	case g.parks(m):
		return s.invalid(g, now, sms.QueueFull, "message refused: no route leads anywhere, and max_parked messages of the account wait for an operator already: ")
	}
	code := noRoute(m)
	if g.LacksFirst(m) {
		code = sms.QueueFull // too many parts wait for their first one; the peer sends it again
	}
	g.unrouted.Add(1)
	return s.refuses(g, now, code, &g.Storms.Unrouted, "message refused: no route matches")
}

func (g *Gateway) stepFit(now int64, s *submission) Verdict {
	if s.lane == nil {
		return Pass
	}
	switch code := g.suit(s.lane, s.message, s.others); code {
	case sms.OK:
		return Pass
	case sms.BadLength:
		return s.invalid(g, now, code, "message refused: its text takes more parts than there may be (max_parts of its account): ")
	default:
		return s.invalid(g, now, code, "message refused for its content: ")
	}
}

func (g *Gateway) stepSingle(now int64, s *submission) Verdict {
	if m := s.message; m.Parts > 1 || m.Flags&sms.Converted != 0 {
		return s.refuses(g, now, sms.BadLength, nil, "")
	}
	return Pass
}

func (g *Gateway) stepParts(now int64, s *submission) Verdict {
	if s.lane == nil || s.message.Parts < 2 {
		return Pass
	}
	if code := g.mayWait(now, s); code != sms.OK {
		return s.invalid(g, now, code, "message refused for its content: ")
	}
	if l := s.from; l.Account != nil {
		l.Account.Charge(now, int64(s.message.Parts)-1) // one of them was admitted
	}
	return Pass
}

func (g *Gateway) stepRoom(now int64, s *submission) Verdict {
	if s.lane != nil {
		s.share = g.shareFor(s.from, s.lane)
	}
	a := s.accepted()
	if s.others != nil && !s.others.has(a) {
		return s.tooMany(g, now)
	}
	switch {
	case s.share == nil || s.desk.hasRoom(a, s.others):
	case s.others == nil && s.desk.waits(now, s):
		return Later
	default:
		g.logNoRoom(now, s.from, s.share)
		return s.refuses(g, now, sms.QueueFull, nil, "")
	}
	if s.way == Delivered {
		g.warnNearlyFull(s.share)
	}
	return Pass
}

// accepted returns the message and its place.
func (s *submission) accepted() keep.Accepted {
	return keep.Accepted{Message: s.message, Share: s.share}
}

// shareFor returns the share of a lane for the messages of a session, which mostly go to the lane
// that the last one went to.
func (g *Gateway) shareFor(l *connector.Link, lane *connector.Lane) *connector.Share {
	if s := l.LastShare; s == nil || s.Lane != lane {
		l.LastShare = g.Share(lane, l.Origin)
	}
	return l.LastShare
}

// noRoute returns the answer to a message without a route.
func noRoute(m *sms.Message) sms.Code {
	if m.Kind == sms.MO {
		return sms.Rejected
	}
	return sms.BadDestination
}
