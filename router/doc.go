// Package router finds out where a message goes.
//
// A Table is made from one configuration and never changes; the gateway swaps
// it at a reload. The first route of the configuration that matches wins. It is
// found without looking at every route: routes are indexed by account and
// destination prefix, and only the prefixes of the destination's own digits
// are looked up.
//
// The caller decides what a target is. Build asks it once for every target of
// the configuration, a connector or an account, so that nothing is looked up by
// name for each message.
//
// # Start reading
//
// Table.Route, then Route.Pick.
package router
