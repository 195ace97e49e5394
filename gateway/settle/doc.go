// Package settle decides what becomes of messages that were sent: whether they are sent again, when and by whom, or
// have ended. Each message ends here, once, by an ordered list of steps.
//
// # Start reading
//
// policy.go (an answer and what follows from it), steps.go (the end), events.go, cut.go (texts that are too long
// after all), refusals.go (what the log says).
package settle
