// Package account decides who may log in, and says what an account may use.
//
// # What lives how long
//
//	Registry   as long as the process: sessions and rate of each account, passwords already verified
//	Table      until the next reload: the accounts of one configuration, immutable
//	Guard      as long as the process: which logins failed lately
//
// The gateway swaps the Table at a reload. Sessions that logged in by the old
// one stay and count, because what is counted lies in the Registry.
//
// # A login
//
//	Guard.Check ─► wait, and ask again
//	    │ 0
//	    ▼
//	Lookup ─► Unverified ─► Verify, which takes as long as bcrypt does
//	    │                      │
//	    ▼ Right or Wrong       ▼
//	LogIn ─► OK: Guard.Succeed; the session counts until Account.End
//	    └──► a refusal: Guard.Fail, or Guard.Refuse if the password was right
//
// Every refusal is sms.BindFailed to the client; the reason is for our log only.
// An unknown system_id costs the same comparison as a known one. The gateway
// also delays refusals for so long that the time of an answer does not say
// whether bcrypt was needed.
//
// # Start reading
//
// table.go (Lookup, Verify, LogIn), then guard.go and registry.go; receivers.go
// says whose a message for a client is.
package account
