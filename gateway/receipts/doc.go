// Package receipts brings receipts to the clients whose messages they are about: it notes what the ids of SMS
// SMSCs stand for, finds the message of a receipt, makes one receipt of those of a long message's parts, keeps
// receipts whose messages are not known, and makes those of messages that no SMSC has accepted.
//
// # Start reading
//
// receipts.go (the whole), smsc.go and forms.go (how ids are written), direct.go and joined.go (what a client
// gets), parts.go and waits.go (long messages), own.go (made here), orphans.go, whereabouts.go (queries), recent.go.
package receipts
