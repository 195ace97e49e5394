package intake

import (
	"time"

	"pmg/gateway/keep"
	"pmg/internal/smstext"
	"pmg/sms"
)

// replyValidity is how long a reply to an opt-out waits at the most.
const replyValidity = int64(24 * time.Hour)

func stepOptOut(d *Checker, _ int64, s *Submission) Verdict {
	if s.Preview {
		return Pass
	}
	change := d.lists.Asked(s.Message, true)
	if change == nil {
		return Pass
	}
	id := d.keep.IDs.Add(1) // the message gets its id now, because the journal of the list names it
	s.at.change, s.Message.ID = change, id
	s.Work = func() sms.Code { return change.Make(id) } // not of s, which takes up another message meanwhile
	return Later
}

// stepReply makes the reply to an opt-out. No later step refuses the message.
func stepReply(d *Checker, now int64, s *Submission) Verdict {
	text := s.at.change.Reply()
	if text == "" {
		return Pass
	}
	if m, why := d.reply(now, s, text); why == "" {
		s.at.reply = m
		s.at.change.Replied()
	} else {
		d.LogRefused(now, s.From, &d.node.LogLimits.Invalid, "no reply to an opt-out: "+why)
	}
	return Pass
}

// reply makes a message of ours to the mobile that a message comes from, and finds room for it in the lane of the connector
// that brought the message. It returns why that is not possible.
func (d *Checker) reply(now int64, s *Submission, text string) (a keep.Accepted, why string) {
	by, c := s.From.Connector, s.at.change
	m := d.node.Messages.Get()
	alphabet, octets := smstext.Encode(by.Form().Default, text)
	m.Set(c.Service, c.Mobile, octets)
	m.SetNative(by.Protocol, nil)
	m.Alphabet, m.Origin, m.Arrived, m.Expires = alphabet, s.Message.Origin, now, now+replyValidity
	m.Flags |= sms.RelativeValidity
	m.Network = s.Message.Network
	d.limitValidity(now, m)
	if a, why = d.place(s, m); why != "" {
		m.Release()
	}
	return a, why
}

// place converts a reply for its lane, and finds room in the lane. why is the reason if this is not
// possible.
func (d *Checker) place(s *Submission, m *sms.Message) (a keep.Accepted, why string) {
	lane := d.table.Route(m)
	if lane == nil {
		return a, "its connector was removed"
	}
	if code := d.convert.Fit(lane, m); code != sms.OK || m.Parts > 1 {
		return a, "its text does not fit into one short message"
	}
	a = keep.Accepted{Message: m, Share: d.table.Share(lane, m.Origin)}
	if !s.Room.HasRoom(a, nil) {
		return keep.Accepted{}, fullQueue(a.Share)
	}
	return a, ""
}

// Reply returns the reply that must be stored together with the submission's message. Its Message
// is nil if there is no reply.
func (s *Submission) Reply() keep.Accepted { return s.at.reply }
