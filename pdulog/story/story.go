package story

import (
	"fmt"
	"time"

	"pmg/gateway/operate"
	"pmg/internal/logtext"
	"pmg/pdulog"
)

// A Story is what became of a message.
type Story struct {
	ID          string
	Account     string // of the client that it came from; "": it came from an SMSC, or no line says so
	Source      string // its addresses as they came
	Destination string
	Steps       []Step
	Waits       *operate.StoredMessage // where it waits; nil: it does not, or that is not known
	Ended       bool                   // a peer has taken it, or an event says how it ended
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
	Delivery  string // what a receipt said, of a step made of its event

	Line    []byte // of the pdu log; nil: it is made of an event
	Command string // of that line
}

const stamp = "2006-01-02T15:04:05.000Z"

// String returns the step in words, or "" if pmg trace does not tell it, because the next step does.
func (s *Step) String() string {
	at, account := s.At.UTC().Format(stamp), string(logtext.AppendValue(nil, []byte(s.Account)))
	switch s.What {
	case Accepted:
		if s.Account == "" {
			return ""
		}
		return fmt.Sprintf("accepted from %s at %s", account, at)
	case Refused:
		return fmt.Sprintf("refused to %s at %s with %s", account, at, s.Status)
	case Answered:
		return fmt.Sprintf("%s answered %s at %s", s.Connector, s.Status, at)
	case Taken:
		if s.PeerID != "" {
			return fmt.Sprintf("taken by %s at %s as %s", s.Connector, at, s.PeerID)
		}
		return fmt.Sprintf("taken by %s at %s", s.Connector, at)
	case Reported:
		return fmt.Sprintf("%s reported %s at %s", s.Connector, s.State, at)
	case ReceiptSent:
		return fmt.Sprintf("receipt %s sent to %s at %s", s.State, account, at)
	case ReceiptTaken:
		return fmt.Sprintf("receipt delivered to %s at %s", account, at)
	case ReceiptRefused:
		return fmt.Sprintf("receipt refused by %s at %s with %s", account, at, s.Status)
	case ReceiptEnded:
		return fmt.Sprintf("receipt (%s) for %s: %s at %s", s.Delivery, account, s.State, at)
	case Ended:
		if s.Status.Name != "" {
			return fmt.Sprintf("%s at %s: %s answered %s", s.State, at, s.Connector, s.Status)
		}
		return fmt.Sprintf("%s at %s", s.State, at)
	}
	return ""
}

// Waiting says in words where the message waits, "" if it does not.
func (s *Story) Waiting() string {
	switch m := s.Waits; {
	case m == nil || s.Ended:
		return ""
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
