package ucp

import "time"

// The lengths of DDMMYYHHmm and DDMMYYHHmmss.
const (
	minuteLen = 10
	secondLen = 12
)

// parseTime parses a time of either length, in the SMSC's time zone, as Unix nanoseconds. Years 90 to 99 are 1990 to 1999.
func parseTime(b []byte, zone *time.Location) (at int64, ok bool) {
	if len(b) != minuteLen && len(b) != secondLen || !isDigits(b) {
		return 0, false
	}
	var f [6]int // day, month, year, hour, minute, second
	for i := range len(b) / 2 {
		f[i] = int(two(b[2*i:]))
	}
	year := 2000 + f[2]
	if f[2] >= 90 {
		year = 1900 + f[2]
	}
	t := time.Date(year, time.Month(f[1]), f[0], f[3], f[4], f[5], 0, zone)
	if t.Month() != time.Month(f[1]) || t.Day() != f[0] || f[3] > 23 || f[4] > 59 || f[5] > 59 {
		return 0, false
	}
	return t.UnixNano(), true
}

// lastTime is the last time whose two-digit year is read as the same year.
var lastTime = time.Date(2089, 12, 31, 23, 59, 59, 0, time.UTC).UnixNano()

func appendTime(b []byte, at int64, zone *time.Location, length int) []byte {
	t := time.Unix(0, at).In(zone)
	year, month, day := t.Date()
	hour, minute, second := t.Clock()
	f := [...]int{day, int(month), year % 100, hour, minute, second}
	for _, n := range f[:length/2] {
		b = appendTwo(b, uint8(n))
	}
	return b
}

// century is the number of seconds from 2000 to 2100.
const century = 36525 * 24 * 3600

// appendStamp appends the SCTS that identifies a message to the peer. It is made of the message's id, and not of the time: a
// peer distinguishes messages to the same recipient by it, so two messages of the same second need different stamps. Ids that
// differ by less than century = 3.2e9 have different stamps.
func appendStamp(b []byte, id uint64) []byte {
	const from = 946684800 // 2000-01-01
	return appendTime(b, (from+int64(id%century))*int64(time.Second), time.UTC, secondLen)
}
