package quiet

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"pmg/sms/number"
)

func hours(t testing.TB, from, to, zone string, zones ...string) *Hours {
	t.Helper()
	h, problems := New(Options{from, to, zone, zones})
	if problems != nil {
		t.Fatal(problems)
	}
	return h
}

// The hours end when the clock of the recipient says so, also on the days on which it is set forward or back.
func TestEnd(t *testing.T) {
	t.Parallel()
	const stockholm, kolkata, york, lordHowe = "Europe/Stockholm", "Asia/Kolkata", "America/New_York", "Australia/Lord_Howe"
	for _, c := range []struct{ zone, from, to, at, end string }{
		{"UTC", "21:00", "08:00", "2026-11-25T20:59:59.999999999Z", ""},
		{"UTC", "21:00", "08:00", "2026-11-25T21:00:00Z", "2026-11-26T08:00:00Z"},
		{"UTC", "21:00", "08:00", "2026-11-26T00:00:00.5Z", "2026-11-26T08:00:00Z"},
		{"UTC", "21:00", "08:00", "2026-11-26T07:59:59.999999999Z", "2026-11-26T08:00:00Z"},
		{"UTC", "21:00", "08:00", "2026-11-26T08:00:00Z", ""},
		{"UTC", "12:00", "13:00", "2026-11-26T12:30:01Z", "2026-11-26T13:00:00Z"},
		{"UTC", "12:00", "13:00", "2026-11-26T13:00:00Z", ""},
		{"UTC", "12:00", "13:00", "2026-11-26T11:59:59Z", ""},
		{"UTC", "22:00", "00:00", "2026-11-26T23:00:00Z", "2026-11-27T00:00:00Z"},
		{"UTC", "00:00", "06:00", "2026-11-26T00:00:00Z", "2026-11-26T06:00:00Z"},
		{stockholm, "21:00", "08:00", "2026-11-25T20:00:00Z", "2026-11-26T07:00:00Z"},
		{kolkata, "21:00", "08:00", "2026-11-25T15:30:00Z", "2026-11-26T02:30:00Z"},
		{stockholm, "21:00", "08:00", "2026-03-28T20:00:00Z", "2026-03-29T06:00:00Z"}, // an hour is left out
		{stockholm, "21:00", "08:00", "2026-10-24T19:00:00Z", "2026-10-25T07:00:00Z"}, // an hour comes twice
		{stockholm, "21:00", "02:30", "2026-03-28T22:00:00Z", "2026-03-29T01:00:00Z"}, // there is no 02:30
		{stockholm, "21:00", "02:00", "2026-03-28T22:00:00Z", "2026-03-29T01:00:00Z"}, // which is 03:00
		{stockholm, "02:10", "02:50", "2026-03-29T00:59:00Z", ""},                     // they are left out
		{stockholm, "21:00", "02:30", "2026-10-25T00:00:00Z", "2026-10-25T00:30:00Z"},
		{stockholm, "21:00", "02:30", "2026-10-25T00:45:00Z", ""},
		{stockholm, "21:00", "02:30", "2026-10-25T01:00:00Z", "2026-10-25T01:30:00Z"}, // 02:00 once more
		{stockholm, "21:00", "03:00", "2026-10-25T00:45:00Z", "2026-10-25T02:00:00Z"}, // the second 03:00
		{york, "21:00", "08:00", "2026-11-01T02:00:00Z", "2026-11-01T13:00:00Z"},
		{lordHowe, "21:00", "08:00", "2026-10-03T12:00:00Z", "2026-10-03T21:00:00Z"}, // half an hour is left out
	} {
		at, err := time.Parse(time.RFC3339Nano, c.at)
		if err != nil {
			t.Fatal(err)
		}
		want := at
		if c.end != "" {
			want, _ = time.Parse(time.RFC3339Nano, c.end)
		}
		if got := time.Unix(0, hours(t, c.from, c.to, c.zone).End(at.UnixNano(), number.Number{})).UTC(); !got.Equal(want) {
			t.Errorf("%+v: %s", c, got.Format(time.RFC3339Nano))
		}
	}
}

