package loadtest

import (
	"bytes"
	"strings"
	"time"
)

// Faults are the ways in which a sink misbehaves, as SMSCs in the field do. The zero
// value has no fault. "Every nth" counts the submits of all sessions together; 0 is
// never. A destination is given by its first digits; "" is none.
type Faults struct {
	ThrottleEvery int64 // every nth submit is answered ESME_RTHROTTLED
	RefuseEvery   int64 // every nth submit is answered ESME_RSUBMITFAIL
	DropEvery     int64 // every nth submit is not accepted, and its connection is closed instead of an answer
	Mute          bool  // no submit is accepted or answered

	UnbindEvery int64         // every nth submit makes the sink unbind; it answers accepted submits after the unbind
	TwiceEvery  int64         // every nth submit is answered twice
	LateEvery   int64         // every nth submit is answered later than the others, by Late
	Late        time.Duration // see LateEvery

	CloseBindEvery int64 // every nth login is accepted, and its connection closed after the answer

	ThrottleTo string // submits to this destination are answered ESME_RTHROTTLED
	FullTo     string // submits to this destination are answered ESME_RMSGQFUL
	RefuseTo   string // submits to this destination are answered ESME_RINVDSTADR
	CloseTo    string // a submit to this destination is not accepted, and its connection is closed
	CloseText  string // a submit whose text contains this is not accepted, and its connection is closed
}

// counts reports whether a fault applies to every nth submit, so that submits must be
// counted.
func (f *Faults) counts() bool {
	return f.ThrottleEvery|f.RefuseEvery|f.DropEvery|f.UnbindEvery|f.TwiceEvery|f.LateEvery != 0
}

// A faultAction is the effect of a fault on a submit.
type faultAction struct {
	refused bool
	refusal refusal
	close   bool // the connection is closed instead
}

// actionFor returns the effect of the faults that depend on a message's destination or
// text.
func (f *Faults) actionFor(m *submitted) faultAction {
	to := func(prefix string) bool {
		return prefix != "" && strings.HasPrefix(string(m.destination.digits), prefix)
	}
	switch {
	case to(f.CloseTo), f.CloseText != "" && bytes.Contains(m.text, []byte(f.CloseText)):
		return faultAction{close: true}
	case to(f.ThrottleTo):
		return faultAction{refused: true, refusal: refuseThrottled}
	case to(f.FullTo):
		return faultAction{refused: true, refusal: refuseQueueFull}
	case to(f.RefuseTo):
		return faultAction{refused: true, refusal: refuseDestination}
	}
	return faultAction{}
}

func every(nth, n int64) bool { return n > 0 && nth%n == 0 }
