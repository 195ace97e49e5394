package smpp

import (
	"testing"
	"time"
)

// Each day of the years that times can have, and its neighbours, are read and written as package time does.
func TestReceiptTimesOfEachDay(t *testing.T) {
	t.Parallel()
	end := time.Date(2200, 12, 31, 0, 0, 0, 0, time.UTC)
	for at := time.Unix(1, 0).UTC(); at.Before(end); at = at.Add(23*time.Hour + 59*time.Minute + 17*time.Second) {
		digits := at.Format("20060102150405")
		if got := receiptTimeOf([]byte(digits), 4, time.UTC); got != at.UnixNano() {
			t.Fatalf("%s is read as %v", digits, time.Unix(0, got).UTC())
		}
		if got := string(appendReceiptTime(nil, at.UnixNano(), time.UTC, true)); got != digits[2:] {
			t.Fatalf("%v is written as %s", at, got)
		}
	}
	before := time.Date(1969, 12, 31, 23, 59, 58, 0, time.UTC)
	if got := string(appendReceiptTime(nil, before.UnixNano(), time.UTC, true)); got != "691231235958" {
		t.Errorf("%v is written as %s", before, got)
	}
}
