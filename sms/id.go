package sms

import (
	"fmt"
	"strconv"
)

// IDLen is the length of a message's id as text.
const IDLen = 16

// AppendID appends the id of a message in the form of logs, which most clients get, too: 16 hexadecimal digits.
func AppendID(b []byte, id uint64) []byte {
	const digits = "0123456789abcdef"
	var text [IDLen]byte
	for i := len(text) - 1; i >= 0; i-- {
		text[i] = digits[id&15]
		id >>= 4
	}
	return append(b, text[:]...)
}

// FormatID returns the id of a message in the form of AppendID.
func FormatID(id uint64) string { return string(AppendID(nil, id)) }

// ParseID parses the id of a message in the form of AppendID, or as a decimal number. An id of 16 digits with a leading 0 is
// hexadecimal: ids are at least the time in microseconds, which has 16 decimal digits, and fewer hexadecimal digits.
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
