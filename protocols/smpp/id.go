package smpp

import (
	"strconv"

	"pmg/sms"
)

// shortDigits are the digits of a short message id. They have no lower case, because some
// peers change the case of ids, or ignore it in comparisons.
const shortDigits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"

// shortLen is the length of the longest message_id in SMPP 3.3, without the NUL.
const shortLen = 8

// messageID writes the message_id of a message for the peer into b.
func (s *session) messageID(b *[16]byte, id uint64) []byte {
	switch {
	case !s.optional():
		return shortID(b, id)
	case clientOf(&s.o).hasDecimalIDs():
		return strconv.AppendUint(b[:0], id, 10)
	}
	return sms.AppendID(b[:0], id)
}

// shortID writes an id for a peer of SMPP 3.3, with 8 digits in base 36. Ids that are less
// than 36^8 = 2.8e12 apart have different short ids. The gateway's ids start at the time in
// microseconds and count messages from there. So with up to a million messages per second,
// a short id is repeated after 32 days at the earliest. Receipts come within 7 days.
func shortID(b *[16]byte, id uint64) []byte {
	for i := shortLen - 1; i >= 0; i-- {
		b[i] = shortDigits[id%36]
		id /= 36
	}
	return b[:shortLen]
}
