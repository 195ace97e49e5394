package own

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strings"

	"pmg/protocols/httpsms"
	"pmg/sms"
)

// A Problem is the reason why a request, or a message of a request, was refused (RFC 9457).
type Problem struct {
	Type     string  `json:"type"`
	Title    string  `json:"title"`
	Status   int     `json:"status"`
	Detail   string  `json:"detail,omitempty"`
	Instance string  `json:"instance,omitempty"` // the id of the request
	Errors   []Error `json:"errors,omitempty"`

	RetryAfter int `json:"-"` // seconds; 0: the header is not sent
}

// An Error is one error of a request.
type Error struct {
	Pointer string `json:"pointer"` // place of the error (RFC 6901); empty: the whole document
	Code    string `json:"code"`
	Detail  string `json:"detail"`
}

// A Kind is a row of the table of problems.
type Kind struct {
	Name   string // the last part of the problem's type
	Status int
	Title  string
	Retry  int    // seconds after which the same request may succeed; 0: a repeated request will fail
	Doc    string // text for the page about the problem
}

// Kinds returns all problems, in the order of their statuses.
func Kinds() []Kind { return kinds[:] }

var kinds = [...]Kind{
	{
		"malformed-json", 400, "The body is not JSON that can be read", 0,
		"The detail says where reading ended. A name may stand once in an object, and there may be 16 levels.",
	},
	{"malformed-header", 400, "A header cannot be read", 0, "The detail names it."},
	{"malformed-query", 400, "A parameter of the query cannot be read", 0, "The detail names it."},
	{
		"unauthenticated", 401, "User name, password or key is missing or wrong", 0,
		"The request has none, or wrong ones, or ones that may not be used from this address or on this connector. The " +
			"log of the gateway says which.",
	},
	{
		"no-credit", 402, "The account has not enough money", 60,
		"The detail says how much is missing. The same message may be submitted when the account has paid.",
	},
	{
		"forbidden", 403, "The account may not do this", 0,
		"A list of the account or the connector refuses the sender or the recipient, or the key lacks the scope.",
	},
	{
		"url-not-allowed", 403, "The gateway does not call this URL", 0,
		"The options callback_urls and callbacks of the account say which URLs may be given with a message.",
	},
	{
		"blocked", 403, "The recipient gets no messages of the account", 0,
		"Its number is on a list of blocked numbers, or not on one that it must be on. Do not send to it again.",
	},
	{
		"opted-out", 403, "The recipient has opted out", 0,
		"Its owner has asked for no further messages, with STOP or a word like it. Do not send to it again until START has come.",
	},
	{"not-found", 404, "Not found", 0, "No message of the account has this id, or it was forgotten (receipts.keep)."},
	{"method-not-allowed", 405, "This path does not know the method", 0, "The header Allow names those that it knows."},
	{
		"already-sent", 409, "The message cannot be cancelled or changed any more", 0,
		"It is being sent, has left the gateway, or has ended. The detail says which.",
	},
	{
		"not-changeable", 409, "The message cannot be changed", 0,
		"It is under way, or its recipient gets it as several short messages or in another alphabet. Cancel it, and " +
			"submit another.",
	},
	{
		"idempotency-in-progress", 409, "A request with this key is being carried out", 1,
		"The same request came a second time before the first was answered. Ask again: the answer will be that of the first.",
	},
	{
		"duplicate", 409, "The message was submitted before", 0,
		"The account has submitted a message with the same sender, recipient and text within the time that its option " +
			"duplicates says. Whoever repeats requests gets the answer to the first one with a key (Idempotency-Key).",
	},
	{
		"too-large", 413, "The body is too large", 0,
		"The detail says how large it may be. Large numbers of messages go to /v1/messages:stream.",
	},
	{"unsupported-type", 415, "Unsupported content type", 0, "Send application/json, or application/x-ndjson to the stream."},
	{"invalid-message", 422, "The message is not valid", 0, "The member errors says what is wrong, and where."},
	{
		"idempotency-mismatch", 422, "The key belongs to another request", 0,
		"A request with the same key asked for something else. Give each request a key of its own.",
	},
	{
		"no-price", 422, "There is no price for the recipient's network", 0,
		"The number may be right: the list of prices of the account has none for its network. The detail says which one that " +
			"is. Ask the operator of the gateway.",
	},
	{"no-route", 422, "No route leads to the recipient", 0, "The configuration of the gateway decides where messages go."},
	{"rate-limited", 429, "Rate limit exceeded", 1, "The option rate of the account, or a limit of flood."},
	{
		"too-many-streams", 429, "The account has as many streams of events as it may", 5,
		"Each event goes to one of them: end one, or fetch events.",
	},
	{"internal", 500, "The gateway has failed at the request", 0, "Its log says why."},
	{
		"queue-full", 503, "No more messages fit for now", 5,
		"The queue for the recipient's operator, the account's share of it, or the gateway's memory is full.",
	},
	{
		"unknown-outcome", 504, "It is unknown whether this was carried out", 5,
		"The disk failed before it was known to be stored; the next start finds out. Repeat the request with the same key " +
			"(Idempotency-Key): what was carried out is not carried out again. Without a key a message may be sent twice.",
	},
	{"unavailable", 503, "The gateway takes no messages for now", 5, "It stops, or its disk is full or does not answer."},
}

