package pdulog

import (
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"pmg/internal/logfile"
)

// The octets per second of sessions that are not logged in are limited (H5).
func TestStrangers(t *testing.T) {
	var s strangers
	for second := range int64(3) {
		n := 0
		for i := range int64(2 * strangerOctets / 100) {
			if s.admit((100+second)*int64(time.Second) + i) {
				s.add(100)
				n++
			}
		}
		if n != strangerOctets/100 {
			t.Errorf("%d lines in second %d", n, second)
		}
	}
}

// A6: so are those of sessions that are refused and go on, apart from the others. No other lines are.
func TestPressingLines(t *testing.T) {
	f := openOn(t, t.TempDir(), Options{Options: logfile.Options{MaxSize: 1 << 30}, Flush: time.Second, Waiting: 1 << 30, Log: zerolog.Nop()}, logfile.OpenFile)
	now := time.Now().UnixNano()
	line := func(pressing bool, s Standing) bool {
		before := f.lost.Load()
		f.Line(now, 1, true, &fakePDU{shown: strings.Repeat("x", 500), hidden: "x"}, s, About{Pressing: pressing})
		return f.lost.Load() == before
	}
	n := 0
	for line(true, LoggedIn) {
		n++
	}
	if n < strangerOctets/1000 || !line(false, LoggedIn) || !line(false, Stranger) {
		t.Errorf("%d lines, or the others are limited as well", n)
	}
	if now += int64(time.Second); !line(true, LoggedIn) {
		t.Error("limited for longer than a second")
	}
	mustClose(t, f)
}
