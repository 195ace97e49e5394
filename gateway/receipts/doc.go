// Package receipts brings receipts to the clients whose messages they are about. It records the meanings of
// SMSCs' ids, and finds the message of a receipt. It makes one receipt of those of a long message's parts,
// keeps receipts of unknown messages, and makes the receipts of messages that no SMSC has accepted.
//
// # Start reading
//
// receipts.go (the whole), smsc.go and forms.go (how ids are written), direct.go and joined.go (what a client
// gets), parts.go and waits.go (long messages), own.go (made here), orphans.go, whereabouts.go (queries), recent.go.
package receipts
