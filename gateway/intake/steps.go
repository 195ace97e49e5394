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
	Ways      Ways // the ways of the messages that take the step

	// With reports whether the step has something to do under a configuration. If With is nil, the step
	// is always in force.
	With func(d *Checker, cfg *config.Config) bool
	Do   func(d *Checker, now int64, s *Submission) Verdict
}

// Ways are the ways by which messages come in.
type Ways uint8

// The ways by which messages come in.
const (
	Submitted  Ways = 1 << iota // a client submits the message, perhaps as one of several recipients
	Delivered                   // an SMSC delivers the message
	Reported                    // the message is a receipt of an SMSC; the message that it reports about decides the rest
	Replaced                    // the text replaces that of a waiting message
	ReplacedAt                  // the text replaces that of a message at the SMSC
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

// Steps returns the steps in their order. Steps that limit work come before steps that cost work.
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
			"opt out", "adds the sender to a list of numbers, or removes the sender from it, if the text asks for that",
			Delivered, withOptOuts, stepOptOut,
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
		{
			"lists", "refuses it if a list of numbers blocks the recipient, or no list of senders has the sender", fresh,
			withLists, stepLists,
		},
		{
			"schedule", "refuses a delivery time that is too far ahead, and too many of them", fresh | Reported | replacing,
			nil, stepSchedule,
		},
		{
			"quiet", "delays it in the quiet hours of the recipient; refuses it if its validity ends before they do",
			Submitted | Replaced, withQuiet, stepQuiet,
		},
		{"validity", "sets or shortens its validity", fresh | Reported | replacing, withValidity, stepValidity},
		{
			"flood", "refuses more messages to a recipient, or to numbers that begin alike, than its account may submit",
			Submitted, withFloods, stepFlood,
		},
	}
}

// stepsOfLane are the steps that find a message's lane or depend on the lane.
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
			"credit", "reserves the price from the account's money; refuses it if the account has too little", Submitted,
			withPrices, stepCredit,
		},
		{"room", "finds room in the lane; refuses it, or waits for room", fresh, nil, stepRoom},
		{"reply", "makes the reply to a mobile that has changed a list, if that has one", Delivered, withOptOuts, stepReply},
	}
}

// A Verdict is what a step decides about a message.
type Verdict uint8

// The verdicts.
const (
	Pass   Verdict = iota // the message takes the next step
	Refuse                // the sender is answered with Submission.Code
	Later                 // the message waits for Submission.Work or for room, and is then resumed
)

// A Submission is an incoming message on its way through the steps.
type Submission struct {
	Way     Ways
	at      progress
	Message *sms.Message
	Change  func(now int64, m *sms.Message) sms.Code // sets the fields of the message, or of its replacement
	Counted bool                                     // the message is already counted among the scheduled ones, or is at the SMSC
	Preview bool                                     // nothing is sent, so the route does not count the message
	// Work is run on another goroutine after the verdict Later. If Work is nil, the submission waits
	// for room. Work returns sms.OK or the code of a refusal. It may only use the message,
	// and not the Submission, which takes up other messages meanwhile.
	Work  func() sms.Code
	Lane  *connector.Lane  // nil: the message is parked, or the receipt's message decides
	Share *connector.Share // share of the lane; nil if Lane is nil

	From      *connector.Source // the sender; nil: no sender counts or logs the message
	Session   *connector.Link   // the session that decodes the message from PDU; nil: Change sets the message
	PDU       protocols.PDU     // the PDU with the message
	Others    *Several          // the other messages of the PDU; nil: the PDU has one message
	Many      bool              // the message is one of many of a request
	Strict    bool              // the message needs a sender, and a recipient with a known country
	MustStore bool              // something is stored with the message that must be stored even if the store is in memory
	Most      int               // maximum number of short messages; 0: the account's limit
	Room      Room
	Waits     bool  // the submission may wait for room
	After     int64 // the sender is not answered before this time

	Code sms.Code // reason of the refusal
}

// A progress is the state of a submission on its way through the steps.
type progress struct {
	step    int              // index of the next step
	hook    int              // index of the next hook
	hooks   []hooks.Hook     // hooks in force when the first plugin was asked
	pending *plugin.Decision // decision of a plugin that is asked on another goroutine
	answer  *answers.Answer  // answer about the number, of a plugin that is asked on another goroutine
	change  *lists.Change    // change of lists that the text requests; nil: no change
	reply   keep.Accepted    // reply to the sender
	whole   uint8            // number of short messages that the SMSC makes of a text that leaves whole
	held    bool             // an operator decides about the message
	why     string           // text of the plugin that refuses the message, or the problem of the recipient
}

// Held reports whether a plugin holds a submission for an operator.
func (s *Submission) Held() bool { return s.at.held }

// Why returns the text of the plugin that has refused a submission, or the problem of the
// recipient.
func (s *Submission) Why() string { return s.at.why }

// A Room finds room for messages in lanes. An Intake implements it.
type Room interface {
	// HasRoom reports whether a message's share has room for the message and for others. others may be
	// nil.
	HasRoom(a keep.Accepted, others *Several) bool
}

// AnyRoom is a Room that has room for every message, for messages that are only tried.
type AnyRoom struct{}

// HasRoom implements Room.
func (AnyRoom) HasRoom(keep.Accepted, *Several) bool { return true }

// Take runs the steps of a submission. After the verdict Later the submission continues with the
// next step.
func (d *Checker) Take(now int64, s *Submission) Verdict {
	if s.Code != sms.OK { // the awaited work has refused the submission
		return s.invalid(d, now, s.Code, "message refused: ")
	}
	if s.Way == Delivered && isReceipt(s.Message) {
		s.Way = Reported // the awaited work has found a receipt
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

// TakeWaiting runs all steps of a submission, and waits where necessary. It returns sms.OK or the
// code of a refusal.
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

// Do does the work that a submission waits for. The caller then calls Take.
func (s *Submission) Do() { s.Code, s.Work = s.Work(), nil }

// Drop releases the message of a submission that is not accepted.
func (s *Submission) Drop() {
	if s.Message != nil {
		if s.Way&replacing != 0 {
			sms.SetPrice(s.Message, 0, 0) // the price is reserved for the message that stays
		}
		Retract(s.From, s.Message)
		s.at.change.Refused()
		s.Message.Release()
		s.Message = nil
	}
}

// refuses refuses a submission. sort limits how often the reason why is logged.
func (s *Submission) refuses(d *Checker, now int64, code sms.Code, sort *node.Sampled, why string) Verdict {
	if s.Code = code; s.From != nil {
		s.From.CountRefused(code)
		if why != "" {
			d.LogRefused(now, s.From, sort, why)
		}
	}
	return Refuse
}

// invalid refuses a submission because of its contents.
func (s *Submission) invalid(d *Checker, now int64, code sms.Code, why string) Verdict {
	return s.refuses(d, now, code, &d.node.LogLimits.Invalid, why+code.String())
}
