// Package settle decides what happens to messages that were sent: they are sent again, some time and by some
// connector, or have ended. Each message ends here, once, by an ordered list of steps.
//
// # Start reading
//
// policy.go (an answer and what follows from it), steps.go (the end), events.go, cut.go (texts that are too long
// after all), refusals.go (what the log says).
package settle
