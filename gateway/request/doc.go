// Package request takes in the messages of requests, which have no session: on the goroutine of the request
// they take the steps of intake, are stored in one commit, and are answered when that has ended. A request that
// comes again with the key that it had is answered as the first one was. What SMS centres bring by requests comes in the
// same way.
//
// # Start reading
//
// submit.go (Desk.Submit), commit.go (who waits for which commit), repeated.go (keys), deliver.go
// (what SMS centres bring).
package request
