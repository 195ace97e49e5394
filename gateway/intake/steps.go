package intake

import (
	"slices"

	"pmg/config"
	"pmg/connector"
	"pmg/gateway/hooks"
	"pmg/gateway/keep"
	"pmg/gateway/lists"
	"pmg/gateway/node"
	"pmg/plugin"
	"pmg/plugin/answers"
	"pmg/protocols"
	"pmg/sms"
)

// A Step is something that happens to every message that comes in, before it is accepted. It may
// change the message, refuse it, or delay it.
type Step struct {
	Name, Doc string
	Ways      Ways // by which the messages come in that take the step

	// With reports whether the step has something to do for anybody by a configuration; nil: always.
	With func(d *Checker, cfg *config.Config) bool
	Do   func(d *Checker, now int64, s *Submission) Verdict
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
func Steps() []Step { return slices.Concat(stepsOfAccount(), stepsOfLane()) }

// stepsOfAccount are the steps that need no lane.
func stepsOfAccount() []Step {
	return []Step{
		{RateStep, "charges the account's rate limit; refuses or delays", Submitted, nil, (*Checker).StepRate},
		{
			"open", "refuses it while the gateway stops or cannot store more, and from a session that its account has lost",
			fresh | Reported | Replaced, nil, stepOpen,
		},
		{"read", "makes a message of the fields of its PDU", fresh | Reported | replacing, nil, stepRead},
		{
			"text", "takes a text for a receipt that has the form of one, and the id and the number of a message of ours",
			Delivered, nil, stepText,
		},
		{
			"receipts", "asks for receipts if its account gets them of all messages", Submitted | replacing,
			withReceipts, stepReceipts,
		},
		{"rewrite", "applies the in rules to its addresses; refuses those on lists", fresh | Reported, withRules, stepRewrite},
		{
			"opt out", "adds its sender to a list of numbers, or removes it, if its text asks for that", Delivered,
			withOptOuts, stepOptOut,
		},
		{"plausible", "refuses a recipient that cannot be a number of its country", Submitted, withPlausible, stepPlausible},
		{
			"duplicates", "refuses a message that its account has submitted a short time before", Submitted,
			withDuplicates, stepDuplicates,
		},
		{
			"network", "finds the network of its recipient, by table and plugins, or of the sender of an MO", fresh,
			withNetworks, stepNetwork,
		},
		{
			"plugins", "asks the plugins of the hooks accept and mo, which refuse it, hold it, delay it or change it",
			fresh | replacing, withPlugins, stepPlugins,
		},
		{"lists", "refuses it if a list of numbers blocks its recipient, or has not its sender", fresh, withLists, stepLists},
		{
			"schedule", "refuses a delivery time that is too far ahead, and too many of them", fresh | Reported | replacing,
			nil, stepSchedule,
		},
		{
			"quiet", "delays it if it is late where its recipient is; refuses it if its validity ends before",
			Submitted | Replaced, withQuiet, stepQuiet,
		},
		{"validity", "sets or shortens its validity", fresh | Reported | replacing, withValidity, stepValidity},
		{
			"flood", "refuses more messages to a recipient, or to numbers that begin alike, than its account may submit",
			Submitted, withFloods, stepFlood,
		},
	}
}

// stepsOfLane are the steps that find a message's lane, and look at what that takes.
func stepsOfLane() []Step {
	return []Step{
		{"keyword", "stores the keyword of a long message's first part, or looks it up", fresh, withKeywords, stepKeyword},
		{"route", "finds its lane; refuses it, or parks it, if no route leads anywhere", fresh, nil, stepRoute},
		{
			"addresses", "refuses a message of the HTTP API to an SMSC without a sender, or to a national number", Submitted,
			nil, stepAddresses,
		},
		{
			"fit", "converts it to what the lane's peers take: protocol, alphabet, number of parts; counts these in the rate, " +
				"and in what may be scheduled", fresh | replacing, nil, stepFit,
		},
		{"single", "refuses a text that would need several messages, or another alphabet", replacing, nil, stepSingle},
		{
			"credit", "reserves its price of its account's money; refuses it if that has not so much", Submitted, withPrices,
			stepCredit,
		},
		{"room", "finds room in the lane; refuses it, or waits for room", fresh, nil, stepRoom},
		{"reply", "makes the reply to a mobile that has changed a list, if that has one", Delivered, withOptOuts, stepReply},
	}
}

// A Verdict is what a step decides about a message.
type Verdict uint8

// The verdicts.
const (
	Pass   Verdict = iota // it takes the next step
	Refuse                // its sender is answered with Submission.Code
	Later                 // it waits for Submission.Work, or for room, and is resumed
)

// A Submission is a message that comes in, on its way through the steps.
type Submission struct {
	Way     Ways
	at      progress
	Message *sms.Message
	Change  func(now int64, m *sms.Message) sms.Code // makes the message, or the one that replaces it
	Counted bool                                     // it is one of those that are scheduled, or at the SMSC
	Preview bool                                     // nothing comes of it, so that its route does not count it
	// Work is what Later waits for, on another goroutine; nil: it waits for room. It returns the
	// code with which the message is refused, or sms.OK. It may use the message alone.
	Work  func() sms.Code
	Lane  *connector.Lane  // nil: it is parked, or goes where its receipt's message says
	Share *connector.Share // of the lane; nil without one

	From      *connector.Source // nil: nobody counts or logs it
	Session   *connector.Link   // that reads it from its PDU; nil: Change makes it
	PDU       protocols.PDU     // that carried it
	Others    *Several          // of the same PDU, nil for a PDU with one message
	Many      bool              // it is one of many of a request
	Strict    bool              // it needs a sender, and a recipient whose country is known
	MustStore bool              // something is stored with it that must be, even if the store is in memory
	Most      int               // short messages that it may become; 0: as many as its account allows
	Room      Room
	Waits     bool  // it may wait for room
	After     int64 // time before which its sender is not answered

	Code sms.Code // why it is refused
}

// A progress is how far a submission has come.
type progress struct {
	step    int              // that it takes next
	hook    int              // that is asked next
	hooks   []hooks.Hook     // those in force when the first was asked
	pending *plugin.Decision // of the plugin that is asked, on another goroutine
	answer  *answers.Answer  // of the plugin that is asked about its number, in the same way
	change  *lists.Change    // that its text asks for; nil: none
	reply   keep.Accepted    // to its sender
	whole   uint8            // short messages that its SMSC makes of a text that leaves whole
	held    bool             // an operator decides about it
	why     string           // what the plugin says that refuses it, or what is wrong with its recipient
}

// Held reports whether a plugin holds a submission for an operator.
func (s *Submission) Held() bool { return s.at.held }

// Why returns what the plugin says that has refused a submission, or what is wrong with its recipient.
func (s *Submission) Why() string { return s.at.why }

// A Room finds room for messages in lanes, as an Intake does.
type Room interface {
	// HasRoom reports whether a message's share has room for it beside others, which may be nil.
	HasRoom(a keep.Accepted, others *Several) bool
}

// Take runs the steps of a submission. With Later the step behind the last one is its next.
func (d *Checker) Take(now int64, s *Submission) Verdict {
	if s.Code != sms.OK { // the work that it waited for says so
		return s.invalid(d, now, s.Code, "message refused: ")
	}
	if s.Way == Delivered && isReceipt(s.Message) {
		s.Way = Reported // its work has found it out
	}
	for step := d.next(s); step != nil; step = d.next(s) {
		if v := step.Do(d, now, s); v != Pass {
			return v
		}
	}
	return Pass
}

// Refuser returns the name of the step that has refused a submission.
func (s *Submission) Refuser(d *Checker) string {
	if s.at.step == 0 || s.Code == sms.OK {
		return ""
	}
	return d.steps[s.at.step-1].Name
}

// TakeWaiting runs the steps of a submission on a goroutine that may wait, and returns why it is
// refused, or sms.OK.
func (d *Checker) TakeWaiting(now int64, s *Submission) sms.Code {
	for {
		switch d.Take(now, s) {
		case Pass:
			return sms.OK
		case Refuse:
			return s.Code
		}
		s.Do()
	}
}

// Do does the work that a submission waits for. Take follows.
func (s *Submission) Do() { s.Code, s.Work = s.Work(), nil }

// Drop releases the message of a submission that is not accepted.
func (s *Submission) Drop() {
	if s.Message != nil {
		if s.Way&replacing != 0 {
			sms.SetPrice(s.Message, 0) // it is reserved for the message that stays
		}
		Retract(s.From, s.Message)
		s.at.change.Refused()
		s.Message.Release()
		s.Message = nil
	}
}

// refuses refuses a submission. sort limits how often the log says why.
func (s *Submission) refuses(d *Checker, now int64, code sms.Code, sort *node.Sampled, why string) Verdict {
	if s.Code = code; s.From != nil {
		s.From.CountRefused(code)
		if why != "" {
			d.LogRefused(now, s.From, sort, why)
		}
	}
	return Refuse
}

// invalid refuses a submission for what it says.
func (s *Submission) invalid(d *Checker, now int64, code sms.Code, why string) Verdict {
	return s.refuses(d, now, code, &d.node.LogLimits.Invalid, why+code.String())
}
