// Package smpp implements the SMPP driver: every PDU of SMPP 3.3, 3.4 issue 1.2 and 5.0. Section signs in
// comments refer to sections of SMPP 3.4. spec.txt lists what is implemented, and which test shows it;
// docs/smpp-conformance.md is generated from spec.txt.
//
// # One list of fields
//
// The walk method of a body (body.go) lists its fields once, in wire order. A Walk
// reads, writes, prints, scans and visits them, so a field that is decoded cannot be
// missing in the log. To add a command, add a row to the commands table, and a struct
// with a walk method if its body is new.
//
// # Bytes
//
// A decoded PDU's fields point into the bytes it came from. Decoding checks only what
// is needed to find the fields, so every PDU that decodes encodes to the same bytes.
// The session checks the values.
//
// # Start reading
//
// commands.go (the operation matrix), body.go (the fields; those of rare PDUs are in
// operations.go), pdu.go (a PDU as a whole), walk.go (how a field is read and written),
// then session.go.
package smpp
