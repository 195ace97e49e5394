package smpp

import "pmg/sms"

// Values of data_coding (§5.2.19). Those from 0x10 on are those of 3GPP TS 23.038.
const (
	codingASCII    = 1
	codingOctets   = 2
	codingLatin1   = 3
	codingBinary   = 4
	codingCyrillic = 6 // ISO 8859-5
	codingHebrew   = 7 // ISO 8859-8
	codingUCS2     = 8

	codingGeneral = 0x10 // general, with a class: 0x10 to 0x1F
	codingWaiting = 0xC0 // a message waits: 0xC0 to 0xDF in the default alphabet, 0xE0 to 0xEF in UCS-2
	codingClass   = 0xF0 // with a class: 0xF0 to 0xF7
	classBits     = 0x03
)

// codingOf interprets data_coding. The values from 0x10 to 0x1F are reserved, but peers use them as defined in 3GPP TS 23.038.
func codingOf(dcs uint8) (sms.Alphabet, sms.Class) {
	class := sms.Class0 + sms.Class(dcs&classBits)
	switch dcs &^ classBits {
	case codingGeneral, codingClass:
		return sms.Default, class
	case codingGeneral | codingBinary, codingClass | codingBinary:
		return sms.Binary, class
	case codingGeneral | codingUCS2:
		return sms.UCS2, class
	}
	switch dcs {
	case 0:
		return sms.Default, sms.NoClass
	case codingASCII:
		return sms.ASCII, sms.NoClass
	case codingLatin1:
		return sms.Latin1, sms.NoClass
	case codingCyrillic:
		return sms.Cyrillic, sms.NoClass
	case codingHebrew:
		return sms.Hebrew, sms.NoClass
	case codingOctets, codingBinary:
		return sms.Binary, sms.NoClass
	case codingUCS2:
		return sms.UCS2, sms.NoClass
	}
	if isWaiting(dcs) {
		if dcs >= codingWaiting|0x20 {
			return sms.UCS2, sms.NoClass
		}
		return sms.Default, sms.NoClass
	}
	return sms.Other, sms.NoClass
}

// isWaiting reports whether a data_coding says that a message waits (3GPP TS 23.038).
func isWaiting(dcs uint8) bool { return dcs >= codingWaiting && dcs < codingClass }

// dcsOf is the inverse of codingOf, if SMPP has a value. SMPP has no value for the class of a text in ASCII
// or one of ISO 8859; dcsOf then ignores the class.
func dcsOf(a sms.Alphabet, c sms.Class) uint8 {
	class := uint8(0)
	if c != sms.NoClass {
		class = codingClass | uint8(c-sms.Class0)
	}
	switch a {
	case sms.ASCII:
		return codingASCII
	case sms.Latin1:
		return codingLatin1
	case sms.Cyrillic:
		return codingCyrillic
	case sms.Hebrew:
		return codingHebrew
	case sms.Binary:
		return class | codingBinary
	case sms.UCS2:
		if c != sms.NoClass {
			return codingGeneral | codingUCS2 | class&classBits
		}
		return codingUCS2
	}
	return class
}

// dataCoding returns the data_coding of a message: the one that it came with, given by the native part,
// unless its text has been converted since then. Both alphabets have values that indicate a waiting message.
func dataCoding(m *sms.Message, native uint8) uint8 {
	switch {
	case native != 0 && m.Flags&sms.Converted == 0:
		return native
	case isWaiting(native) && m.Alphabet == sms.UCS2:
		return codingWaiting | 0x20 | native&0x0F
	case isWaiting(native) && m.Alphabet.IsDefault():
		return codingWaiting | native&0x1F
	}
	return dcsOf(m.Alphabet, m.Class)
}
