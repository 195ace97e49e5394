// Package own is the dialect of our own HTTP API: requests and answers in JSON, problems (RFC 9457), and the
// events of webhooks.
//
// # Start reading
//
// message.go (ReadMessage), problem.go, json.go, then event.go (Report, Inbound) with the words of state.go.
package own
