package ucp

import (
	"testing"
)

// Every character that GSM and Latin-1 share comes back, and no other is taken for one.
func TestGSMAndLatin1(t *testing.T) {
	shared := 0
	for c := range 256 {
		one := []byte{byte(c)}
		gsm, ok := appendGSM(nil, one)
		if !ok {
			if len(gsm) > 0 {
				t.Errorf("%q: something was appended", one)
			}
			continue
		}
		shared++
		if back, ok := appendLatin1(nil, gsm); !ok || string(back) != string(one) {
			t.Errorf("%q is %x, which is %q, %t", one, gsm, back, ok)
		}
	}
	if shared != 94+3+29 { // ASCII but for the grave accent, line feed, carriage return and form feed, and what stands above 0x7F
		t.Errorf("%d characters are shared", shared)
	}
	for s, want := range map[string]string{"\x1b": " ", "\x1b\x65": "?", "\x10": "?", "\x80": "?", "\x1bA": "A"} { // as a mobile shows it
		if got, ok := appendLatin1(nil, []byte(s)); ok || string(got) != want {
			t.Errorf("%x is %q, %t", s, got, ok)
		}
	}
}
