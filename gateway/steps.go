package gateway

import (
	"pmg/connector"
	"pmg/gateway/keep"
	"pmg/gateway/node"
	"pmg/protocols"
	"pmg/sms"
)

// A Step is something that happens to every message that comes in, before it is accepted. It may
// change the message, refuse it, or have it wait.
type Step struct {
	Name, Doc string
	Ways      Ways // by which the messages come in that take the step

	do func(g *Gateway, now int64, s *submission) Verdict
}

// Ways are the ways by which messages come in.
type Ways uint8

// The ways by which messages come in.
const (
	Submitted  Ways = 1 << iota // a client submits it, perhaps as one of several recipients
	Delivered                   // an SMSC delivers it
	Reported                    // it is a receipt of an SMSC, whose message decides about the rest
	Replaced                    // its text replaces that of a message that waits
	ReplacedAt                  // its text replaces that of a message at the SMSC
	fresh      = Submitted | Delivered
	replacing  = Replaced | ReplacedAt
)

// String returns the ways, separated by commas.
func (w Ways) String() string {
	if w == fresh|Reported|replacing {
		return "all"
	}
	var text []byte
	for i, name := range [...]string{"submit", "MO", "receipt", "replace", "replace at the SMSC"} {
		if w&(1<<i) == 0 {
			continue
		}
		if text != nil {
			text = append(text, ", "...)
		}
		text = append(text, name...)
	}
	return string(text)
}

// Steps returns the steps in their order. What limits work comes before what costs work.
func Steps() []Step {
	return []Step{
		{"rate", "counts it in its account's rate; refuses it, or has its answer wait", Submitted, (*Gateway).stepRate},
		{"open", "refuses it while the gateway stops or cannot store more", fresh | Reported | Replaced, (*Gateway).stepOpen},
		{"read", "makes a message of the fields of its PDU", fresh | Reported | replacing, (*Gateway).stepRead},
		{"schedule", "refuses a delivery time that is too far ahead, and too many of them", fresh | Reported | replacing, (*Gateway).stepSchedule},
		{"validity", "sets or shortens its validity", fresh | Reported | replacing, (*Gateway).stepValidity},
		{"receipts", "has it ask for receipts if its account gets them of all messages", Submitted | replacing, (*Gateway).stepReceipts},
		{"rewrite", "applies the in rules to its addresses; refuses those on lists", fresh | Reported, (*Gateway).stepRewrite},
		{"keyword", "notes the keyword of a long message's first part", fresh, (*Gateway).stepKeyword},
		{"route", "finds its lane; refuses it, or parks it, if no route leads anywhere", fresh, (*Gateway).stepRoute},
		{"fit", "makes it one that the lane's peers take: protocol, alphabet, number of parts", fresh | replacing, (*Gateway).stepFit},
		{"single", "refuses a text that would need several messages, or another alphabet", replacing, (*Gateway).stepSingle},
		{"parts", "counts its parts in the rate, and in what may be scheduled", fresh, (*Gateway).stepParts},
		{"room", "finds room in the lane; refuses it, or has it wait for room", fresh, (*Gateway).stepRoom},
	}
}

// A Verdict is what a step decides about a message.
type Verdict uint8

// The verdicts.
const (
	Pass   Verdict = iota // it takes the next step
	Refuse                // its sender is answered with submission.code
	Later                 // it waits for submission.work, or for room, and is resumed
)

// A submission is a message that comes in, on its way through the steps.
type submission struct {
	way     Ways
	next    int // number of the step that it takes next
	message *sms.Message
	change  func(now int64, m *sms.Message) sms.Code // makes it the message that replaces it
	counted bool                                     // it is one of those that are scheduled, or at the SMSC
	// work is what Later waits for, on another goroutine; nil: it waits for room. It returns the
	// code with which the message is refused, or sms.OK. It may use the message alone.
	work  func() sms.Code
	lane  *connector.Lane  // nil: it is parked, or goes where its receipt's message says
	share *connector.Share // of the lane; nil without one

	from   *connector.Link // of the session that it came on; nil: none counts or logs it
	pdu    protocols.PDU   // that carried it
	others *several        // of the same PDU, nil for a PDU with one message
	desk   desk
	after  int64 // time before which its sender is not answered

	code sms.Code // why it is refused
}

// A desk finds room for messages in lanes.
type desk interface {
	// hasRoom reports whether a message's share has room for it beside others, which may be nil.
	hasRoom(a keep.Accepted, others *several) bool
	// waits has a submission wait for room, and reports whether it may.
	waits(now int64, s *submission) bool
}

// take has a submission take its steps. With Later it is on its way at s.next.
func (g *Gateway) take(now int64, s *submission) Verdict {
	if s.code != sms.OK { // the work that it waited for says so
		return s.invalid(g, now, s.code, "message refused: ")
	}
	for s.next < len(g.steps) {
		step := &g.steps[s.next]
		s.next++
		if step.Ways&s.way == 0 {
			continue
		}
		if v := step.do(g, now, s); v != Pass {
			return v
		}
	}
	return Pass
}

// takeWaiting has a submission take its steps on a goroutine that may wait, and returns why it is
// refused, or sms.OK.
func (g *Gateway) takeWaiting(now int64, s *submission) sms.Code {
	for {
		switch g.take(now, s) {
		case Pass:
			return sms.OK
		case Refuse:
			return s.code
		}
		s.code, s.work = s.work(), nil
	}
}

// drop releases the message of a submission that was refused.
func (s *submission) drop() {
	if s.message != nil {
		s.message.Release()
		s.message = nil
	}
}

// refuses refuses a submission. sort limits how often the log says why.
func (s *submission) refuses(g *Gateway, now int64, code sms.Code, sort *node.Sampled, why string) Verdict {
	if s.code = code; s.from != nil {
		s.from.CountRefused()
		if why != "" {
			g.logRefused(now, s.from, sort, why)
		}
	}
	return Refuse
}

// invalid refuses a submission for what it says.
func (s *submission) invalid(g *Gateway, now int64, code sms.Code, why string) Verdict {
	return s.refuses(g, now, code, &g.Storms.Invalid, why+code.String())
}
