package sms

import (
	"slices"
	"strconv"
)

// A Network is a mobile network by its numbers of ITU-T E.212, the country's (MCC) and the network's (MNC),
// or a country alone. The number consists of a 1 and their digits, because a leading 0 counts: 126201,
// 1310410, and 1262 for all of country 262. 0: the network is unknown.
//
// A Network is stored, so its form never changes.
type Network uint32

// The bounds of networks: those of an MCC alone, and those with an MNC of two and of three digits.
const (
	firstCountry, lastCountry = 1_000, 1_999
	firstShort, lastShort     = 100_000, 199_999
	firstLong, lastLong       = 1_000_000, 1_999_999
)

// IsValid reports whether n is a network or a country.
func (n Network) IsValid() bool {
	return n >= firstCountry && n <= lastCountry || n >= firstShort && n <= lastShort || n >= firstLong && n <= lastLong
}

// Country returns the country of a network.
func (n Network) Country() Network {
	switch {
	case n >= firstLong:
		return n / 1000
	case n >= firstShort:
		return n / 100
	}
	return n
}

// Short returns the network whose MNC lacks the leading 0 of n's MNC, as a spreadsheet would write it, or n
// if its MNC has two digits. isShort reports whether n's MNC has two digits. Short returns 0 for other
// networks.
func (n Network) Short() (short Network, isShort bool) {
	switch mnc := n % 1000; {
	case n >= firstShort && n <= lastShort:
		return n, true
	case n >= firstLong && mnc < 100:
		return firstShort + (n-firstLong)/1000*100 + mnc, false
	}
	return 0, false
}

// IsCountry reports whether n is a country alone.
func (n Network) IsCountry() bool { return n != 0 && n <= lastCountry }

// Append appends the digits of a network: MCC and MNC, or MCC alone. For an unknown network it appends nothing.
func (n Network) Append(b []byte) []byte {
	if n == 0 {
		return b
	}
	at := len(b)
	b = strconv.AppendUint(b, uint64(n), 10)
	return append(b[:at], b[at+1:]...)
}

// String returns the digits of a network, "" if the network is unknown.
func (n Network) String() string { return string(n.Append(nil)) }

// ReadNetwork reads a network: MCC and MNC, 5 or 6 digits, or MCC alone. It reports whether the text is a network.
func ReadNetwork[T string | []byte](text T) (n Network, ok bool) {
	if len(text) != 3 && len(text) != 5 && len(text) != 6 {
		return 0, false
	}
	n = 1
	for i := range len(text) {
		c := text[i]
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + Network(c-'0')
	}
	return n, true
}

// IsLongMNC reports whether an MNC that is written with three digits has three digits in its country by ITU-T
// E.212, so that a leading zero is a part of the MNC. India has MNCs of two and of three digits.
func IsLongMNC(mcc, mnc string) bool {
	if mcc == "405" {
		return mnc >= "025" && mnc <= "047" || mnc[0] != '0'
	}
	return slices.Contains(longMNC[:], mcc)
}

// longMNC are the countries in which all MNCs have three digits.
var longMNC = [...]string{
	"302", "310", "311", "312", "313", "314", "315", "316", "334", "338", "342", "344", "346", "348", "352", "354", "356", "358",
	"360", "364", "365", "366", "376", "708", "722", "732", "750",
}
