// Package operate performs requests of clients and operators about waiting messages. It finds the messages in the store or in
// the lanes, and cancels, replaces, deletes, moves or retries them, while nothing else can change them. Requests about
// messages that have left are forwarded to the SMSC.
//
// # Start reading
//
// operations.go, operation.go (clients) with cancel.go, replace.go and forward.go, requeue.go and queue.go (operators) with
// withdraw.go, sums.go; list.go.
package operate
