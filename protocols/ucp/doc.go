// Package ucp is the UCP driver: EMI/UCP as SMSCs of release 3 to 5 speak it. spec.txt lists the parts of
// UCP, and what is implemented.
//
// # One list of fields
//
// The fields of a body stand once, in wire order, in its walk (body.go). A Walk
// reads, writes, prints, scans and shows them, so a field cannot be decoded and
// forgotten in the log. An operation is a row of the operations table.
//
// # Characters
//
// A PDU's fields are characters that lie in its text: in the frame it came from, or in storage of its own. They are
// interpreted only when a message is made of the PDU, so that every frame that decodes encodes to the same octets again,
// except that hexadecimal digits of the checksum become upper case.
//
// # Start reading
//
// operations.go, body.go (the fields), frame.go (where a frame begins and ends),
// pdu.go, walk.go (how a field is read and written), then session.go, message.go
// and encode.go.
package ucp
