// Package problems says what an operator should look at: one list for the operators' pages, pmg status, /readyz and the
// alert rules.
//
// Facts are what a gateway is like at a time. A Watch keeps the counters of the last ten minutes, a minute apart, so that
// the rules find also what is a rate.
//
// # Start reading
//
// Watch in watch.go, then rules.go (one row for each alert) and facts.go (what the rules look at).
package problems
