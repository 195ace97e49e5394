package sandbox

import (
	"pmg/protocols/testsms"
	"pmg/sms"
)

// A Text is what a mobile would show, or would have shown.
type Text struct {
	ID          uint64 // id that all parts of a long text share
	Part, Parts uint8  // with Parts > 1, the text is part number Part, from 0
	From, To    string
	Text        string
	At          int64 // Unix nanoseconds
	Fate        string
	Arrives     bool // the mobile shows it
	Mine        bool // the mobile has sent the text: From is the mobile's number
}

// show shows whoever watches what became of a message.
func (s *SMSC) show(m, out *sms.Message, text string, e *testsms.Ending, code sms.Code) {
	f := s.watch.Load()
	if f == nil || code == sms.Throttled || code == sms.QueueFull { // the message comes again
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

// showReply shows whoever watches what a mobile has replied.
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
