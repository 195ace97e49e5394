// Package v1 is our own API over HTTP, described by openapi.json: messages, streams, batches, events and the account.
//
// # Start reading
//
// api.go (Routes, postMessage), calls.go (operations, for the API and the portal), then message.go, stream.go and pull.go.
package v1
