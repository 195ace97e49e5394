// Package operate carries out requests of clients and operators about waiting messages. It finds them in the store or
// in the lanes, and cancels, replaces, deletes, moves or retries them, while nothing else can happen to them. What has
// left is asked of the SMSC.
//
// # Start reading
//
// operations.go, operation.go (a client asks) with cancel.go, replace.go and forward.go, requeue.go and queue.go (an operator
// asks) with withdraw.go, sums.go; list.go.
package operate
