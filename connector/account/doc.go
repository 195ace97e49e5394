// Package account decides which clients may log in, and limits what each account may use.
//
// # Lifetimes
//
//	Registry   the process: sessions and rate of each account, verified passwords
//	Table      until the next reload: the accounts of one configuration, immutable
//	Guard      the process: the recent failed logins
//
// The gateway swaps the Table at a reload. Sessions that logged in under the old
// Table stay open and keep counting, because the Registry holds the counts.
//
// # A login
//
//	Guard.Check ─► wait, and ask again
//	    │ 0
//	    ▼
//	Lookup ─► Unverified ─► Verify, which takes as long as the hash does
//	    │                      │
//	    ▼ Right or Wrong       ▼
//	LogIn ─► OK: Guard.Succeed; the session counts until Account.End
//	    └──► a refusal: Guard.Fail, or Guard.Refuse if the password was right
//
// The client sees every refusal as sms.BindFailed; only the gateway's log has the
// reason. An unknown system_id costs the same comparison as a known one. The
// gateway also delays refusals, so that the time of an answer does not reveal
// whether a hash was computed.
//
// # Start reading
//
// table.go (Lookup, Verify, LogIn), then guard.go and registry.go; receivers.go
// finds the account of a message for clients.
package account
