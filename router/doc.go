// Package router finds the connector that a message leaves by.
//
// A Table is made from one configuration and never changes; the gateway swaps
// it at a reload. The first route of the configuration that matches wins. It is
// found without looking at every route: they are indexed by account and
// destination prefix, and only the prefixes of the destination's own digits
// are looked up.
//
// What a target is, is the caller's: Build is told how to make one of a
// connector's name, so that a route leads to the connector itself and nothing is
// looked up by name per message.
//
// # Start reading
//
// Table.Route, then Route.Pick.
package router
