package sms

import "strings"

// A Code is the protocol-neutral result of a request. Each protocol maps every
// Code to its own status and back in one table.
type Code uint8

// The codes. Retryable reports which of them allow another attempt.
const (
	OK               Code = iota
	Malformed             // the PDU cannot be read
	BadState              // not allowed in this state of the session
	AlreadyBound          // a second login was attempted on one session
	BindFailed            // wrong credentials, or the account may not bind like this
	BadSource             // source address not valid or not allowed
	BadDestination        // destination address not valid, or without a route
	BadLength             // length of the text not valid
	BadSchedule           // delivery time not valid
	BadValidity           // validity period not valid
	BadParameter          // another field is not valid
	Throttled             // too fast: the same message may be sent again later
	QueueFull             // no room: the same message may be sent again later
	TemporaryFailure      // not possible now: the same message may be sent again later
	Rejected              // refused permanently
	Unsupported           // the gateway or the peer does not support the request
	Timeout               // no answer came in time
	Lost                  // the session ended before an answer came
	Expired               // the message's validity ended while the message waited
	Faulty                // a part of the gateway failed at the message
	SystemError           // the fault is on the answering side
	Deleted               // an operator or the sender has deleted the message
	UnknownMessage        // no message has the id of the request
	Blocked               // the number is on a list of numbers, or is missing on a list that it must be on
	OptedOut              // the number is on a list that mobiles change: the owner wants no messages
	NoCredit              // the account has too little money: the same message may be sent again later
	NoPrice               // the account's list of prices has no price for the number
	Undecided             // it is not known whether the message was stored: the client gets no answer
	codes
)

var codeNames = [codes]string{
	"ok", "malformed", "bad_state", "already_bound", "bind_failed", "bad_source",
	"bad_destination", "bad_length", "bad_schedule", "bad_validity", "bad_parameter",
	"throttled", "queue_full", "temporary_failure", "rejected", "unsupported", "timeout",
	"lost", "expired", "faulty",
	"system_error", "deleted", "unknown_message", "blocked", "opted_out", "no_credit",
	"no_price",
	"undecided",
}

// Codes returns all codes in order, for tables and tests that must cover each of them.
func Codes() []Code {
	all := make([]Code, codes)
	for i := range all {
		all[i] = Code(i)
	}
	return all
}

// String returns the code's name, as metrics and logs show it.
func (c Code) String() string {
	if c < codes {
		return codeNames[c]
	}
	return "unknown"
}

// A Refusal is the reason why the gateway has refused a message, or an operation.
type Refusal struct {
	Code Code   // OK: the message was not refused
	Step string // name of the step that has refused an incoming message; "": no step has
	Each string // reasons of refused recipients, from Append; "": the message has one recipient
}

// Append appends the refusal in the form of the pdu log: throttled(flood), rejected. A step of two words is written as one.
func (r *Refusal) Append(b []byte) []byte {
	if r.Each != "" {
		return append(b, r.Each...)
	}
	if b = append(b, r.Code.String()...); r.Step == "" {
		return b
	}
	return append(append(append(b, '('), strings.ReplaceAll(r.Step, " ", "_")...), ')')
}

// Retryable reports whether the same message may succeed when it is sent again later.
func (c Code) Retryable() bool { return c.Failure() != Permanent }

// A Failure is the kind of a code: it determines whether a message that was not accepted is sent again, and when.
type Failure uint8

// The kinds.
const (
	Permanent  Failure = iota // the message is not sent again
	Throttling                // the message was sent too fast
	Temporary                 // the peer cannot accept the message now
	NoAnswer                  // the peer may have accepted the message
)

// String returns the name of the kind, which an option of retry has as well.
func (f Failure) String() string {
	return [...]string{"permanent", "throttled", "temporary", "lost"}[f&3]
}

// Failure returns the kind of a code.
func (c Code) Failure() Failure {
	switch c {
	case Throttled, NoCredit:
		return Throttling
	case QueueFull, TemporaryFailure, SystemError:
		return Temporary
	case Timeout, Lost, Undecided:
		return NoAnswer
	}
	return Permanent
}
