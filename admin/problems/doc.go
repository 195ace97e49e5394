// Package problems finds the problems that an operator should know: one list for the operators' pages, pmg status, /readyz and
// the alert rules.
//
// Facts are the state of a gateway at a time. A Watch keeps the counters of the last ten minutes, a minute
// apart, so that rules can use rates.
//
// # Start reading
//
// Watch in watch.go, then rules.go (one row for each alert) and facts.go (the input of the rules).
package problems
