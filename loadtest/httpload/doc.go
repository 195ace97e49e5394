// Package httpload sends load to the gateway's own HTTP API, message by message or in streams, and pairs the events that a
// webhook is told, which httpsink receives, with its messages. It counts as package loadtest does, and shares no code with
// the gateway.
//
// # Start reading
//
// load.go (Load), single.go, stream.go, hook.go.
package httpload
