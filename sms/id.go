package sms

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
