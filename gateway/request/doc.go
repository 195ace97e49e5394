// Package request takes in the messages of requests, which have no session: package accept goes on with them on the goroutine of
// the request, which waits; they are stored together, and answered when that has ended. A request that
// comes again with the key that it had is answered as the first one was. What SMSCs bring by requests comes in the
// same way.
//
// # Start reading
//
// submit.go (Requests.Submit), group.go (the executor, and one commit), commit.go (who waits for which commit), repeated.go
// (keys), deliver.go (what SMSCs bring).
package request
