// Package httpload sends load to the gateway's own HTTP API, message by message or in streams, and pairs its messages
// with the events that httpsink receives as their webhook. It counts as package loadtest does, and shares no code with
// the gateway.
//
// # Start reading
//
// load.go (Load), single.go, stream.go, hook.go.
package httpload
