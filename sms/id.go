package sms

import (
	"fmt"
	"strconv"
)

// IDLen is the length of a message's id as text.
const IDLen = 16

// AppendID appends the id of a message as logs show it and as most clients receive it: in
// 16 hexadecimal digits.
func AppendID(b []byte, id uint64) []byte {
	const digits = "0123456789abcdef"
	var text [IDLen]byte
	for i := len(text) - 1; i >= 0; i-- {
		text[i] = digits[id&15]
		id >>= 4
	}
	return append(b, text[:]...)
}

// FormatID returns the id of a message as AppendID writes it.
func FormatID(id uint64) string { return string(AppendID(nil, id)) }

// ParseID reads the id of a message as AppendID writes it, or as a decimal number. An id of 16 digits that begins with 0 is
// the former: ids are at least the time in microseconds, which has 16 decimal digits, and 16 hexadecimal ones with zeros
// in front.
func ParseID(text string) (uint64, error) {
	if len(text) >= IDLen && text[0] != '0' {
		if id, err := strconv.ParseUint(text, 10, 64); err == nil {
			return id, nil
		}
	}
	id, err := strconv.ParseUint(text, 16, 64)
	if err != nil || len(text) != IDLen {
		return 0, fmt.Errorf("%q is not the id of a message: that has %d hexadecimal digits, as in id= of the logs", text, IDLen)
	}
	return id, nil
}
