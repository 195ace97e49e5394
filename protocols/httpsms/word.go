package httpsms

import "pmg/sms"

// words are the words of receipts (SMPP 3.4 appendix B; SMPP 5.0 for the first and the last word).
var words = map[sms.State]string{
	sms.StateScheduled: "SCHEDLD", sms.StateEnroute: "ENROUTE", sms.StateDelivered: "DELIVRD", sms.StateExpired: "EXPIRED",
	sms.StateDeleted: "DELETED", sms.StateUndeliverable: "UNDELIV", sms.StateAccepted: "ACCEPTD", sms.StateUnknown: "UNKNOWN",
	sms.StateRejected: "REJECTD", sms.StateSkipped: "SKIPPED",
}

// Word returns the word of a state in a receipt, in the form that clients of other gateways know. It is empty for a
// word of the SMSC's own.
func Word(s sms.State) string { return words[s] }
