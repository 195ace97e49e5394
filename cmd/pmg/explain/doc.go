// Package explain describes how a gateway with a configuration would handle a message. It makes such a gateway, without
// sockets and without a disk. The message takes the steps of gateway/intake, and the changes of each step are recorded. Then
// it is converted for each target of its route. No peer is connected, so it is not known which targets are up.
//
// # Start reading
//
// Ask (explain.go), run.go (a gateway and one message), answer.go, coding.go (the text).
package explain
