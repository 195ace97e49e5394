// Package smpp is the SMPP driver: SMPP 3.4 issue 1.2, with what peers of 3.3
// and 5.0 send. Section signs in comments name sections of that document;
// spec.txt lists them and says what is done.
//
// # One list of fields
//
// The fields of a body stand once, in wire order, in its walk method (body.go).
// A Walk reads, writes, prints, scans and shows them, so a field cannot be
// decoded and forgotten in the log. A command is a row of the commands table,
// with a struct and a walk if its body is a new one.
//
// # Bytes
//
// A decoded PDU's fields point into the bytes it came from. Nothing is checked
// beyond what finding the fields needs: every PDU that decodes encodes to the
// same bytes, and what a value means is the session's business.
//
// # Start reading
//
// commands.go (the operation matrix), body.go (the fields), pdu.go (a PDU as a
// whole), walk.go (how a field is read and written), then session.go.
package smpp
