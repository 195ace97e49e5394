// Package router chooses the target of a message.
//
// A Table is made from one configuration and never changes; the gateway swaps
// it at a reload. The first route of the configuration that matches wins. It is
// found without looking at every route: routes are indexed by account and
// destination prefix, and only the prefixes of the destination's own digits
// are looked up.
//
// The caller chooses the type of targets. Build calls it once for every target of
// the configuration, a connector or an account, so that no message causes a lookup
// by name.
//
// # Start reading
//
// Table.Route, then Route.Pick.
package router
