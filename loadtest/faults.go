package loadtest

import (
	"bytes"
	"strings"
	"time"

	"pmg/protocols/smpp"
)

// Faults are the ways in which a sink misbehaves, as SMSCs in the field do. The
// zero value behaves well. "Every n" counts the submits of all sessions
// together; 0 is never. A destination is named by its first digits; "" is none.
type Faults struct {
	ThrottleEvery int64 // every nth submit is answered ESME_RTHROTTLED
	RefuseEvery   int64 // every nth submit is answered ESME_RSUBMITFAIL
	DropEvery     int64 // every nth submit is not taken, and its connection closed instead of an answer
	Mute          bool  // no submit is taken or answered

	UnbindEvery int64         // every nth submit makes the sink unbind; what it has taken is answered behind the unbind
	TwiceEvery  int64         // every nth submit is answered twice
	LateEvery   int64         // every nth submit is answered after Late as well as after the sink's delay
	Late        time.Duration // see LateEvery

	CloseBindEvery int64 // every nth login is accepted, and its connection closed behind the answer

	ThrottleTo string // submits to this destination are answered ESME_RTHROTTLED
	FullTo     string // submits to this destination are answered ESME_RMSGQFUL
	RefuseTo   string // submits to this destination are answered ESME_RINVDSTADR
	CloseTo    string // a submit to this destination is not taken, and its connection closed
	CloseText  string // a submit whose text contains this is not taken, and its connection closed
}

// counts reports whether a fault strikes every nth submit, so that submits must
// be counted.
func (f *Faults) counts() bool {
	return f.ThrottleEvery|f.RefuseEvery|f.DropEvery|f.UnbindEvery|f.TwiceEvery|f.LateEvery != 0
}

// A fate is what a fault does to a submit.
type fate struct {
	status uint32 // the answer; 0: the submit is taken
	close  bool   // the connection is closed instead
}

// of returns what becomes of a message because of its destination or text.
func (f *Faults) of(m *smpp.SM) fate {
	to := func(prefix string) bool {
		return prefix != "" && strings.HasPrefix(string(m.DestAddr), prefix)
	}
	switch {
	case to(f.CloseTo), f.CloseText != "" && bytes.Contains(userText(m), []byte(f.CloseText)):
		return fate{close: true}
	case to(f.ThrottleTo):
		return fate{status: smpp.StatusThrottled}
	case to(f.FullTo):
		return fate{status: smpp.StatusMsgQFul}
	case to(f.RefuseTo):
		return fate{status: smpp.StatusInvDstAdr}
	}
	return fate{}
}

func every(nth, n int64) bool { return n > 0 && nth%n == 0 }
