// Package explain says what a gateway with a configuration would do with a message: it makes such a gateway,
// without sockets and without a disk, has the message take the steps of gateway/intake, and notes what each step
// does; then it has it leave by each target of its route. No peer is connected, so it is not known which targets are
// up.
//
// # Start reading
//
// Ask (explain.go), run.go (a gateway and one message), answer.go, coding.go (the text).
package explain
