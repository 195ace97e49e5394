package smpp

import "time"

// timeLen is the length of a time without its NUL: YYMMDDhhmmsstnnp (§7.1.1).
const timeLen = 16

// parseTime parses an absolute time, or one relative to now, as Unix nanoseconds. An empty
// time is 0. Years 38 to 99 are in the last century.
func parseTime(b []byte, now int64) (at int64, ok bool) {
	if len(b) == 0 {
		return 0, true
	}
	if len(b) != timeLen {
		return 0, false
	}
	var f [6]int // year, month, day, hour, minute, second
	for i := range f {
		if f[i] = digits(b[2*i : 2*i+2]); f[i] < 0 {
			return 0, false
		}
	}
	tenth, quarters := digits(b[12:13]), digits(b[13:15])
	if tenth < 0 || quarters < 0 || quarters > 48 {
		return 0, false
	}
	switch b[15] {
	case 'R':
		t := time.Unix(0, now).UTC().AddDate(f[0], f[1], f[2])
		return t.Add(time.Duration(f[3])*time.Hour + time.Duration(f[4])*time.Minute +
			time.Duration(f[5])*time.Second).UnixNano(), true
	case '+':
		quarters = -quarters // ahead of UTC
	case '-':
	default:
		return 0, false
	}
	t := time.Date(fullYear(f[0]), time.Month(f[1]), f[2], f[3], f[4], f[5], tenth*1e8, time.UTC)
	if t.Month() != time.Month(f[1]) || t.Day() != f[2] || f[3] > 23 || f[4] > 59 || f[5] > 59 {
		return 0, false
	}
	at = t.Add(time.Duration(quarters) * 15 * time.Minute).UnixNano()
	if at == 0 { // 0 stands for no time
		at = 1
	}
	return at, true
}

// digits parses a decimal number. It returns -1 if s is none.
func digits(b []byte) int {
	n := 0
	for _, c := range b {
		if c < '0' || c > '9' {
			return -1
		}
		n = 10*n + int(c-'0')
	}
	return n
}

// lastTime is the last one whose year has two digits that are read as its own.
var lastTime = time.Date(2037, 12, 31, 23, 59, 59, 9e8, time.UTC).UnixNano()

// appendTime appends an absolute time in UTC, lastTime in the place of a later one.
func appendTime(b []byte, at int64) []byte {
	t := time.Unix(0, min(at, lastTime)).UTC()
	b = t.AppendFormat(b, "060102150405")
	return append(b, byte('0'+t.Nanosecond()/1e8), '0', '0', '+')
}

// maxDuration is the longest relative time that appendDuration writes. It is in days, because
// the length of a month varies.
const maxDuration = int64(31 * 24 * time.Hour)

// appendDuration appends a relative time of at least a second (§7.1.1.2).
func appendDuration(b []byte, d int64) []byte {
	s := max((d+int64(time.Second)-1)/int64(time.Second), 1)
	b = append(b, "0000"...)
	for _, f := range [...]int64{s / 86400, s / 3600 % 24, s / 60 % 60, s % 60} {
		b = append(b, byte('0'+f/10), byte('0'+f%10))
	}
	return append(b, "000R"...)
}

// fullYear returns the year that two digits stand for: 38 to 99 are of the last century.
func fullYear(year int) int {
	if year >= 38 {
		return 1900 + year
	}
	return 2000 + year
}
