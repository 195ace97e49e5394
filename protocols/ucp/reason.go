package ucp

// A state is what became of a message, as receipts in text say it.
type state string

// The states.
const (
	delivered     state = "DELIVRD"
	buffered      state = "ENROUTE"
	undeliverable state = "UNDELIV"
	expired       state = "EXPIRED"
	rejected      state = "REJECTD"
)

// The outcomes in Dst.
const (
	dstDelivered    = '0'
	dstBuffered     = '1'
	dstNotDelivered = '2'
)

// reasonFailed is the reason of a failure that has no other.
const reasonFailed = 108

// A reason is one row of the table of reasons for not delivering a message.
type reason struct {
	number uint8
	text   string
	state  state // of a message that was not delivered
}

// reasons lists the reasons (Rsn) in order. Operators may have others.
var reasons = [...]reason{
	{0, "unknown subscriber", rejected},
	{1, "service temporarily unavailable", undeliverable},
	{2, "service temporarily unavailable", undeliverable},
	{3, "service temporarily unavailable", undeliverable},
	{4, "service temporarily unavailable", undeliverable},
	{5, "service temporarily unavailable", undeliverable},
	{6, "service temporarily unavailable", undeliverable},
	{7, "service temporarily unavailable", undeliverable},
	{8, "service temporarily unavailable", undeliverable},
	{9, "illegal error code", undeliverable},
	{10, "network time-out", expired},
	{100, "facility not supported", undeliverable},
	{101, "unknown subscriber", rejected},
	{102, "facility not provided", undeliverable},
	{103, "call barred", undeliverable},
	{104, "operation barred", undeliverable},
	{105, "SC congestion", undeliverable},
	{106, "facility not supported", undeliverable},
	{107, "absent subscriber", undeliverable},
	{reasonFailed, "delivery fail", undeliverable},
	{109, "SC congestion", undeliverable},
	{110, "protocol error", undeliverable},
	{111, "MS not equipped", undeliverable},
	{112, "unknown SC", undeliverable},
	{113, "SC congestion", undeliverable},
	{114, "illegal MS", undeliverable},
	{115, "MS not a subscriber", undeliverable},
	{116, "error in MS", undeliverable},
	{117, "SMS lower layer not provisioned", undeliverable},
	{118, "system fail", undeliverable},
	{119, "PLMN system failure", undeliverable},
	{120, "HLR system failure", undeliverable},
	{121, "VLR system failure", undeliverable},
	{122, "previous VLR system failure", undeliverable},
	{123, "controlling MSC system failure", undeliverable},
	{124, "VMSC system failure", undeliverable},
	{125, "EIR system failure", undeliverable},
	{126, "system failure", undeliverable},
	{127, "unexpected data value", undeliverable},
	{200, "error in address service centre", undeliverable},
	{201, "invalid absolute validity period", expired},
	{202, "short message exceeds maximum", undeliverable},
	{203, "unable to unpack GSM message", undeliverable},
	{204, "unable to convert to IRA alphabet", undeliverable},
	{205, "invalid validity period format", expired},
	{206, "invalid destination address", rejected},
	{207, "duplicate message submit", undeliverable},
	{208, "invalid message type indicator", undeliverable},
}

// stateOf returns the state of a message by Dst and Rsn. The reason of a message that
// was delivered means nothing.
func stateOf(dst byte, rsn int) state {
	switch dst {
	case dstDelivered:
		return delivered
	case dstBuffered:
		return buffered
	}
	for i := range reasons {
		if int(reasons[i].number) == rsn {
			return reasons[i].state
		}
	}
	return undeliverable
}

// dstOf returns Dst for a state as a receipt's text says it.
func dstOf(s []byte) byte {
	switch string(s) {
	case string(delivered):
		return dstDelivered
	case string(buffered), "ACCEPTD", "SCHEDUL":
		return dstBuffered
	}
	return dstNotDelivered
}
