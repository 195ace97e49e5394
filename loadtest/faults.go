package loadtest

import (
	"bytes"
	"fmt"
	"strconv"
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

// Orders are what the text of a message orders a sink to do with it. They are JSON, or the
// same without quotes and without the outer braces, as PowerMeMobile's smppsink has it:
//
//	{"submit": {"status": 88, "delay": "2s"}, "receipt": {"state": "UNDELIV", "err": "045"}}
//	submit:{status:0x58,timeout:2}
//	receipt:{status:delivered,timeout:5}
//
// Times are in seconds or have a unit. The text may have anything around the orders.
type Orders struct {
	Status    uint32        // of the answer
	Delay     time.Duration // before the answer
	NoAnswer  bool
	state     state         // in the receipt; 0: the sink chooses
	err       [3]byte       // in the receipt, if there is a state
	After     time.Duration // from the answer to the receipt
	NoReceipt bool
}

// State returns the word that the receipt has for the state of the message, such as DELIVRD, and its error. Both are empty
// if the sink chooses.
func (o *Orders) State() (word, err string) {
	if o.state == 0 {
		return "", ""
	}
	return o.state.word(), string(o.err[:])
}

// ParseOrders reads the orders in a text. It returns no orders if there are none.
func ParseOrders(text []byte) (o Orders, err error) {
	if bytes.IndexByte(text, '{') < 0 {
		return o, nil
	}
	o.err = [3]byte{'0', '0', '0'}
	plain := strings.NewReplacer(`"`, "", `'`, "", " ", "").Replace(string(text))
	for _, part := range []struct {
		name string
		set  func(key, value string) error
	}{{"submit", o.setSubmit}, {"receipt", o.setReceipt}} {
		_, fields, ok := strings.Cut(plain, part.name+":{")
		if !ok {
			continue
		}
		fields, _, ok = strings.Cut(fields, "}")
		if !ok {
			return o, fmt.Errorf("cannot obey %q: it has no end", text)
		}
		for field := range strings.SplitSeq(fields, ",") {
			key, value, _ := strings.Cut(field, ":")
			if err := part.set(key, value); err != nil {
				return o, fmt.Errorf("cannot obey %s:{%s}: %w", part.name, field, err)
			}
		}
	}
	return o, nil
}

func (o *Orders) setSubmit(key, value string) (err error) {
	switch key {
	case "status":
		var n uint64
		n, err = strconv.ParseUint(value, 0, 32)
		o.Status = uint32(n)
	case "delay", "timeout":
		o.Delay, err = parseDelay(value)
	case "answer":
		var answer bool
		answer, err = strconv.ParseBool(value)
		o.NoAnswer = !answer
	default:
		err = fmt.Errorf("%q is not known: use status, delay or answer", key)
	}
	return err
}

func (o *Orders) setReceipt(key, value string) (err error) {
	switch key {
	case "state", "status":
		if o.state = stateNamed(value); o.state == 0 {
			err = fmt.Errorf("%q is not a state: use DELIVRD, UNDELIV, EXPIRED and the like", value)
		}
	case "err":
		if len(value) > len(o.err) {
			return fmt.Errorf("%q has more than %d characters", value, len(o.err))
		}
		copy(o.err[len(o.err)-len(value):], value)
	case "delay", "timeout":
		o.After, err = parseDelay(value)
	case "send":
		var send bool
		send, err = strconv.ParseBool(value)
		o.NoReceipt = !send
	default:
		err = fmt.Errorf("%q is not known: use state, err, delay or send", key)
	}
	return err
}

// parseDelay reads a time with a unit, or a number of seconds.
func parseDelay(value string) (time.Duration, error) {
	if n, err := strconv.ParseUint(value, 10, 31); err == nil {
		return time.Duration(n) * time.Second, nil
	}
	d, err := time.ParseDuration(value)
	if err == nil && d < 0 {
		err = fmt.Errorf("%s is negative", value)
	}
	return d, err
}

// stateNamed returns the state with that word or name, in any letter case: DELIVRD, delivered.
func stateNamed(name string) state {
	names := [states]string{"", "enroute", "delivered", "expired", "deleted", "undeliverable", "accepted", "unknown", "rejected"}
	for s, word := range stateWords() {
		if s > 0 && (strings.EqualFold(name, word) || strings.EqualFold(name, names[s])) {
			return state(s)
		}
	}
	return 0
}

// answerAfter answers a submit after a delay that was ordered.
func (s *session) answerAfter(delay time.Duration, answer []byte) {
	s.sink.counts.answersLater.Add(1)
	time.AfterFunc(delay, func() {
		s.mail.addOctets(answer)
		s.sink.counts.answersLater.Add(-1)
		s.sink.answered()
	})
}
