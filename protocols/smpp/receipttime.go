package smpp

import "time"

// receiptTimeOf reads a time with that many digits of the year, 0 if it is none.
func receiptTimeOf(v []byte, yearLen int, zone *time.Location) int64 {
	year := digits(v[:yearLen])
	if yearLen == 2 && year >= 0 {
		year = fullYear(year)
	}
	var f [5]int // month, day, hour, minute, second
	for i := range f {
		if at := yearLen + 2*i; at < len(v) {
			f[i] = digits(v[at : at+2])
		}
		if f[i] < 0 {
			return 0
		}
	}
	month, day := f[0], f[1]
	switch {
	case year < 1970 || year > 2200 || month < 1 || month > 12 || day < 1 || day > daysIn(year, month):
		return 0
	case f[2] > 23 || f[3] > 59 || f[4] > 59:
		return 0
	}
	if zone == time.UTC {
		return (daysSince1970(year, month, day)*86400 + int64(f[2]*3600+f[3]*60+f[4])) * int64(time.Second)
	}
	return time.Date(year, time.Month(month), day, f[2], f[3], f[4], 0, zone).UnixNano()
}

// daysIn returns how many days a month has.
func daysIn(year, month int) int {
	if month == 2 && year%4 == 0 && (year%100 != 0 || year%400 == 0) {
		return 29
	}
	return [...]int{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}[month-1]
}

// The calendar is counted in cycles of 400 years, from the first of March of the year 0 on, because then the day that is not in
// each year is the last one. Package time takes four times as long, and each receipt has two times.
const (
	daysInCycle = 400*365 + 97
	toMarch0    = 719468 // days from 0000-03-01 to 1970-01-01
)

// daysSince1970 returns the number of days from 1970-01-01 to a day, which is not before.
func daysSince1970(year, month, day int) int64 {
	if month -= 3; month < 0 {
		year, month = year-1, month+12
	}
	inYear := (153*month+2)/5 + day - 1
	return int64(year*365+year/4-year/100+year/400+inYear) - toMarch0
}

// dateOf returns the day that is so many days after 1970-01-01.
func dateOf(days int64) (year, month, day int) {
	n := int(days + toMarch0)
	cycle, inCycle := n/daysInCycle, n%daysInCycle
	inCycleYear := (inCycle - inCycle/1460 + inCycle/36524 - inCycle/(daysInCycle-1)) / 365
	inYear := inCycle - (inCycleYear*365 + inCycleYear/4 - inCycleYear/100)
	fromMarch := (5*inYear + 2) / 153
	year, month, day = cycle*400+inCycleYear, fromMarch+3, inYear-(153*fromMarch+2)/5+1
	if month > 12 {
		year, month = year+1, month-12
	}
	return year, month, day
}

// appendReceiptTime appends a time of 10 digits, or of 12 with its seconds.
func appendReceiptTime(b []byte, at int64, zone *time.Location, seconds bool) []byte {
	var digits [6]int
	switch {
	case at == 0:
	case zone == time.UTC && at > 0:
		seconds := at / int64(time.Second)
		year, month, day := dateOf(seconds / 86400)
		second := int(seconds % 86400)
		digits = [...]int{year % 100, month, day, second / 3600, second / 60 % 60, second % 60}
	default:
		t := time.Unix(0, at).In(zone)
		year, month, day := t.Date()
		hour, minute, second := t.Clock()
		digits = [...]int{year % 100, int(month), day, hour, minute, second}
	}
	n := len(digits)
	if !seconds {
		n--
	}
	for _, d := range digits[:n] {
		b = append(b, byte('0'+d/10), byte('0'+d%10))
	}
	return b
}
