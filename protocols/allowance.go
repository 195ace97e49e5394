package protocols

import (
	"fmt"
	"time"
)

// The limits of a peer before it logs in, without its login. They are enough for a few
// keep-alives and for corrected logins.
const (
	maxEarly    = 10   // PDUs
	MaxEarlyPDU = 1024 // octets of a PDU
)

// The limits of PDUs without a message. The gateway answers and logs each such PDU, so that a flood would
// slow other sessions down.
const (
	checkEvery = int64(100 * time.Millisecond) // average interval
	checkBurst = 100                           // PDUs in a burst
)

// An Allowance limits the PDUs that a peer may send without a message. Its methods return the reason why the
// session must be closed, or "".
type Allowance struct {
	early int   // number of PDUs that the peer sent before it logged in, without the login itself
	until int64 // the time up to which PDUs without a message have used the allowance
}

// Take counts a PDU without a message.
func (a *Allowance) Take(now int64) string {
	if a.until = max(a.until, now) + checkEvery; a.until-now > checkBurst*checkEvery {
		return fmt.Sprintf("too many PDUs without a message: over %d a second", int64(time.Second)/checkEvery)
	}
	return ""
}

// TakeEarly counts a PDU before the login. long means more than MaxEarlyPDU octets, and isLogin the login itself.
func (a *Allowance) TakeEarly(long, isLogin bool) string {
	if long {
		return fmt.Sprintf("too much before login: a PDU of more than %d octets", MaxEarlyPDU)
	}
	if isLogin {
		return ""
	}
	if a.early++; a.early > maxEarly {
		return fmt.Sprintf("too much before login: more than %d PDUs", maxEarly)
	}
	return ""
}

// Late reports whether a timer that was started at since has run out. A timer of 0 never
// runs out.
func Late(now, since, timer int64) bool { return timer > 0 && now-since >= timer }

// maxDrain is the upper limit of DrainTime.
const maxDrain = 5 * time.Second

// DrainTime returns how long a logout waits for answers to our requests.
func (o *SessionOptions) DrainTime() int64 {
	if o.ResponseTimeout > 0 {
		return min(o.ResponseTimeout, int64(maxDrain))
	}
	return int64(maxDrain)
}
