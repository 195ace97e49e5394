// Package statement sums up what an account, or an SMSC, is charged in a period, from events.
//
//	events of the period and since ──► Maker: lines by network and unit price ──► Statement: text, CSV, JSON, a page
//	balance now, payments ───────────►        balances at the beginning and at the end
//
// # Exact
//
// The balance now is that behind the event Ledger.Event. What was charged, given back and paid since is taken off, so that the
// balance at the end of the period is exact, and so is that at its beginning, however old the account is. Numbers of events rise
// by one: if one is missing, there is no statement.
//
// # Start reading
//
// statement.go (what is asked for, and what comes out), maker.go (events), show.go (text and CSV).
package statement
