package account

import "pmg/sms"

// A Password is the outcome of comparing a login's password.
type Password uint8

// The outcomes.
const (
	Unverified Password = iota // not compared yet: Verify has to be called
	Wrong
	Right
)

// A Result is the outcome of a login, in more detail than the client sees.
type Result uint8

// The results.
const (
	OK                 Result = iota
	NoAccount                 // no account has this system_id
	WrongPassword             //
	WrongCertificate          // the client did not show a certificate that its account requires
	WrongNetwork              // the account may not log in from this address
	WrongConnector            // the account may not log in on this connector
	WrongBind                 // the account may not bind with this bind type
	WrongKey                  // no account has this key, or the key has expired
	TooManySessions           // the account has reached its limit of sessions
	TooManyFromAddress        // the account has reached its limit of sessions per address
	RefusedByPlugin           // a plugin refused the login
)

var resultNames = [...]string{
	"ok", "no such account", "wrong password", "no certificate of the account", "address not allowed",
	"connector not allowed", "bind type not allowed", "no such key, or one that has expired", "too many sessions",
	"too many sessions from this address", "a plugin refuses it",
}

// String returns the result as text, for the log.
func (r Result) String() string { return resultNames[r] }

// Code returns the code with which the client is answered.
func (r Result) Code() sms.Code {
	if r == OK {
		return sms.OK
	}
	return sms.BindFailed
}

// IsGuess reports whether a login that was refused with this result counts as a
// guess at a password.
func (r Result) IsGuess() bool {
	return r == NoAccount || r == WrongPassword || r == WrongCertificate || r == WrongNetwork
}
