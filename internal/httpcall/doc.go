// Package httpcall calls the URLs of clients: webhooks, and the callbacks that messages name.
//
// A URL of the configuration is trusted. One that a client has given could make the gateway a means to reach its own
// network. So Allowed decides whether the account may use it, and the address is checked when the connection is made:
// a name that resolves to another address the second time, or to two in turn, reaches nothing more. No call follows a
// redirect, takes a proxy from the environment, or reads more of an answer than 64 KiB.
//
// The package knows neither queues nor attempts. It returns the outcome of one call, in words for operators and
// as an sms.Code. By that the lane decides whether there is another call.
//
// # Start reading
//
// caller.go (Caller), outcome.go (the table of statuses), target.go (which addresses), url.go (Allowed), then sign.go.
package httpcall
