// Package httpcall calls URLs: those of SMSCs, plugins and servers of the organisation, the webhooks of clients, and the
// callbacks that messages name. No other package of the product makes a client of HTTP.
//
// A Sender makes calls with the bounds of its Options. By itself it follows no redirect, takes no proxy from the environment, and
// reads no more of an answer than 64 KiB.
//
// A Caller makes the calls that clients want. A URL of the configuration is trusted. With a URL that a client
// has given, the client could reach the gateway's own network. Therefore Allowed decides whether the account
// may use it, and the address is checked when the connection is made: a name that resolves to another address
// the second time, or to two in turn, reaches nothing more.
//
// The package knows neither queues nor attempts. A Caller returns the outcome of one call, as text for
// operators and as an sms.Code. The lane uses the code to decide whether there is another call.
//
// # Start reading
//
// sender.go (Sender), caller.go (Caller), outcome.go (the table of statuses), target.go (which addresses), url.go (Allowed),
// then sign.go.
package httpcall
