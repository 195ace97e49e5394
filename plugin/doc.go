// Package plugin asks customer code about messages: an expression, a service by HTTP or a program. It is given a Message, and
// returns a Verdict.
//
// A Pool asks one plugin. It bounds how many messages wait for it, how many are under way and for how long. What fails, or
// does not answer in time, is decided as the operator has said for that case.
//
// # Start reading
//
// message.go and verdict.go (the contract), pool.go (bounds), breaker.go (a plugin that fails rests), figures.go. The kinds
// of plugin are the packages below this one.
package plugin
