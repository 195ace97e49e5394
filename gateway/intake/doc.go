// Package intake takes messages in: an ordered list of steps refuses a message, changes it, or delays it, whatever
// way it comes. Then it gets an id and its place. Parts of long messages are joined here for the lanes whose peers
// want whole messages.
//
// # Start reading
//
// steps.go (the list) and steps_in.go (what each does), intake.go (ids and places), several.go (PDUs with
// several recipients), join.go, refusals.go (what the log says).
package intake