// NewProblem returns the problem of a kind.
func NewProblem(name, detail string) *Problem {
	for i := range kinds {
		if k := &kinds[i]; k.Name == name {
			return &Problem{Type: "/problems/" + name, Title: k.Title, Status: k.Status, Detail: detail, RetryAfter: k.Retry}
		}
	}
	return NewProblem("internal", name+": "+detail)
}

// Is reports whether the problem is of a kind.
func (p *Problem) Is(name string) bool { return p.Type == "/problems/"+name }

// Refused returns the problem of a message that a step of intake has refused with a code. why is the reason
// of a plugin, or the problem of the recipient.
func Refused(step string, code sms.Code, why string) *Problem {
	switch {
	case code == sms.Undecided:
		return NewProblem("unknown-outcome", "unknown: repeat with the key")
	case code == sms.Blocked:
		return NewProblem("blocked", "")
	case code == sms.OptedOut:
		return NewProblem("opted-out", "the recipient has sent STOP, or another word that opts out")
	case code == sms.NoPrice:
		return NewProblem("no-price", why)
	case code == sms.NoCredit:
		return NewProblem("no-credit", why)
	case step == "flood":
		return NewProblem("rate-limited", "more messages to this recipient, or to its like, than the account may submit for now")
	case code == sms.Throttled:
		return NewProblem("rate-limited", why)
	case step == "plugins" && code.Retryable():
		return NewProblem("unavailable", why)
	case step == "plugins":
		return NewProblem("forbidden", cmp.Or(why, "a plugin of the gateway refuses the message"))
	case code == sms.SystemError || step == "open":
		return NewProblem("unavailable", "")
	case code == sms.QueueFull || code == sms.TemporaryFailure:
		return NewProblem("queue-full", "")
	case step == "route":
		return NewProblem("no-route", "")
	case step == "duplicates":
		return NewProblem("duplicate", "")
	case step == "rewrite" || step == "lists":
		return NewProblem("forbidden", reasons[code].detail)
	}
	r, ok := reasons[code]
	switch step {
	case "addresses":
		r = incomplete[code]
	case "plausible":
		r.detail = why
	case "quiet":
		r.detail = "comes before the quiet hours of the recipient end, in which the message has to wait"
	}
	if !ok {
		r = reason{"", "it is refused: " + code.String()}
	}
	p := NewProblem("invalid-message", "")
	p.Errors = []Error{{r.pointer, strings.ReplaceAll(code.String(), "_", "-"), r.detail}}
	return p
}

type reason struct{ pointer, detail string }

var reasons = map[sms.Code]reason{
	sms.BadSource: {
		"/from", "is no sender that may be used: up to 20 digits, with + in front or without, or up to 11 characters",
	},
	sms.BadDestination: {"/to", "is not a phone number; use up to 20 digits, for example +46701234567"},
	sms.BadLength:      {"/text", "needs more short messages than it may become (max_parts)"},
	sms.BadSchedule: {
		"/send_at", "is further ahead than it may be (max_schedule of the account), or more than five minutes ago",
	},
	sms.BadValidity:  {"/expires_at", "has passed, or comes before the message is sent"},
	sms.BadParameter: {"/text", "has characters that the recipient's operator lacks, or a header that cannot be read"},
}

// incomplete are the reasons of the step "addresses".
var incomplete = map[sms.Code]reason{
	sms.BadSource: {"/from", "must be given: no rule of the gateway sets the sender of this message"},
	sms.BadDestination: {
		"/to",
		"begins with 0, as numbers that are dialed in one country: write it with + and the country, for example +46701234567",
	},
}

// Answer returns the problem as an answer.
func (p *Problem) Answer() *httpsms.Answer {
	body, err := json.Marshal(p)
	if err != nil {
		return &httpsms.Answer{Status: http.StatusInternalServerError}
	}
	return &httpsms.Answer{Status: p.Status, ContentType: "application/problem+json", Body: append(body, '\n')}
}
