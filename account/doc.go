// Package account decides who may log in.
//
// # What lives how long
//
//	Registry   as long as the process: sessions and rate of each account, logins already verified
//	Table      until the next reload: the accounts of one configuration, immutable
//	Guard      as long as the process: who failed lately
//
// The gateway swaps the Table at a reload. Sessions that logged in by the old
// one stay, and count, because what is counted lies in the Registry.
//
// # A login
//
//	Lookup ─► OK: the session counts; call Account.End when it is over
//	   │  └─► a refusal: Guard.Fail says how long its answer waits
//	   └────► NeedsVerify: Verify, which takes as long as bcrypt does, says one of the above
//
// Every refusal is sms.BindFailed to the client; the reason is for our log only.
// Whether an account exists is not to be had from the time an answer takes
// either: an unknown one costs the same comparison, and the delay by Guard is
// far above what is left between plain passwords and hashes.
//
// # Start reading
//
// table.go (Lookup, Verify), then registry.go and guard.go.
package account
