package story

import (
	"fmt"
	"strings"
	"time"

	"pmg/gateway/operate"
	"pmg/pdulog"
)

// A Story is what became of a message.
type Story struct {
	ID          string // "": the gateway has refused it
	Account     string // of the client that it came from; "": it came from an SMSC, or no line says so
	Source      string // its addresses as they came
	Destination string
	Steps       []Step
	Waits       *operate.StoredMessage // where it waits; nil: it does not, or that is not known
	Ended       bool                   // a peer has taken it, or an event says how it ended
	NoReceipt   bool                   // it was sent without asking for a receipt

	Plugin, Verdict string // the plugin that decided last, and refuse, hold or change; "": none, or no event says so
	Tags            []string
	Network         string // MCC and MNC; "": none, or no event says so
}

// A What is what happened in a step.
type What string

// What happens to a message.
const (
	Accepted       What = "accepted"        // the gateway took it from its client or an SMSC
	Refused        What = "refused"         // the gateway did not
	Sent           What = "sent"            // it was sent to a peer
	Answered       What = "answered"        // the peer did not take it
	Taken          What = "taken"           // the peer took it
	Reported       What = "reported"        // an SMSC sent a receipt for it
	ReceiptSent    What = "receipt_sent"    // its client was sent a receipt
	ReceiptTaken   What = "receipt_taken"   // and took it
	ReceiptRefused What = "receipt_refused" // and did not
	ReceiptEnded   What = "receipt_ended"   // how a receipt ended of which no line was found, by its event
	NotDone        What = "not_done"        // its client asked about it, or for a change, and the gateway refused
	Ended          What = "ended"           // how the message ended, by its event
)

// A Step is one of the things that happened to a message. Fields that its What has no use for are empty.
type Step struct {
	At        time.Time
	What      What
	Account   string // of the client that the step is about
	Connector string // the peer's, or for events an account that receives
	Instance  int    // of the connector; 0: no line says so
	Status    pdulog.Status
	PeerID    string // that an SMSC gave the message
	State     string // that a receipt or an event says
	Error     string // that a receipt says
	Reason    string // why the gateway has refused it, or an operation, in words; "": no line says so
	Delivery  string // what a receipt said, of a step made of its event

	Line    []byte // of the pdu log; nil: it is made of an event
	Command string // of that line
}

const stamp = "2006-01-02T15:04:05.000Z"

// Says returns the step in words.
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

// String returns the step in words with its time, and with its status and the SMSC's id if it has these.
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

// Waiting says in words where the message waits, "" if it does not.
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

// IsOpen reports whether it is not known what followed the last step.
func (s *Story) IsOpen() bool {
	return !s.Ended && (len(s.Steps) == 0 || s.Steps[len(s.Steps)-1].What != Refused)
}
