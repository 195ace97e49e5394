package ucp

import (
	"slices"

	"pmg/sms"
)

// The values of Dst.
const (
	dstDelivered    = '0'
	dstBuffered     = '1'
	dstNotDelivered = '2'
)

// reasonFailed is the reason of a failure without a known reason.
const reasonFailed = 108

// maxReason is the highest number of a reason.
const maxReason = 255

// networkSMSC is the network type of an SMSC's own error (SMPP 5.0, network_error_code).
const networkSMSC = 8

// reasons lists the reasons (Rsn) in order. Operators may have others.
var reasons = [...]Reason{
	{0, "unknown subscriber", sms.StateRejected},
	{1, "service temporarily unavailable", sms.StateUndeliverable},
	{2, "service temporarily unavailable", sms.StateUndeliverable},
	{3, "service temporarily unavailable", sms.StateUndeliverable},
	{4, "service temporarily unavailable", sms.StateUndeliverable},
	{5, "service temporarily unavailable", sms.StateUndeliverable},
	{6, "service temporarily unavailable", sms.StateUndeliverable},
	{7, "service temporarily unavailable", sms.StateUndeliverable},
	{8, "service temporarily unavailable", sms.StateUndeliverable},
	{9, "illegal error code", sms.StateUndeliverable},
	{10, "network time-out", sms.StateExpired},
	{100, "facility not supported", sms.StateUndeliverable},
	{101, "unknown subscriber", sms.StateRejected},
	{102, "facility not provided", sms.StateUndeliverable},
	{103, "call barred", sms.StateUndeliverable},
	{104, "operation barred", sms.StateUndeliverable},
	{105, "SC congestion", sms.StateUndeliverable},
	{106, "facility not supported", sms.StateUndeliverable},
	{107, "absent subscriber", sms.StateUndeliverable},
	{reasonFailed, "delivery fail", sms.StateUndeliverable},
	{109, "SC congestion", sms.StateUndeliverable},
	{110, "protocol error", sms.StateUndeliverable},
	{111, "MS not equipped", sms.StateUndeliverable},
	{112, "unknown SC", sms.StateUndeliverable},
	{113, "SC congestion", sms.StateUndeliverable},
	{114, "illegal MS", sms.StateUndeliverable},
	{115, "MS not a subscriber", sms.StateUndeliverable},
	{116, "error in MS", sms.StateUndeliverable},
	{117, "SMS lower layer not provisioned", sms.StateUndeliverable},
	{118, "system fail", sms.StateUndeliverable},
	{119, "PLMN system failure", sms.StateUndeliverable},
	{120, "HLR system failure", sms.StateUndeliverable},
	{121, "VLR system failure", sms.StateUndeliverable},
	{122, "previous VLR system failure", sms.StateUndeliverable},
	{123, "controlling MSC system failure", sms.StateUndeliverable},
	{124, "VMSC system failure", sms.StateUndeliverable},
	{125, "EIR system failure", sms.StateUndeliverable},
	{126, "system failure", sms.StateUndeliverable},
	{127, "unexpected data value", sms.StateUndeliverable},
	{200, "error in address service centre", sms.StateUndeliverable},
	{201, "invalid absolute validity period", sms.StateExpired},
	{202, "short message exceeds maximum", sms.StateUndeliverable},
	{203, "unable to unpack GSM message", sms.StateUndeliverable},
	{204, "unable to convert to IRA alphabet", sms.StateUndeliverable},
	{205, "invalid validity period format", sms.StateExpired},
	{206, "invalid destination address", sms.StateRejected},
	{207, "duplicate message submit", sms.StateUndeliverable},
	{208, "invalid message type indicator", sms.StateUndeliverable},
}

// reasonExpired is the reason of an expired message, if no other is known.
const reasonExpired = 10

// stateOf returns the state of a message from Dst and Rsn. Rsn is ignored if the message was delivered.
func stateOf(dst byte, rsn int) sms.State {
	switch dst {
	case dstDelivered:
		return sms.StateDelivered
	case dstBuffered:
		return sms.StateEnroute
	case dstNotDelivered:
	default:
		return sms.StateUnknown
	}
	if r := findReason(rsn); r != nil {
		return r.State
	}
	return sms.StateUndeliverable
}

// findReason returns the row of a reason, or nil for an operator's own reason.
func findReason(rsn int) *Reason {
	for i := range reasons {
		if int(reasons[i].Number) == rsn {
			return &reasons[i]
		}
	}
	return nil
}

// dstOf returns Dst for a state. There are three values: messages under way, accepted on behalf of the subscriber, or with an
// unknown state are "buffered"; all others are "delivered" or "not delivered".
func dstOf(s sms.State) byte {
	switch s {
	case sms.StateDelivered:
		return dstDelivered
	case sms.NoState, sms.StateScheduled, sms.StateEnroute, sms.StateAccepted:
		return dstBuffered
	}
	return dstNotDelivered
}

// reasonOf returns Rsn for a receipt. Many SMPP SMSCs use the numbers of this table as their errors.
func reasonOf(r *sms.Report) int {
	if r.State == sms.StateDelivered {
		return 0
	}
	if n := digits(r.Err); n > 0 && n <= maxReason {
		return n
	}
	switch {
	case r.Network == networkSMSC && r.NetworkError <= maxReason:
		return int(r.NetworkError)
	case r.State == sms.StateExpired:
		return reasonExpired
	case dstOf(r.State) == dstNotDelivered:
		return reasonFailed
	}
	return 0
}

// A Reason is a row of the table of reasons for not delivering a message (Rsn).
type Reason struct {
	Number uint8
	Text   string
	State  sms.State // state that a receipt reports
}

// Reasons returns all rows in order.
func Reasons() []Reason { return slices.Clone(reasons[:]) }
