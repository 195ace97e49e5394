package smpp

import (
	"testing"
	"time"
)

func TestParseTime(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	f := func(s string, want time.Time) {
		t.Helper()
		at, ok := parseTime([]byte(s), now.UnixNano())
		if !ok || at != want.UnixNano() {
			t.Errorf("%s: got %v %v, want %v", s, time.Unix(0, at).UTC(), ok, want)
		}
	}
	f("261120120000000+", now)
	f("261120120000900+", now.Add(900*time.Millisecond))
	f("261120130000004+", now)                    // an hour ahead of UTC
	f("261120110000004-", now)                    // an hour behind
	f("000000000500000R", now.Add(5*time.Minute)) // five minutes from now
	f("020610233429000R", now.AddDate(2, 6, 10).Add(23*time.Hour+34*time.Minute+29*time.Second))
	f("380101000000000+", time.Date(1938, 1, 1, 0, 0, 0, 0, time.UTC))
	f("370101000000000+", time.Date(2037, 1, 1, 0, 0, 0, 0, time.UTC))
	if at, ok := parseTime([]byte("700101000000000+"), now.UnixNano()); at == 0 || at > 1 || !ok {
		t.Errorf("the beginning of 1970 is %d, which stands for no time", at)
	}
	for _, year := range []int{2037, 2038, 2050, 2099, 2150} { // a reader takes 38 to 99 for those of the last century
		at := time.Date(year, 6, 1, 0, 0, 0, 0, time.UTC).UnixNano()
		if got, ok := parseTime(appendTime(nil, at), now.UnixNano()); !ok || got != min(at, lastTime) {
			t.Errorf("%d is read as %v", year, time.Unix(0, got).UTC())
		}
	}
	if at, ok := parseTime(nil, now.UnixNano()); at != 0 || !ok {
		t.Error("an empty time is not 0")
	}
	for _, s := range []string{"soon", "26112012000000", "261320120000000+", "260230120000000+", "261120240000000+",
		"261120126000000+", "261120120000049+", "261120120000000Z", "2611201200x0000+", "000000000500000r"} {
		if _, ok := parseTime([]byte(s), now.UnixNano()); ok {
			t.Errorf("%s is a time", s)
		}
	}
	if s := string(appendTime(nil, now.UnixNano())); s != "261120120000000+" {
		t.Errorf("printed %s", s)
	}
}
