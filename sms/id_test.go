package sms

import (
	"strconv"
	"testing"
	"time"
)

// An id is read in both forms, of which neither is taken for the other. A number is none.
func TestParseID(t *testing.T) {
	t.Parallel()
	at := func(year int) uint64 { return uint64(time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()) }
	for _, id := range []uint64{at(2026), at(2026) + 1234567, at(2100), at(2286), 1e15, 1<<64 - 1} {
		decimal := strconv.FormatUint(id, 10)
		if got, err := ParseID(FormatID(id)); FormatID(id)[0] == '0' && (got != id || err != nil) {
			t.Errorf("%s is read as %d, %v", FormatID(id), got, err)
		}
		if got, err := ParseID(decimal); len(decimal) >= 16 && (got != id || err != nil) {
			t.Errorf("%s is read as %d, %v", decimal, got, err)
		}
	}
	for text, want := range map[string]uint64{"0000000000000001": 1, "00062be4c0ffee17": 0x62be4c0ffee17, "00062BE4C0FFEE17": 0x62be4c0ffee17} {
		if got, err := ParseID(text); got != want || err != nil {
			t.Errorf("%s is read as %x, %v", text, got, err)
		}
	}
	for _, text := range []string{
		"", "7", "46700000001", "467000000012345", "01732699999123456", "99999999999999999999", "1732699999123456 ", "+732699999123456",
		"00062be4c0ffee1", "00062be4c0ffee1g",
	} {
		if got, err := ParseID(text); err == nil {
			t.Errorf("%q is read as %d", text, got)
		}
	}
}
