// Package httpcall calls the URLs of clients: webhooks, and the callbacks that messages name.
//
// A URL of the configuration is trusted. One that a client has given could make the gateway a means to reach what is
// beside it, so Allowed decides whether an account may have it called, and the address is checked when the connection
// is made: a name that resolves to another address the second time, or to two in turn, reaches nothing more. No call
// follows a redirect, takes a proxy from the environment, or reads more of an answer than 64 KiB.
//
// The package knows neither queues nor attempts. It says what came of one call, in words for operators and as an
// sms.Code for the lane that decides whether there is another.
//
// # Start reading
//
// caller.go (Caller), outcome.go (the table of statuses), target.go (which addresses), url.go (Allowed), then sign.go.
package httpcall
