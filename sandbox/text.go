package sandbox

import (
	"pmg/protocols/testsms"
	"pmg/sms"
)

// A Text is a text that a mobile would show, or a text that did not reach the mobile.
type Text struct {
	ID          uint64 // id that all parts of a long text share
	Part, Parts uint8  // with Parts > 1, the text is part number Part, from 0
	From, To    string
	Text        string
	At          int64 // Unix nanoseconds
	Fate        string
	Arrives     bool // the text reaches the mobile
	Mine        bool // the mobile has sent the text, and From is its number
}

// show reports the fate of a message to the function of Watch.
func (s *SMSC) show(m, out *sms.Message, text string, e *testsms.Ending, code sms.Code) {
	f := s.watch.Load()
	if f == nil || code == sms.Throttled || code == sms.QueueFull { // the message will be sent again
		return
	}
	t := Text{
		ID: m.WholeID(), Part: m.Part, Parts: m.Parts, From: string(out.Source().Addr), To: string(out.Dest().Addr),
		Text: text, At: s.gateway.Node.Clock.WallNow(),
	}
	switch {
	case code != sms.OK:
		t.Fate = "refused by the SMSC"
	case e.State == sms.NoState:
		t.Fate, t.Arrives = "no receipt", true
	default:
		t.Fate, t.Arrives = e.State.String(), e.State == sms.StateDelivered
	}
	(*f)(t)
}

// showReply reports a mobile's reply to the function of Watch.
func (s *SMSC) showReply(d *delivery) {
	if f := s.watch.Load(); f != nil {
		(*f)(
			Text{
				From: string(d.from.Addr), To: string(d.to.Addr), Text: d.reply, At: s.gateway.Node.Clock.WallNow(),
				Arrives: true, Mine: true,
			},
		)
	}
}
