// Package rewrite changes the addresses of messages by the rules of a configuration, and refuses messages by its lists of
// addresses.
//
// # Rules
//
// A connector and an account each have a list of rules. A rule is for one address, in one direction: in for messages that
// arrive, out for messages that leave. Compile checks them and returns the rules of each direction, or nil if there are none.
// Rules are applied in order, each to the result of earlier rules.
//
//	conditions   match (the whole address), strip (its beginning), default (no address)
//	changes      replace, strip, add, set, default, ton, npi
//	lists        allow, deny: the message is refused
//
// Compiled rules never change, so they are safe for concurrent use. The octets of changed
// addresses are in the caller's Addresses. Only rules with match allocate.
//
// # Start reading
//
// Rule (rule.go), then Compile, then Rules.Apply.
package rewrite
