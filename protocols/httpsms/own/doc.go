// Package own is the dialect of our own HTTP API: requests and answers in JSON, problems (RFC 9457), and the
// events that webhooks are told of.
//
// # Start reading
//
// message.go (ReadMessage), problem.go, then json.go.
package own
