package numbers

import (
	"bytes"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// morning is a time of the journal.
var morning = time.Date(2026, 11, 30, 9, 14, 3, 0, time.UTC)

// Lines of this version and of earlier ones.
func TestLines(t *testing.T) {
	t.Parallel()
	byMobile := Origin{morning, Stop, "operator", "6392a1b0c4d5e", ""}
	for _, c := range []struct {
		line string
		want Change
	}{
		{"+46701740605", Change{"46701740605", true, Origin{}}},
		{"-46 70-174", Change{"4670174", false, Origin{}}},
		{"+MY SHOP", Change{"MY SHOP", true, Origin{}}},
		{"+46701\t2026-11-30T09:14:03Z\tstop\toperator\t6392a1b0c4d5e", Change{"46701", true, byMobile}},
		{"-46701\t2026-11-30T09:14:03Z\tpage\tuser anna\t\tasked by letter, \"=cmd|' /C calc'!A0\"", Change{
			"46701", false, Origin{morning, Page, "user anna", "", "asked by letter, \"=cmd|' /C calc'!A0\""},
		}},
		{"+MY SHOP\t2026-11-30T09:14:03Z\tcommand", Change{"MY SHOP", true, Origin{At: morning, Source: Command}}},
		{"+46701\t2026-11-30T09:14:03Z", Change{"46701", true, Origin{At: morning}}},
		{"+12345678901234567890\t2026-11-30T09:14:03Z\tapi\ttoken ops", Change{"12345678901234567890", true, Origin{At: morning, Source: API, Who: "token ops"}}},
	} {
		var r record
		if !r.read([]byte(c.line), new([maxName]byte)) || r.change() != c.want {
			t.Errorf("%q: %+v", c.line, r.change())
		}
		if note := ReadNote(c.want.Entry, c.want.Note()); note != c.want {
			t.Errorf("%q: note %q is %+v", c.line, c.want.Note(), note)
		}
	}
	for _, line := range []string{
		"", "+", "46701", "*46701", "+4670*", "+4670174o605", "+46701\t", "+46701\t\tstop",
		"+46701\t2026-11-30 09:14:03\tstop", "+46701\t2026-11-30T09:14:03+01:00\tstop", "+46701\t2026-11-30T09:14:03.5Z\tstop", "+46701\t2026-02-30T09:14:03Z\tstop",
		"+46701\t2026-11-30T09:14:61Z\tstop", "+46701\t1969-11-30T09:14:03Z\tstop", "+46701\t0000-01-01T00:00:00Z\tstop", "+46701\t2026-11-30T09:14:03Z\tst op",
		"+46701\t2026-11-30T09:14:03Z\tstop\toperator\tid id", "+46701\t2026-11-30T09:14:03Z\tstop\toperator\tid\tr\tr", "+46701\t2026-11-30T09:14:03Z\tstop\to\x00p",
		"+46701\t2026-11-30T09:14:03Z\tstop\t\t\t" + strings.Repeat("r", MaxReason+1), "+46701\t2026-11-30T09:14:03Z\tstop\t" + strings.Repeat("w", maxWho+1),
		"+46701\t2026-11-30T09:14:03Z\tstop\t\t\t\xff", "+\t2026-11-30T09:14:03Z\tstop",
	} {
		var r record
		if r.read([]byte(line), new([maxName]byte)) {
			t.Errorf("%q: %+v", line, r.change())
		}
	}
}

// The notes of earlier versions have a sign alone, and of a note that cannot be read the sign counts.
func TestOldNotes(t *testing.T) {
	t.Parallel()
	for note, want := range map[string]Change{
		"+": {Entry: "46701", On: true}, "-": {Entry: "46701"}, "": {Entry: "46701"}, "+\tlater": {Entry: "46701", On: true}, "+\t": {Entry: "46701", On: true}, "-x": {Entry: "46701"},
	} {
		if got := ReadNote("46701", []byte(note)); got != want {
			t.Errorf("%q: %+v", note, got)
		}
	}
}

// A reason is one short line; what names an operator is made to fit.
func TestChecked(t *testing.T) {
	t.Parallel()
	for _, reason := range []string{"a\nb", "a\rb", "a\tb", "\x00", "\xff", "a\u0085b", strings.Repeat("x", MaxReason+1), strings.Repeat("ö", MaxReason/2+1)} {
		if _, err := (Origin{Reason: reason}).checked(); err == nil {
			t.Errorf("%q is taken", reason)
		}
	}
	o, err := Origin{At: morning.Add(999), Source: API, Who: "a\n\tb\xff" + strings.Repeat("ö", maxWho), Reason: "  \"quoted\" =1+1 \n"}.checked()
	if err != nil || !o.At.Equal(morning) || o.Reason != `"quoted" =1+1` || !strings.HasPrefix(o.Who, "a??b?öö") || len(o.Who) > maxWho || !utf8.ValidString(o.Who) {
		t.Errorf("%+v, %v", o, err)
	}
	for _, at := range []time.Time{{}, time.Unix(0, 0), time.Unix(-5, 0), morning.AddDate(8000, 0, 0)} {
		if o, err := (Origin{At: at, Source: API}).checked(); err != nil || !o.At.IsZero() {
			t.Errorf("%v: %+v, %v", at, o, err)
		}
	}
}

// What a line says is written the same way, and no line is read that would be two.
func FuzzLine(f *testing.F) {
	for _, line := range []string{"+46701", "-MY SHOP\t2026-11-30T09:14:03Z\tstop\toperator\t6392a1b0c4d5e\treason", "+46701\t2026-11-30T09:14:03Z\tapi\t\t\tr", "+0\t\t\t", "\t\n"} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		var r, again record
		if !r.read(line, new([maxName]byte)) {
			return
		}
		c := r.change()
		o := c.Origin
		written := o.appendTo(append([]byte{signOf(c.On)}, c.Entry...))
		if bytes.ContainsAny(written, "\r\n") {
			t.Fatalf("%q is written as %q", line, written)
		}
		if !again.read(written, new([maxName]byte)) || again.change() != c {
			t.Fatalf("%q is %+v, and %q is %+v", line, c, written, again.change())
		}
		if n := ReadNote(c.Entry, c.Note()); n != c {
			t.Fatalf("%q: note %+v", line, n)
		}
	})
}
