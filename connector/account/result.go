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
	WrongCertificate          // it shows none of those that it must have
	WrongNetwork              // it may not log in from this address
	WrongConnector            // it may not log in on this connector
	WrongBind                 // it may not bind in this way
	WrongKey                  // no account has it, or it has expired
	TooManySessions           // it has as many as it may have
	TooManyFromAddress        // it has as many as it may have from one address
	RefusedByPlugin           // a plugin says so
)

var resultNames = [...]string{
	"ok", "no such account", "wrong password", "no certificate of the account", "address not allowed",
	"connector not allowed", "bind type not allowed", "no such key, or one that has expired", "too many sessions",
	"too many sessions from this address", "a plugin refuses it",
}

// String returns the reason for the log.
func (r Result) String() string { return resultNames[r] }

// Code returns the code of the answer to the client.
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
