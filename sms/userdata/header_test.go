package userdata

import (
	"bytes"
	"encoding/hex"
	"errors"
	"testing"

	"pmg/sms/charset"
)

func octets(t testing.TB, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestParse(t *testing.T) {
	f := func(header string, want Header) {
		t.Helper()
		if got, err := Parse(octets(t, header)); err != nil || got != want {
			t.Errorf("%s: %+v, %v; want %+v", header, got, err, want)
		}
	}
	f("00", Header{})
	// Vectors submit_sm_concat8_part1, submit_sm_ports8_binary,
	// submit_sm_turkish_both_shifts and submit_sm_concat_and_turkish_single.
	f("0500032a0201", Header{Part: Part{Reference: 42, Number: 1, Total: 2}})
	f("040402f0fa", Header{})
	f("06240101250101", Header{Single: charset.Turkish, Locking: charset.Turkish})
	f("080003110201240101", Header{Part: Part{Reference: 17, Number: 1, Total: 2}, Single: charset.Turkish})

	f("060804abcd0302", Header{Part: Part{Reference: 0xabcd, Number: 2, Total: 3, Wide: true}})
	f("0605040b8423f0", Header{})
	f("0b0003aa0201080400bb0302", Header{Part: Part{Reference: 0xbb, Number: 2, Total: 3, Wide: true}}) // the last one counts
	f("0770027fff010100", Header{})                                                                     // skipped
	// A part that cannot be is none.
	f("0500032a0000", Header{})
	f("0500032a0001", Header{})
	f("0500032a0200", Header{})
	f("0500032a0203", Header{})
}

func TestParseRefuses(t *testing.T) {
	for _, header := range []string{
		"", "01", "0100", "0500032a02", "0500032a020101", "0400022a02", "06000401020304", "030803000102"[:8],
		"0304010f", "0504030b8423", "0224", "0325020101"[:8], "022400", "0500ff2a0201", "010003",
	} {
		if h, err := Parse(octets(t, header)); !errors.Is(err, ErrMalformed) || h != (Header{}) {
			t.Errorf("%s: %+v, %v", header, h, err)
		}
	}
}

func TestCut(t *testing.T) {
	header, text, ok := Cut(octets(t, "0500032a0201414243"))
	if !ok || hex.EncodeToString(header) != "0500032a0201" || string(text) != "ABC" {
		t.Errorf("got %x, %q, %t", header, text, ok)
	}
	for _, b := range []string{"", "05000301", "10000301"} { // the last is submit_sm_udhl_too_big
		if _, _, ok := Cut(octets(t, b)); ok {
			t.Errorf("%s is cut", b)
		}
	}
}

func TestAppendHeader(t *testing.T) {
	f := func(header string, p Part, want string, ok bool) {
		t.Helper()
		got, gotOK := AppendHeader([]byte{0xAA}, octets(t, header), p)
		if hex.EncodeToString(got) != "aa"+want || gotOK != ok {
			t.Errorf("%s with %+v: %x, %t; want %s, %t", header, p, got[1:], gotOK, want, ok)
		}
	}
	short, wide := Part{Reference: 0x2a, Number: 1, Total: 2}, Part{Reference: 0xabcd, Number: 2, Total: 3, Wide: true}
	f("", Part{}, "", true)
	f("", short, "0500032a0201", true)
	f("00", wide, "060804abcd0302", true)
	f("0605040b8423f0", short, "0b00032a020105040b8423f0", true)
	f("0b00032a020105040b8423f0", Part{}, "0605040b8423f0", true) // joined
	f("0500032a0201", Part{}, "", true)
	f("0500032a0201", wide, "060804abcd0302", true)
	full := "fd70fb" + hex.EncodeToString(make([]byte, 251))
	f(full, Part{}, full, true)
	f(full, short, "", false)
}

func TestAppendShifted(t *testing.T) {
	f := func(c charset.Charset, want string) {
		t.Helper()
		b := shifts(c)
		if hex.EncodeToString(b) != want {
			t.Errorf("%v: %x, want %s", c, b, want)
		}
		if len(b) == 0 {
			return
		}
		if h, err := Parse(b); err != nil || h.Charset(charset.Charset{}) != c {
			t.Errorf("%x: %+v, %v", b, h, err)
		}
	}
	f(charset.Charset{}, "")
	f(charset.Charset{Single: charset.Turkish}, "03240101")
	f(charset.Charset{Locking: charset.Urdu}, "0325010d")
	f(charset.Charset{Single: charset.Turkish, Locking: charset.Turkish}, "06240101250101")
	// The elements of a header that is there stay, but for its languages.
	for header, want := range map[string]string{"0500032a0201": "0800032a0201240101", "03240102": "03240101", "0800032a0201250101": "0800032a0201240101"} {
		in, _ := hex.DecodeString(header)
		if b, ok := AppendShifted([]byte("x"), in, charset.Charset{Single: charset.Turkish}); !ok || hex.EncodeToString(b[1:]) != want {
			t.Errorf("%s: %x, %t, want %s", header, b, ok, want)
		}
	}
	h := Header{Single: charset.Turkish}
	if c := (charset.Charset{Coding: charset.UCS2}); h.Charset(c) != c {
		t.Error("UCS-2 has languages")
	}
}

// Whatever comes, a header that can be read is made again with the same meaning.
func FuzzParse(f *testing.F) {
	for _, header := range []string{"00", "0500032a0201", "080003110201240101", "0b0003aa0201080400bb0302", "0500ff2a0201"} {
		f.Add(octets(f, header))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		header, text, ok := Cut(b)
		if !ok {
			return
		}
		if len(header)+len(text) != len(b) {
			t.Fatal("octets are lost")
		}
		h, err := Parse(header)
		if err != nil {
			return
		}
		if h.Part != (Part{}) && !h.Part.Valid() {
			t.Fatalf("%x: %+v", header, h.Part)
		}
		again, ok := AppendHeader(nil, header, h.Part)
		if !ok {
			t.Fatalf("%x does not fit", header)
		}
		if len(again) == 0 {
			again = []byte{0}
		}
		if h2, err := Parse(again); err != nil || h2 != h {
			t.Fatalf("%x became %x: %+v, %v", header, again, h2, err)
		}
		if twice, _ := AppendHeader(nil, again, h.Part); len(twice) > 0 && !bytes.Equal(twice, again) {
			t.Fatalf("%x became %x", again, twice)
		}
	})
}

// shifts returns a header that names the languages of a charset alone.
func shifts(c charset.Charset) []byte {
	b, _ := AppendShifted(nil, nil, c)
	return b
}
