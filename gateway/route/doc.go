// Package route finds where a message goes: the route of its addresses and its keyword, the target of the
// route, the lane of the target, and the account's share of the lane.
//
// # Start reading
//
// table.go, index.go (the routes of a configuration), route.go, taken.go (what they count), lanes.go, failover.go, parts.go and
// keyword.go (long messages).
package route
