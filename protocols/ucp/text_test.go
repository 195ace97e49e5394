package ucp

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"testing"

	"pmg/internal/smstext"
	"pmg/sms"
	forms "pmg/sms/fit"
)

// Every character of GSM 7-bit and of the national languages comes through both drivers: in
// the language's tables, which both carry, and in each default alphabet that a peer may
// have, as far as that has the character.
func TestEveryCharacter(t *testing.T) {
	b, err := os.ReadFile("../../sms/charset/testdata/gsm7_tables.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Tables map[string]struct {
			ID      int
			Locking map[string]string
			Single  map[string]string `json:"single_shift"`
		}
	}
	if err := json.Unmarshal(b, &file); err != nil {
		t.Fatal(err)
	}
	all := nodes(t)
	checked := 0
	for _, table := range file.Tables {
		for _, shift := range []struct {
			element byte
			escape  string
			chars   map[string]string
		}{{0x25, "", table.Locking}, {0x24, "\x1b", table.Single}} {
			for _, octet := range slices.Sorted(maps.Keys(shift.chars)) {
				v, _ := strconv.ParseUint(octet, 16, 8)
				r, err := strconv.ParseUint(shift.chars[octet][2:], 16, 32)
				if err != nil {
					t.Fatal(err)
				}
				header := ""
				if table.ID != 0 {
					header = string([]byte{3, shift.element, 1, byte(table.ID)})
				}
				throughBoth(t, all, header, shift.escape+string(rune(v)), string(rune(r)))
				checked++
			}
		}
	}
	if checked < 1500 {
		t.Errorf("%d characters were checked", checked)
	}
}

// throughBoth sends a text from a client of SMPP to an SMSC of UCP, and from there to
// clients of SMPP with every default alphabet.
func throughBoth(t *testing.T, all map[string]node, header, septets, want string) {
	t.Helper()
	class := 0
	if header != "" {
		class = 64
	}
	m, code := all["smpp server"].take(t, fmt.Sprintf("submit_sm seq=1 destination_addr=1 esm_class=%d short_message=%s", class, logged(header+septets)))
	if code != sms.OK {
		t.Fatalf("%x: %s", septets, code)
	}
	at, code := all["ucp server"].take(t, all["ucp client"].give(t, m))
	if got := readText(t, at); code != sms.OK || got != want {
		t.Errorf("%x %x became %q, %s; want %q", header, septets, got, code, want)
	}
	for _, own := range []sms.Alphabet{sms.DefaultPacked, sms.DefaultASCII, sms.DefaultLatin1, sms.DefaultUCS2, sms.DefaultUTF8} {
		converted := new(sms.Pool).Copy(at)
		f := forms.New(own, sms.NewAlphabets(sms.UCS2), forms.Keep)
		if r := new(forms.Converter).Convert(f, converted); r != forms.Converted {
			t.Errorf("%q for %d: result %d", want, own, r)
		}
		last, _ := all["smpp server"].take(t, all["smpp client"].give(t, converted))
		if last.Alphabet == sms.Default {
			last.Alphabet = own
		}
		if got := readText(t, last); got != want && (own != sms.DefaultPacked || want != "@") {
			t.Errorf("%q for %d became %q", want, own, got)
		}
	}
}

func readText(t *testing.T, m *sms.Message) string {
	t.Helper()
	text, ok := smstext.Decode(m.Alphabet, m.Flags&sms.HasHeader != 0, m.Text())
	if !ok {
		t.Errorf("%x in %d is no text", m.Text(), m.Alphabet)
	}
	return text
}

// logged writes octets as the pdu log does.
func logged(s string) string {
	b := []byte{'"'}
	for i := range len(s) {
		b = fmt.Appendf(b, "\\x%02x", s[i])
	}
	return string(append(b, '"'))
}
