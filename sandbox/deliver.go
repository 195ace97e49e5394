package sandbox

import (
	"time"

	"pmg/gateway/request"
	"pmg/internal/smstext"
	"pmg/pdulog"
	"pmg/protocols/testsms"
	"pmg/sms"
	"pmg/sms/rewrite"
)

// Limits of the SMSC's deliveries.
const (
	atATime    = 64          // deliveries under way at the same time
	retryPause = time.Second // pause before a delivery is repeated after a temporary error of the gateway
	quoted     = 60          // maximum number of characters in a reply
	tonName    = 5           // TON of a name (3GPP TS 23.040 §9.1.2.5)
)

// plan schedules the receipt and the reply for an accepted message. asks selects the receipts that were asked for.
func (s *SMSC) plan(e *testsms.Ending, asks sms.Notify, out *sms.Message, text string) {
	due := s.due(e)
	if reports(e, asks) {
		for _, d := range s.receiptsOf(e, out.ID) {
			s.schedule.add(d)
		}
	}
	from, to := out.Dest(), out.Source()
	if !e.Replies || to.TON == tonName || len(to.Addr) == 0 || out.Part > 0 { // nobody can reply to a name
		return
	}
	reply := []rune("Re: " + text)
	from.Addr, to.Addr = append([]byte(nil), from.Addr...), append([]byte(nil), to.Addr...)
	s.schedule.add(&delivery{due: due, id: out.ID, ending: e, reply: string(reply[:min(len(reply), quoted)]), from: from, to: to})
}

// due returns the time of the receipt and the reply to a message that is accepted now.
func (s *SMSC) due(e *testsms.Ending) int64 {
	return s.gateway.Node.Clock.Now() + int64(e.Delay)*int64(s.connector.Config().Test.ReceiptDelay)
}

// reports reports whether a message gets a receipt, if the receipts in asks were asked for.
func reports(e *testsms.Ending, asks sms.Notify) bool {
	switch e.State {
	case sms.NoState:
		return false
	case sms.StateDelivered:
		return asks&sms.NotifySuccess != 0
	}
	return asks&sms.NotifyFailure != 0
}

// deliverAll delivers receipts and replies when they are due, until the end.
func (s *SMSC) deliverAll() {
	places := make(chan struct{}, atATime)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		d, next := s.schedule.take(s.gateway.Node.Clock.Now())
		if d != nil {
			select {
			case places <- struct{}{}:
			case <-s.group.Done():
				return
			}
			s.group.Go(func() {
				defer func() { <-places }()
				s.deliver(d)
			})
			continue
		}
		timer.Reset(time.Hour)
		if next != 0 {
			timer.Reset(time.Duration(next - s.gateway.Node.Clock.Now()))
		}
		select {
		case <-timer.C:
		case <-s.schedule.changed:
		case <-s.group.Done():
			return
		}
	}
}

// deliver submits a delivery to the gateway, like an SMSC.
func (s *SMSC) deliver(d *delivery) {
	var r request.Result
	if d.reply != "" {
		r = s.bring(d.from, d.to, d.reply)
	} else {
		r = s.report(d)
	}
	if r.Code != sms.OK && r.Code.Retryable() {
		d.due = s.gateway.Node.Clock.Now() + int64(retryPause)
		s.schedule.again(d)
		return
	}
	if s.schedule.done(d); d.reply != "" && r.Code == sms.OK {
		s.showReply(d)
	}
}

// report delivers a receipt.
func (s *SMSC) report(d *delivery) request.Result {
	report := d.ending.Network
	report.ID, report.State, report.Done = peerID(d.id), d.ending.State, s.gateway.Node.Clock.WallNow()
	r := s.gateway.Requests.Deliver(s.source(), func(m *sms.Message) sms.Code {
		m.SetReport(sms.Address{}, sms.Address{}, &report)
		return sms.OK
	})
	s.logDeliver(&r, func(p *testsms.PDU) {
		p.Add("message_id", string(report.ID))
		p.Add("state", report.State.String())
		p.Add("error", string(report.Err))
	})
	return r
}

// FromMobile delivers a text from a mobile to a number.
func (s *SMSC) FromMobile(from, to, text string) request.Result {
	return s.bring(rewrite.Auto([]byte(from)), rewrite.Auto([]byte(to)), text)
}

// bring delivers the text of a mobile.
func (s *SMSC) bring(from, to sms.Address, text string) request.Result {
	alphabet, octets := smstext.Encode(sms.Default, text)
	r := s.gateway.Requests.Deliver(s.source(), func(m *sms.Message) sms.Code {
		m.Set(from, to, octets)
		m.Kind, m.Alphabet = sms.MO, alphabet
		return sms.OK
	})
	s.logDeliver(&r, func(p *testsms.PDU) {
		p.Add("from", string(from.Addr))
		p.Add("to", string(to.Addr))
		p.AddText("text", []byte(text))
	})
	return r
}

// logSubmit writes a message, and the answer to it, to the pdu log.
func (s *SMSC) logSubmit(m, out *sms.Message, text string, a *sms.Answer) {
	number, stats := s.number.Add(1), s.connector.Stats
	var p testsms.PDU
	p.Begin(testsms.Submit, number, sms.OK)
	p.Add("from", string(out.Source().Addr))
	p.Add("to", string(out.Dest().Addr))
	p.AddText("text", []byte(text))
	about := pdulog.About{ID: m.ID, Account: m.Account()}
	s.log.Line(false, &p, about)
	p.Begin(testsms.SubmitAnswer, number, a.Code)
	p.Add("message_id", string(a.PeerID))
	s.log.Line(true, &p, about)
	stats.Count(testsms.Submit, false, 1)
	stats.Count(testsms.SubmitAnswer, true, 1)
	stats.CountStatus(testsms.SubmitAnswer, true, p.Status())
}

// logDeliver writes a message that the sandbox delivers, and the gateway's answer, to the pdu log.
func (s *SMSC) logDeliver(r *request.Result, fields func(*testsms.PDU)) {
	number, stats := s.number.Add(1), s.connector.Stats
	var p testsms.PDU
	p.Begin(testsms.Deliver, number, sms.OK)
	fields(&p)
	s.log.Line(true, &p, pdulog.About{ID: r.ID})
	p.Begin(testsms.DeliverAnswer, number, r.Code)
	s.log.Line(false, &p, pdulog.About{ID: r.ID})
	stats.Count(testsms.Deliver, true, 1)
	stats.Count(testsms.DeliverAnswer, false, 1)
	stats.CountStatus(testsms.DeliverAnswer, false, p.Status())
}
