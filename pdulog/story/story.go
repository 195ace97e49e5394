package story

import (
	"fmt"
	"strings"
	"time"

	"pmg/gateway/operate"
	"pmg/pdulog"
	"pmg/sms"
)

// A Story is the history of a message.
type Story struct {
	ID          string // id of the message; "": the gateway has refused the message
	Account     string // account of the client that submitted the message; "": an SMSC delivered it, or no line names the account
	Source      string // addresses as in the line
	Destination string
	Steps       []Step
	Waits       *operate.StoredMessage // queue entry of the message; nil: the message does not wait, or that is not known
	Ended       bool                   // a peer has accepted the message, or an event reports the outcome
	NoReceipt   bool                   // the message was sent without a request for a receipt

	Plugin, Verdict string // the plugin that decided last, and refuse, hold or change; "": no plugin, or no event names one
	Tags            []string
	Network         string // MCC and MNC; "": no network, or no event names one

	Price, Refund, Cost sms.Money // what the account was charged, what it got back, and what the SMSC charges; 0: no event has it
	By                  string    // the connector of that SMSC
}

// Money returns what the message costs as text, in the currencies of its account and of its SMSC. It returns "" if no event says.
func (s *Story) Money(account, smsc string) string {
	var all []string
	for _, one := range []struct {
		name, currency string
		amount         sms.Money
	}{{"price", account, s.Price}, {"given back", account, s.Refund}, {"cost", smsc, s.Cost}} {
		if one.amount != 0 {
			all = append(all, strings.TrimSpace(one.name+" "+one.amount.String()+" "+one.currency))
		}
	}
	return strings.Join(all, ", ")
}

// A What is the kind of a step.
type What string

// The kinds of steps.
const (
	Accepted       What = "accepted"        // the gateway accepted the message from a client or an SMSC
	Refused        What = "refused"         // the gateway did not
	Sent           What = "sent"            // the message was sent to a peer
	Answered       What = "answered"        // the peer did not accept the message
	Taken          What = "taken"           // the peer accepted the message
	Reported       What = "reported"        // an SMSC sent a receipt for the message
	ReceiptSent    What = "receipt_sent"    // a receipt was sent to the client
	ReceiptTaken   What = "receipt_taken"   // the client accepted the receipt
	ReceiptRefused What = "receipt_refused" // the client did not accept the receipt
	ReceiptEnded   What = "receipt_ended"   // outcome of a receipt of which no line was found, from the event
	NotDone        What = "not_done"        // the client queried or wanted to change the message, and the gateway refused
	Ended          What = "ended"           // outcome of the message, from the event
)

// A Step is an event in the history of a message. Fields without a meaning for the step's What are empty.
type Step struct {
	At        time.Time
	What      What
	Account   string // account of the client that the step is about
	Connector string // the peer's, or for events an account that receives
	Instance  int    // instance of the connector; 0: no line names it
	Status    pdulog.Status
	PeerID    string // id that an SMSC gave the message
	State     string // state that a receipt or an event reports
	Error     string // error that a receipt reports
	Reason    string // reason as text why the gateway has refused the message or an operation; "": no line has one
	Delivery  string // content of the receipt, for a step made of the receipt's event

	Line    []byte // line of the pdu log; nil: the step is made of an event
	Command string // command of that line
}

const stamp = "2006-01-02T15:04:05.000Z"

// Says returns the step as text.
func (s *Step) Says() string {
	switch s.What {
	case Accepted:
		return "accepted from " + orElse(s.Account, s.Connector)
	case Refused:
		if s.Reason != "" {
			return "refused to " + orElse(s.Account, s.Connector) + ": " + s.Reason
		}
		return "refused to " + s.Account
	case Sent:
		return "sent to " + s.Connector
	case Answered:
		return s.Connector + " did not take it"
	case Taken:
		return "taken by " + s.Connector
	case Reported:
		return s.Connector + " reported " + s.State
	case ReceiptSent:
		return fmt.Sprintf("receipt (%s) sent to %s", s.State, s.Account)
	case ReceiptTaken:
		return "receipt taken by " + s.Account
	case ReceiptRefused:
		return "receipt not taken by " + s.Account
	case ReceiptEnded:
		return fmt.Sprintf("receipt (%s) for %s: %s", s.Delivery, s.Account, s.State)
	case NotDone:
		return fmt.Sprintf("%s of %s refused: %s", strings.TrimSuffix(s.Command, "_resp"), s.Account, s.Reason)
	}
	return s.State
}

// String returns the step as text with its time, and with its status and the SMSC's id if the step has them.
func (s *Step) String() string {
	text := s.Says()
	if s.What == Taken && s.PeerID != "" {
		text += " as " + s.PeerID
	}
	if s.Status.Value != 0 || s.Status.Name != "" && s.What == Ended {
		text += " (" + s.Status.String() + ")"
	}
	return text + " at " + s.At.UTC().Format(stamp)
}

// Waiting returns as text where the message waits, "" if it does not wait.
func (s *Story) Waiting() string {
	switch m := s.Waits; {
	case m == nil || s.Ended:
		return ""
	case m.State == operate.StateAsked:
		return "waits for the verdicts of plugins"
	case m.Receiver != "":
		return "waits for the clients of " + m.Receiver
	case m.State == operate.StateQueued:
		return "waits for connector " + m.Connector
	default:
		return "is " + m.State
	}
}

// IsOpen reports whether the outcome after the last step is unknown.
func (s *Story) IsOpen() bool {
	return !s.Ended && (len(s.Steps) == 0 || s.Steps[len(s.Steps)-1].What != Refused)
}
