package story

import (
	"fmt"
	"strings"
	"time"
)

// An Outcome is the present outcome of a message.
type Outcome string

// The outcomes.
const (
	Queued       Outcome = "queued"      // the message waits in the gateway
	OnItsWay     Outcome = "sent"        // the message was sent, or a peer has accepted it, and nothing more is known
	Delivered    Outcome = "delivered"   // a receipt reports the delivery, or the client has accepted the message
	Undelivered  Outcome = "undelivered" // a receipt reports that the message was not delivered
	Failed       Outcome = "failed"      // the gateway has refused the message or given it up, or a peer has refused it
	AcceptedOnly Outcome = "accepted"    // the gateway has accepted the message, and nothing more is known
)

// Failed reports whether the message did not arrive.
func (o Outcome) Failed() bool { return o == Undelivered || o == Failed }

// outcomeOf returns the outcome that a state in a receipt means, "" if the state is not final.
func outcomeOf(state string) Outcome {
	switch strings.ToUpper(state) {
	case "DELIVRD", "DELIVERED":
		return Delivered
	case "UNDELIV", "UNDELIVERED", "EXPIRED", "DELETED", "UNKNOWN", "REJECTD", "REJECTED", "FAILED", "SKIPPED":
		return Undelivered
	}
	return ""
}

// Outcome returns the outcome of the message.
func (s *Story) Outcome() Outcome {
	_, o := s.decisive()
	return o
}

// decisive returns the step that determines the outcome of the message, and the outcome; nil: no step does.
func (s *Story) decisive() (step *Step, o Outcome) {
	for i := range s.Steps {
		one, found := &s.Steps[i], Outcome("")
		switch one.What {
		case Accepted:
			found = AcceptedOnly
		case Refused, Answered:
			found = Failed
		case Sent:
			found = OnItsWay
		case Taken:
			if found = OnItsWay; one.isToClient() {
				found = Delivered
			}
		case Reported, ReceiptSent:
			found = outcomeOf(one.State)
		case ReceiptEnded:
			found = outcomeOf(one.Delivery)
		case Ended:
			found = endedOutcome(one.State)
		}
		isCopy := one.What == ReceiptSent || one.What == ReceiptEnded // the receipt repeats an SMSC's receipt, if any
		if found != "" && !(isCopy && step != nil && step.What == Reported) && !(one.What == Ended && o == Delivered) {
			step, o = one, found
		}
	}
	if s.Waiting() != "" {
		return step, Queued
	}
	return step, o
}

// endedOutcome returns the outcome that an event reports.
func endedOutcome(state string) Outcome {
	switch state {
	case "joined", "cut":
		return AcceptedOnly
	case "sent":
		return OnItsWay
	}
	return Failed
}

// isToClient reports whether the step is about a client that receives a message.
func (s *Step) isToClient() bool {
	return strings.HasPrefix(s.Command, "deliver_sm") || strings.HasPrefix(s.Command, "op52") ||
		strings.HasPrefix(s.Command, "http_call") || strings.HasPrefix(s.Command, "http_deliver")
}

// Headline returns the outcome of the message as text, the most important facts first. means returns the
// meaning of a step's status, or "".
func (s *Story) Headline(now time.Time, means func(*Step) string) string {
	step, o := s.decisive()
	if step == nil {
		return sentence(s.Waiting())
	}
	h := headline{now: now, means: means}
	switch step.What {
	case Accepted:
		h.say("Accepted %s", h.at(step))
	case Refused:
		if step.Reason != "" {
			h.say("Refused: %s (to %s %s)", step.Reason, orElse(step.Account, step.Connector), h.at(step))
			break
		}
		h.say("Refused to %s %s%s", step.Account, h.at(step), h.why(step))
	case Answered:
		h.say("%s refused it %s%s", step.Connector, h.at(step), h.why(step))
	case Sent:
		h.say("Sent to %s %s, without an answer yet (%s)", step.Connector, h.at(step), h.since(step))
	case Taken:
		h.taken(s, step)
	case Reported, ReceiptSent, ReceiptEnded:
		h.reported(s, step, o)
	case Ended:
		h.ended(s, step)
	}
	h.decided(s)
	if waits := s.Waiting(); waits != "" {
		return sentence(waits) + " " + h.String()
	}
	if o == Delivered || o == Undelivered {
		h.customer(s)
	}
	return h.String()
}

// A headline is sentences that are being written.
type headline struct {
	strings.Builder
	now   time.Time
	means func(*Step) string
}

func sentence(words string) string {
	if words == "" {
		return ""
	}
	return strings.ToUpper(words[:1]) + words[1:] + "."
}

func (h *headline) say(format string, args ...any) {
	if h.Len() > 0 {
		h.WriteByte(' ')
	}
	fmt.Fprintf(h, format+".", args...)
}