// The end is the first minute at which the clock shows none of the hours, as one finds who looks at it each minute: near the
// changes of summer time, in zones that have others.
func TestEndIsAsNaive(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for _, name := range []string{
		"UTC", "Europe/Stockholm", "America/New_York", "America/Santiago", "Australia/Lord_Howe", "Asia/Kathmandu",
		"Africa/Casablanca", "Pacific/Apia", "America/St_Johns",
	} {
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		for range 60 {
			at := time.Unix(1_300_000_000+r.Int64N(500_000_000), 0).In(zone)
			if _, changes := at.ZoneBounds(); !changes.IsZero() {
				at = changes.Add(time.Duration(r.Int64N(int64(40*time.Hour))) - 30*time.Hour)
			}
			at = at.Truncate(time.Minute)
			from, to := r.IntN(24*60), r.IntN(24*60)
			if from == to {
				continue
			}
			clock := func(n int) string { return fmt.Sprintf("%02d:%02d", n/60, n%60) }
			isQuiet := func(t time.Time) bool {
				now := t.Format("15:04")
				if from < to {
					return clock(from) <= now && now < clock(to)
				}
				return clock(from) <= now || now < clock(to)
			}
			want := at
			for isQuiet(want.In(zone)) {
				want = want.Add(time.Minute)
			}
			got := hours(t, clock(from), clock(to), name).End(at.UnixNano(), number.Number{})
			if got != want.UnixNano() {
				t.Errorf("%s, %s to %s at %s: %s, not %s", name, clock(from), clock(to), at, time.Unix(0, got).In(zone), want.In(zone))
			}
		}
	}
}

// A recipient's zone is that of its longest prefix.
func TestZone(t *testing.T) {
	t.Parallel()
	h := hours(t, "21:00", "08:00", "", "46=Europe/Stockholm", "+1=America/New_York", "1808=Pacific/Honolulu")
	for to, want := range map[string]string{
		"46701740605": "Europe/Stockholm", "+46701740605": "Europe/Stockholm", "0046701740605": "Europe/Stockholm",
		"12125550100": "America/New_York", "18085550100": "Pacific/Honolulu", "1800555": "America/New_York",
		"4812345": "", "": "", "4701740605": "", "0701740605": "", "46701": "", "12345": "",
	} {
		got := ""
		if zone := h.Zone(number.Read(to)); zone != nil {
			got = zone.String()
		}
		if got != want {
			t.Errorf("%s: %q, not %q", to, got, want)
		}
	}
	if at := int64(1_800_000_000e9); h.End(at, number.Read("47")) != at {
		t.Error("a recipient without a zone has quiet hours")
	}
	if zone := hours(t, "21:00", "08:00", "UTC", "46=Europe/Stockholm").Zone(number.Read("47")); zone != time.UTC {
		t.Errorf("other recipients are in %s", zone)
	}
}

// What is wrong is named by option.
func TestProblems(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{From: "9:00", To: "24:00", Zone: "UTC"}, "from must be a time of day such as 21:00, not \"9:00\"; to must be a time of day such as 08:00, not \"24:00\""},
		{Options{From: "09:00", To: "09:00", Zone: "UTC"}, `to must not be the same time as "from"`},
		{Options{From: "09:00", To: "10:00"}, "zone must be given"},
		{Options{From: "09:00", To: "10:00", Zone: "Local"}, "zone must name a time zone"},
		{Options{From: "09:00", To: "10:00", Zone: "Europe/Nowhere"}, "zone must name a time zone"},
		{Options{From: "09:00", To: "10:00", Zones: []string{"46=UTC", "x=UTC", "47", "+46=UTC", "=UTC"}}, "zones[1] must be digits"},
		{Options{From: "09:00", To: "10:00", Zones: []string{"47"}}, "zones[0] must name"},
		{Options{From: "09:00", To: "10:00", Zones: []string{"46=UTC", "+46=UTC"}}, "zones[1] repeats 46"},
		{Options{From: "09:00", To: "10:00", Zones: []string{"=UTC"}}, "zones[0] must be digits"},
	} {
		_, problems := New(c.o)
		var all []string
		for _, p := range problems {
			all = append(all, p.Option+" "+p.Text)
		}
		if got := strings.Join(all, "; "); !strings.HasPrefix(got, c.want) {
			t.Errorf("%+v: %s", c.o, got)
		}
	}
}

// Looking for the end allocates nothing.
func TestNoAllocations(t *testing.T) {
	h := hours(t, "21:00", "08:00", "UTC", "46=Europe/Stockholm")
	to := number.Read("46701234567")
	at := int64(1_800_000_000e9)
	if n := testing.AllocsPerRun(100, func() { at = h.End(at+1e12, to) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
