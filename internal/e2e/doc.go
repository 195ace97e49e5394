// Package e2e tests the whole gateway in one process: its configuration, the
// gateway, the pipeline and the drivers, over real sockets on loopback with
// ports from the kernel.
//
// # Roles
//
//	peer ──────► gateway under test ──────► smsc (a listener whose sessions are peers)
//	go-smpp, node's smpp                    go-smpp's smpptest, node's smpp
//
// A peer is a script: it sends PDUs written as in the pdu log, and names the PDUs that it
// must receive. Tests run in parallel, and at the end of each no
// goroutine, session or job of its gateway may be left.
//
// No test asserts that something happens soon: it waits for events that must happen. If
// something must not happen, a later answer shows that it did not.
//
// The files faults_*_test.go contain faults that hostile clients and misbehaving SMSCs
// caused in earlier versions, with the number of the fault in each test's name. These
// tests count events.
//
// # Start reading
//
// harness_test.go (the gateway under test), peer_test.go (the scripts), then any test.
package e2e
