package ucp

import "time"

// The lengths of times: DDMMYYHHmm and DDMMYYHHmmss.
const (
	minuteLen = 10
	secondLen = 12
)

// parseTime reads a time of either length, in the SMSC's own time zone, as Unix
// nanoseconds. Years 90 to 99 are of the last century.
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

// lastTime is the last one whose year has two digits that are read as its own.
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

// century is how many seconds there are from 2000 to 2100.
const century = 36525 * 24 * 3600

// appendStamp appends the SCTS by which the peer knows a message. It is no time of day: by it a
// peer distinguishes messages to the same recipient, so two messages of the same second must not
// have the same one. Ids that are less than century = 3.2e9 apart have different stamps.
func appendStamp(b []byte, id uint64) []byte {
	const from = 946684800 // 2000-01-01
	return appendTime(b, (from+int64(id%century))*int64(time.Second), time.UTC, secondLen)
}
