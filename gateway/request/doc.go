// Package request accepts the messages of requests, which have no session. The goroutine of the request runs package accept
// for each message, and waits. The messages are stored together, and answered after the commit. A repeated request with an
// idempotency key gets the answer of the first one. Deliveries of SMSCs by requests are accepted in the same way.
//
// # Start reading
//
// submit.go (Requests.Submit), group.go (the executor, and one commit), commit.go (requests that wait for commits),
// repeated.go (keys), deliver.go (deliveries of SMSCs).
package request
