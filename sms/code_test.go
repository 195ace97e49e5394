package sms

import "testing"

// After which results a message is sent again, and when. The rest are permanent.
func TestFailures(t *testing.T) {
	again := map[Code]Failure{
		Throttled: Throttling, NoCredit: Throttling, QueueFull: Temporary, TemporaryFailure: Temporary, SystemError: Temporary, Timeout: NoAnswer, Lost: NoAnswer,
		Undecided: NoAnswer,
	}
	names := map[string]bool{}
	for _, c := range append(Codes(), Code(200)) {
		if got := c.Failure(); got != again[c] || c.Retryable() != (got != Permanent) {
			t.Errorf("%s: %s", c, got)
		}
		if names[c.String()] || c.String() == "" {
			t.Errorf("code %d is called %q", c, c)
		}
		names[c.String()] = true
	}
	if Code(200).String() != "unknown" || codes.String() != "unknown" {
		t.Errorf("%s, %s", Code(200), codes)
	}
	for f, want := range map[Failure]string{Permanent: "permanent", Throttling: "throttled", Temporary: "temporary", NoAnswer: "lost"} {
		if f.String() != want {
			t.Errorf("%s, want %s", f, want)
		}
	}
}

// The default alphabets are those that a driver writes as the peer's default.
func TestAlphabets(t *testing.T) {
	for a, want := range map[Alphabet]bool{
		Default: true, ASCII: false, Latin1: false, UCS2: false, Binary: false, Other: false,
		DefaultPacked: true, DefaultASCII: true, DefaultLatin1: true, DefaultUCS2: true, DefaultUTF8: true,
		Cyrillic: false, Hebrew: false,
	} {
		if a.IsDefault() != want {
			t.Errorf("%d: %t", a, a.IsDefault())
		}
	}
	s := NewAlphabets(Default, UCS2, DefaultUTF8)
	for a := Default; a <= LastAlphabet; a++ {
		if want := a == Default || a == UCS2 || a == DefaultUTF8; s.Has(a) != want {
			t.Errorf("%d: %t", a, s.Has(a))
		}
	}
}
