package smpp

import "pmg/sms"

// shortDigits are the digits of a short message id. They have one case only, because
// some peers change the case of ids, or compare without it.
const shortDigits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"

// shortLen is the length of the longest message_id in SMPP 3.3, without the NUL.
const shortLen = 8

// messageID writes the message_id that the peer knows a message by into b.
func (s *session) messageID(b *[16]byte, id uint64) []byte {
	if s.optional() {
		return sms.AppendID(b[:0], id)
	}
	return shortID(b, id)
}

// shortID writes an id for a peer of SMPP 3.3 in 8 digits to the base of 36. Ids that
// are less than 36^8 = 2.8e12 apart are different. The gateway's ids count
// microseconds when it starts and messages after that, so that up to a million
// messages a second, it takes 32 days until one comes again. Receipts take 7.
func shortID(b *[16]byte, id uint64) []byte {
	for i := shortLen - 1; i >= 0; i-- {
		b[i] = shortDigits[id%36]
		id /= 36
	}
	return b[:shortLen]
}

// ShortID returns the id that a peer of SMPP 3.3 knows a message by.
func ShortID(id uint64) string {
	var b [16]byte
	return string(shortID(&b, id))
}
