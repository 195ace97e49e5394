package config

import (
	"strings"
	"testing"
)

// U9: with the defaults a week of pdu logs is kept if the disk has room.
func TestPDULogKeepsAWeek(t *testing.T) {
	p := Default().PDULog
	if p.KeepAge.Hours() != 7*24 || p.Keep != 0 || p.MaxTotal != 0 || p.MinFree == 0 {
		t.Errorf("keep_age %v, keep %d, max_total %v, min_free %d", p.KeepAge, p.Keep, p.MaxTotal, p.MinFree)
	}
}

// The key of the hashes of texts is long enough, and is refused where it has no effect.
func TestTextKey(t *testing.T) {
	for text, want := range map[string]string{
		"{text: false, text_key: 0123456789abcdef}": "",
		"{text: false, text_key: short}":            "pdulog.text_key must have 16 characters or more",
		"{text_key: 0123456789abcdef}":              "pdulog.text_key has no effect while texts are written",
	} {
		_, _, err := Parse([]byte("pdulog: "+text+"\naccounts: [{system_id: a, password: b}]\nconnectors: []\n"), Options{})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
		if err != nil && (strings.Contains(err.Error(), "0123456789") || strings.Contains(err.Error(), "short")) {
			t.Errorf("the problem shows the key: %v", err)
		}
	}
}
