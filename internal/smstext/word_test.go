package smstext

import (
	"strings"
	"testing"

	"pmg/sms"
)

// What phones write for a word is that word.
func TestWord(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"STOP", "stop", " Stop\r\n", "“STOP”", "‘stop’", "„STOP“", "«Stop»", "STOP,", "(STOP)", "STOP;", "[stop]", "stop?!", "STOP…", "*stop*",
		"STOP\u00a0", "\ufeffSTOP", "\u200bSTOP\u200b", "\u202aSTOP\u202c", "\u2003STOP\u3000", "ＳＴＯＰ", "ｓｔｏｐ！", "STOP\u0000", "-STOP-", "stop 🛑", "stop\ufe0f", "S\u00adTOP",
		"STOP" + strings.Repeat(" ", 100),
	} {
		if got := Word(text); got != "STOP" {
			t.Errorf("%q: %q", text, got)
		}
		if got := FirstWord(text + " please"); got != "STOP" {
			t.Errorf("%q: the first word is %q", text, got)
		}
	}
	for text, want := range map[string]string{
		"arre\u0302t": "ARRÊT", "Opt  Out.": "OPT OUT", "opt\u2011out": "OPT-OUT", "STOP it": "STOP IT", "stopped": "STOPPED", "...": "", "": "",
		strings.Repeat("x", 81): "", "रोको": "रोको",
	} {
		if got := Word(text); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
	for text, want := range map[string]string{"stopped now": "STOPPED", "arre\u0302t svp": "ARRÊT", "👍": "", "1 2": "1", strings.Repeat("é", 2000): strings.Repeat("É", 768)} {
		if got := FirstWord(text); got != want {
			t.Errorf("%.20q: %.20q", text, got)
		}
	}
}

// A word is read in alphabets that are not known, too, and of data.
func TestTyped(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		alphabet sms.Alphabet
		octets   string
		want     string
	}{
		"default": {sms.Default, "STOP", "STOP"}, "UCS-2": {sms.UCS2, "\x00S\x00T\x00O\x00P", "STOP"}, "data": {sms.Binary, "STOP\r\n", "STOP\r\n"},
		"data in UCS-2": {sms.Binary, "\x00S\x00T\x00O\x00P", "STOP"}, "no text": {sms.Binary, "\x01\x02", ""}, "half": {sms.Binary, "S\x00T", ""},
	} {
		if got := Typed(c.alphabet, false, []byte(c.octets)); got != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := Typed(sms.Binary, true, []byte("\x05\x00\x03\x01\x02\x01STOP")); got != "STOP" {
		t.Errorf("%q", got)
	}
	if got := Typed(sms.Binary, true, []byte("\xffSTOP")); got != "" {
		t.Errorf("%q", got)
	}
}