// at returns the time of a step, with the day if it is not today.
func (h *headline) at(s *Step) string {
	at, now := s.At.UTC(), h.now.UTC()
	if at.Format(time.DateOnly) == now.Format(time.DateOnly) {
		return at.Format(time.TimeOnly)
	}
	return at.Format(time.DateTime)
}

func (h *headline) since(s *Step) string {
	d := max(0, h.now.Sub(s.At))
	if d < time.Minute {
		return fmt.Sprintf("%d s", int(d.Seconds()))
	}
	return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
}

func (h *headline) why(s *Step) string {
	if s.Status.Value == 0 && s.Status.Name == "" {
		return ""
	}
	why := ": " + s.Status.String()
	if h.means != nil {
		if meaning := strings.TrimSuffix(h.means(s), "."); meaning != "" {
			why += " (" + meaning + ")"
		}
	}
	return why
}

func (h *headline) taken(s *Story, step *Step) {
	switch {
	case step.isToClient():
		h.say("Delivered to %s %s", orElse(step.Account, "the client"), h.at(step))
	case s.NoReceipt:
		h.say("Taken by %s %s. No receipt was asked for", step.Connector, h.at(step))
	default:
		h.say("Taken by %s %s. The SMSC has sent no receipt yet (%s)", step.Connector, h.at(step), h.since(step))
	}
}

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

// reported adds the content of a receipt.
func (h *headline) reported(s *Story, step *Step, o Outcome) {
	state, by := step.State, ""
	if step.What == ReceiptEnded {
		state = step.Delivery
	}
	for i := range s.Steps {
		if one := &s.Steps[i]; one.What == Taken || one == step && one.What == Reported {
			by = one.Connector
		}
	}
	if o == Delivered {
		if by != "" {
			by = " (" + by + ")"
		}
		h.say("Delivered %s%s", h.at(step), by)
		return
	}
	if by = step.Connector; step.What != Reported { // no line of an SMSC's receipt was found: the gateway may have made it
		by = ""
	}
	why := map[string]string{
		"UNDELIV": "the network could not deliver it", "UNDELIVERED": "the network could not deliver it",
		"EXPIRED": "its validity was over", "DELETED": "it was deleted",
		"REJECTD": "it was refused", "REJECTED": "it was refused", "UNKNOWN": "its state is not known",
		"SKIPPED": "it was skipped",
	}[strings.ToUpper(state)]
	why = orElse(why, "it failed")
	if by != "" {
		why = by + " reported that " + why
	}
	if why += " (" + state; step.Error != "" {
		why += ", error " + step.Error
	}
	h.say("Not delivered %s: %s)", h.at(step), why)
}

// ended adds the content of an event.
func (h *headline) ended(s *Story, step *Step) {
	by := orElse(step.Connector, "the peer")
	switch step.State {
	case "rejected":
		if s.Verdict == "refuse" {
			by = "Plugin " + s.Plugin
		}
		h.say("%s refused it %s%s", by, h.at(step), h.why(step))
	case "expired":
		h.say("Expired %s before it was sent", h.at(step))
	case "deleted":
		h.say("Deleted %s", h.at(step))
	case "unknown":
		h.say("Given up %s: %s has not answered", h.at(step), by)
	case "joined":
		h.say("Joined with the other parts %s, as another message", h.at(step))
	case "cut":
		h.say("Split %s into parts, which are other messages", h.at(step))
	default:
		h.say("Given up %s: %s refused it%s", h.at(step), by, h.why(step))
	}
}

// decided adds the decisions of plugins about the message, except a refusal, and the message's network.
func (h *headline) decided(s *Story) {
	switch s.Verdict {
	case "hold":
		h.say("Plugin %s had held it", s.Plugin)
	case "change":
		h.say("Plugin %s had changed it", s.Plugin)
	}
	if s.Network != "" {
		h.say("Network: %s", s.Network)
	}
	if len(s.Tags) > 0 {
		h.say("Tags: %s", strings.Join(s.Tags, ", "))
	}
}

// customer adds what the client knows of the message.
func (h *headline) customer(s *Story) {
	var last *Step
	for i := range s.Steps {
		switch s.Steps[i].What {
		case ReceiptSent, ReceiptTaken, ReceiptRefused, ReceiptEnded:
			last = &s.Steps[i]
		}
	}
	if last == nil {
		return
	}
	isCall := strings.HasPrefix(last.Command, "http_")
	switch {
	case isCall && last.What == ReceiptTaken:
		h.say("The customer's server was notified")
	case last.What == ReceiptTaken, last.What == ReceiptEnded && last.State == "sent":
		h.say("The customer has the receipt")
	case isCall && last.What == ReceiptRefused:
		h.say("The customer's server refused the notification%s", h.why(last))
	case last.What == ReceiptRefused:
		h.say("The customer refused the receipt%s", h.why(last))
	case last.What == ReceiptEnded:
		h.say("The receipt for the customer: %s", last.State)
	case isCall:
		h.say("The customer's server was called and has not answered yet")
	default:
		h.say("The receipt was sent to the customer, who has not answered yet")
	}
}
