// Package plugin asks customer code about messages: an expression, a service by HTTP or a program. The code
// gets a Message, and returns a Verdict.
//
// A Pool asks one plugin. It limits the number of waiting messages, the number of running questions, and
// their duration. If a question fails, or gets no answer in time, the operator's setting decides.
//
// # Start reading
//
// message.go and verdict.go (the contract), pool.go (bounds), breaker.go (a plugin that fails rests), figures.go. The kinds
// of plugin are the packages below this one.
package plugin
