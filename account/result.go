package account

import "pmg/sms"

// A Result is what came of a login, in more detail than the client is told.
type Result uint8

// The results.
const (
	OK              Result = iota
	NeedsVerify            // not known yet: call Verify where bcrypt may take its time
	NoAccount              // no account has this system_id
	WrongPassword          //
	WrongNetwork           // it may not log in from this address
	WrongBind              // it may not bind in this way
	TooManySessions        // it has as many as it may have
)

var resultNames = [...]string{
	"ok", "needs verify", "no such account", "wrong password", "address not allowed",
	"bind type not allowed", "too many sessions",
}

// String is the reason for the log.
func (r Result) String() string { return resultNames[r] }

// Code is what the client is told.
func (r Result) Code() sms.Code {
	if r == OK {
		return sms.OK
	}
	return sms.BindFailed
}
