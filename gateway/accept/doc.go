// Package accept is the one way in: PDUs of sessions, messages of requests, and what SMSCs bring by either take the
// steps of intake here, and get their ids and places. A receipt finds its message first. Then they are stored, answered
// and queued, or refused. An Acceptor belongs to one goroutine. Its Executor decides where work goes on: the builder of
// a pipeline goes on later, the goroutine of a request waits.
//
// # Start reading
//
// accept.go (Acceptor, Executor), receipts.go (what a receipt is about), searches.go (receipts of a message in their order),
// turns.go (that order, if several Acceptors handle receipts).
package accept
