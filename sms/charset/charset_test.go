package charset

import (
	"encoding/hex"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

var (
	gsm     = Charset{}
	packed  = Charset{Coding: Packed}
	ascii   = Charset{Coding: ASCII}
	latin1  = Charset{Coding: Latin1}
	ucs2    = Charset{Coding: UCS2}
	utf8Set = Charset{Coding: UTF8}
	turkish = Charset{Locking: Turkish, Single: Turkish}
)

// all lists every charset.
func all() []Charset {
	list := []Charset{packed, ascii, latin1, ucs2, utf8Set, {Coding: Cyrillic}, {Coding: Hebrew}}
	for l := range languages + 1 { // one more than there are
		list = append(list, Charset{Locking: l}, Charset{Single: l}, Charset{Locking: l, Single: l})
	}
	return list
}

func octets(t testing.TB, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Every character of every table is read and written as the vectors say.
func TestTables(t *testing.T) {
	for _, v := range vectors(t) {
		locking, single := runesOf(t, v.Locking), runesOf(t, v.Single)
		if v.Locking == nil {
			locking = runesOf(t, vectors(t)[NoLanguage].Locking)
		}
		c := Charset{Locking: v.ID, Single: v.ID}
		check := func(octets []byte, r rune) {
			text := []byte(string(r))
			if got, ok := c.Decode(nil, octets); !ok || string(got) != string(text) {
				t.Errorf("%s %x: %q, want %q", v.Language, octets, got, text)
			}
			b, loss := c.Encode(nil, text, Report)
			if loss != (Loss{}) {
				t.Errorf("%s: cannot write %q", v.Language, text)
			}
			if again, _ := c.Decode(nil, b); string(again) != string(text) || len(b) > len(octets) {
				t.Errorf("%s: %q is written %x, which is %q", v.Language, text, b, again)
			}
		}
		for octet, r := range locking {
			switch {
			case octet == escape:
			case r != 0:
				check([]byte{byte(octet)}, rune(r))
			default:
				if got, ok := c.Decode(nil, []byte{byte(octet)}); ok || string(got) != "\ufffd" {
					t.Errorf("%s %02x: %q", v.Language, octet, got)
				}
			}
		}
		for octet, r := range single {
			if r != 0 {
				check([]byte{escape, byte(octet)}, rune(r))
			}
		}
	}
}

func TestDecode(t *testing.T) {
	f := func(c Charset, in, want string, ok bool) {
		t.Helper()
		got, gotOK := c.Decode([]byte("> "), octets(t, in))
		if string(got) != "> "+want || gotOK != ok {
			t.Errorf("%v %s: %q, %t; want %q, %t", c, in, got, gotOK, want, ok)
		}
	}
	f(gsm, "", "", true)
	f(gsm, "47727e1e6500", "Grüße@", true)
	f(gsm, "1b651b3c1b3e1b281b291b2f1b3d1b401b141b0a", "€[]{}\\~|^\f", true)
	f(gsm, "411b42", "AB", false) // not in the extension table
	f(gsm, "411b", "A ", false)
	f(gsm, "411b1b42", "A B", false)
	f(gsm, "1b1b1b65", " €", false)
	f(gsm, "4180", "A\ufffd", false)
	f(gsm, "1b8041", "\ufffdA", false)

	// Vectors submit_sm_turkish_both_shifts and submit_sm_concat_and_turkish_single.
	f(turkish, "0b1c071b651b67", "ĞŞı€ğ", true)
	f(Charset{Single: Turkish}, "6162631b73", "abcş", true)
	f(Charset{Locking: Spanish}, "1b0900", "Ç@", false) // no locking table, and the default extension
	f(Charset{Single: Spanish}, "1b09", "ç", true)
	f(Charset{Locking: 200, Single: 201}, "001b65", "@€", true) // not known: the default tables

	f(packed, "", "", true)
	f(packed, "31d98c56b3dd70", "12345678", true)
	f(packed, "31d98c56b3dd7039", "123456789", true)
	f(packed, "e8329bfd4697d9ec37", "hellohello", true)
	f(packed, "d4f29c0e", "Test", true)
	f(packed, "31d98c56b3dd00", "1234567", true) // seven bits that are left are no '@'
	f(packed, "00", "@", true)

	f(ascii, "4140", "A@", true)
	f(ascii, "41e440", "A\ufffd@", false)
	f(latin1, "4772fcdf6580", "Grüße\u0080", true)
	f(ucs2, "00a7", "§", true) // submit_sm_ucs2_section_sign
	f(ucs2, "006e006700681eaf0020006e00670068006900ea006e00670020006e0067006800691ec5006e00670020006e00671ea3",
		"ngh\u1eaf nghi\u00eang nghi\u1ec5ng ng\u1ea3", true) // submit_sm_ucs2_gosmpp
	f(ucs2, "0041d83dde00", "A😀", true)
	f(ucs2, "d83d0041", "\ufffdA", false)
	f(ucs2, "de00d83dde00", "\ufffd😀", false)
	f(ucs2, "d83dd83dde00", "\ufffd😀", false)
	f(ucs2, "0041d83d", "A\ufffd", false)
	f(ucs2, "004100", "A\ufffd", false)
}

func TestEncode(t *testing.T) {
	f := func(c Charset, text string, p Policy, want string, loss Loss) {
		t.Helper()
		got, gotLoss := c.Encode([]byte{0xAA}, []byte(text), p)
		if hex.EncodeToString(got) != "aa"+want || gotLoss != loss {
			t.Errorf("%v %q: %x, %+v; want %s, %+v", c, text, got[1:], gotLoss, want, loss)
		}
	}
	none := Loss{}
	f(gsm, "", Report, "", none)
	f(gsm, "Grüße@", Report, "47727e1e6500", none)
	f(gsm, "€[]{}\\~|^\f", Report, "1b651b3c1b3e1b281b291b2f1b3d1b401b141b0a", none)
	f(turkish, "ĞŞı€ğ", Report, "0b1c07040c", none)
	f(Charset{Single: Turkish}, "abcş", Report, "6162631b73", none)
	f(packed, "12345678", Report, "31d98c56b3dd70", none)
	f(packed, "123456789", Report, "31d98c56b3dd7039", none)
	f(packed, "hellohello", Report, "e8329bfd4697d9ec37", none)
	f(packed, "Test", Report, "d4f29c0e", none)
	f(ucs2, "A😀", Report, "0041d83dde00", none)
	f(latin1, "Grüße", Report, "4772fcdf65", none)
	f(utf8Set, "ё", Report, "d191", none)

	// What a charset lacks.
	f(gsm, "aё", Report, "", Loss{1, 0, 'ё', 1})
	f(gsm, "a\x00", Report, "", Loss{1, 0, 0, 1})
	f(gsm, "a\x1b", Report, "", Loss{1, 0, 0x1b, 1})
	f(ascii, "aä", Report, "", Loss{1, 0, 'ä', 1})
	f(latin1, "a€", Report, "", Loss{1, 0, '€', 1})
	f(latin1, "ÿ", Report, "ff", none)
	f(latin1, "aĀ", Report, "", Loss{1, 0, 'Ā', 1})
	f(ucs2, "a\xff", Report, "", Loss{1, 0, utf8.RuneError, 1})
	f(ucs2, "a\x80", Report, "", Loss{1, 0, utf8.RuneError, 1})
	f(packed, "aё", Report, "", Loss{1, 0, 'ё', 1})
	f(gsm, "aёя", Replace, "613f3f", Loss{2, 2, 'ё', 1})
	f(packed, "ёё", Replace, "bf1f", Loss{2, 2, 'ё', 0})
	f(ucs2, "\xffa", Replace, "003f0061", Loss{1, 1, utf8.RuneError, 0})
	f(ucs2, "\ufffd", Report, "fffd", none)
}

func TestTransliterate(t *testing.T) {
	f := func(c Charset, text, want string, lost, replaced int) {
		t.Helper()
		b, loss := c.Encode(nil, []byte(text), Transliterate)
		got, ok := c.Decode(nil, b)
		if string(got) != want || !ok || loss.Count != lost || loss.Replaced != replaced {
			t.Errorf("%v %q: %q, %+v; want %q, %d, %d", c, text, got, loss, want, lost, replaced)
		}
	}
	f(gsm, "Grüße", "Grüße", 0, 0)
	f(gsm, "“Don’t” – now…", `"Don't" - now...`, 5, 0)
	f(gsm, "Łódź çà", "Lodz cà", 4, 0)
	f(gsm, "ΑΒΓ άβγ", "ABΓ ABΓ", 5, 0)
	f(gsm, "e\u0301a\u0300 s\u030c", "éà s", 1, 0) // one character in two pieces
	f(gsm, "\u0301x", "x", 1, 0)
	f(gsm, "ﬁ½①", "fi1/21", 3, 0)
	f(gsm, "до 5", "?? 5", 2, 2)
	f(gsm, "a😀\ufe0f\u00a0b`", "a? b'", 4, 1)
	f(ascii, "Straße €5 – Ærø", "Strasse EUR5 - AEro", 5, 0)
	f(latin1, "“Œuvre” €5", `"OEuvre" EUR5`, 4, 0)
	f(ucs2, "до\xff", "до?", 1, 1)
	f(packed, "“a”", `"a"`, 2, 0)
	f(Charset{Locking: Hindi}, "©5", "?5", 1, 1) // its table has no capitals, so that "(C)" cannot be written
}

// What the quick look takes for composed is composed, also beside a mark.
func TestIsComposed(t *testing.T) {
	for r := rune(0); r <= 0x2fff; r++ {
		for _, text := range []string{string(r), "e" + string(r), string(r) + "\u0301"} {
			if isComposed([]byte(text)) && !norm.NFC.IsNormalString(text) {
				t.Errorf("%q is not composed", text)
			}
		}
	}
	for text, want := range map[string]bool{"Grüße, 5 €": true, "“Hi” – it’s…": true, "e\u0301": false, "\u2126": false, "\xe2\x80": false} {
		if isComposed([]byte(text)) != want {
			t.Errorf("%q: not %t", text, want)
		}
	}
}

// The charsets of ISO 8859 have their letters beside those of ASCII. An octet without a meaning is none.
func TestMapped(t *testing.T) {
	for _, c := range []struct {
		coding       Coding
		octets, text string
		ok           bool
	}{
		{Cyrillic, "\xbf\xe0\xd8\xd2\xd5\xe2 a!", "Привет a!", true}, {Cyrillic, "\xf0\xa1", "№Ё", true},
		{Hebrew, "\xf9\xec\xe5\xed 5", "שלום 5", true}, {Hebrew, "\xa1\xe0", "\ufffdא", false},
	} {
		got, ok := Charset{Coding: c.coding}.Decode(nil, []byte(c.octets))
		if string(got) != c.text || ok != c.ok {
			t.Errorf("%q: %q, %t", c.octets, got, ok)
		}
		if back, loss := (Charset{Coding: c.coding}).Encode(nil, got, Report); c.ok && string(back) != c.octets || (loss.Count == 0) != c.ok {
			t.Errorf("%q: back %q, %+v", c.octets, back, loss)
		}
	}
	if _, loss := (Charset{Coding: Hebrew}).Encode(nil, []byte("Ж"), Report); loss.Count == 0 {
		t.Error("Hebrew has Ж")
	}
}

// A text in pieces is the text that it is in one piece, whichever charset it is written in. What would become longer stays.
func TestCompose(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", ""}, {"plain", "plain"}, {"Café", "Café"},
		{"Cafe\u0301 A\u030angstro\u0308m n\u0303", "Café Ångström ñ"},
		{"\u2126 \u212b \u212a", "Ω Å K"},
		{"\u0415\u0308 s\u0326 a\u0323\u0302", "Ё ș ậ"},
		{"\u1112\u1161\u11ab", "한"},
		{"\u0958\ufb1de\u0301", "\u0958\ufb1dé"}, // without a composed form that is one character
		{"\u0301x q\u0301", "\u0301x q\u0301"},
		{"\xffe\u0301\xcc", "\xffé\xcc"},
	} {
		if got := string(Compose([]byte(c.text))); got != c.want {
			t.Errorf("%+q: %+q, want %+q", c.text, got, c.want)
		}
	}
	pieces := []byte(strings.Repeat("e\u0301", 160))
	if c := Best(pieces, 0); c != gsm {
		t.Errorf("best is %v", c)
	}
	for _, c := range []Charset{gsm, packed, latin1, ucs2} {
		want, _ := c.Encode(nil, []byte(strings.Repeat("é", 160)), Report)
		if got, loss := c.Encode(nil, pieces, Report); string(got) != string(want) || loss.Count != 0 {
			t.Errorf("%v: %x, %+v", c, got, loss)
		}
	}
}

// Every charset has a character for what it lacks, and what it writes can be read.
func TestReplace(t *testing.T) {
	text := []byte("a\xff\U0001F600ё")
	for _, c := range all() {
		for _, p := range []Policy{Replace, Transliterate} {
			b, loss := c.Encode(nil, text, p)
			if got, ok := c.Decode(nil, b); !ok || loss.Replaced == 0 || strings.Count(string(got), "?") != loss.Replaced {
				t.Errorf("%v: %q, %+v", c, got, loss)
			}
		}
	}
}

func TestCount(t *testing.T) {
	f := func(c Charset, text string, want int, ok bool) {
		t.Helper()
		if got, gotOK := c.Count([]byte(text)); got != want || gotOK != ok {
			t.Errorf("%v %q: %d, %t", c, text, got, gotOK)
		}
	}
	f(gsm, "Hello", 5, true)
	f(gsm, "€5", 3, true)
	f(packed, "€5", 3, true)
	f(turkish, "€5", 2, true)
	f(gsm, "ё", 0, false)
	f(ucs2, "ё😀", 3, true)
	f(ucs2, "\xff", 0, false)
	f(ucs2, "\x80", 0, false)
	f(latin1, "ä", 1, true)
	f(utf8Set, "ä", 2, true)
}

// The segment capacities of the fact sheet.
func TestRoom(t *testing.T) {
	for _, row := range [][4]int{
		{0, 160, 140, 70}, {6, 153, 134, 67}, {7, 152, 133, 66}, {4, 155, 136, 68}, {9, 149, 131, 65},
		{12, 146, 128, 64}, {140, 0, 0, 0}, {200, 0, 0, 0},
	} {
		if g, o, u := gsm.Room(row[0]), latin1.Room(row[0]), ucs2.Room(row[0]); g != row[1] || o != row[2] || u != row[3] {
			t.Errorf("header of %d octets: %d septets, %d octets, %d units", row[0], g, o, u)
		}
	}
}

func TestBest(t *testing.T) {
	f := func(text string, allowed Languages, want Charset) {
		t.Helper()
		if got := Best([]byte(text), allowed); got != want {
			t.Errorf("%.20q with %b: %v, want %v", text, allowed, got, want)
		}
	}
	f("", 0, gsm)
	f("Hello € [ok]", AllLanguages, gsm)
	f("Привет", AllLanguages, ucs2)
	f("😀", AllLanguages, ucs2)
	f("ışğ", AllLanguages, ucs2) // as short as with the tables
	long := strings.Repeat("Bu kısa bir mesaj değil. ", 6)
	f(long, 0, ucs2)
	f(long, AllLanguages.With(Urdu), Charset{Locking: Turkish})
	f(long, Languages(0).With(Hindi).With(Urdu), ucs2)
	f(strings.Repeat("नमस्ते", 20), AllLanguages, Charset{Locking: Hindi})
	f("not UTF-8: \xff", AllLanguages, ucs2)
}

func TestLanguages(t *testing.T) {
	for l := Turkish; l < languages; l++ {
		if got, ok := ParseLanguage(l.String()); !ok || got != l || !AllLanguages.Has(l) || Languages(0).Has(l) {
			t.Errorf("%s: %v, %t", l, got, ok)
		}
	}
	if _, ok := ParseLanguage("default"); ok || AllLanguages.Has(NoLanguage) || AllLanguages.Has(languages) {
		t.Error("the default tables count as a language")
	}
}

func TestPacked(t *testing.T) {
	// The fact sheet's: a header of 6 octets leaves one bit to fill.
	if got := hex.EncodeToString(AppendPacked(nil, []byte("Hello"), FillBits(6))); got != "906536fb0d" {
		t.Errorf("got %s", got)
	}
	for header, want := range map[int]int{0: 0, 6: 1, 7: 0, 4: 3, 9: 5, 12: 2} {
		if got := FillBits(header); got != want {
			t.Errorf("header of %d octets: %d fill bits, want %d", header, got, want)
		}
	}
	text := []byte("The quick brown fox\x00\x00\x00")
	for fill := range 7 {
		for n := range len(text) + 1 {
			b := AppendPacked([]byte("x"), text[:n], fill)[1:]
			if got := AppendUnpacked(nil, b, fill, n); string(got) != string(text[:n]) {
				t.Errorf("fill %d: %q, want %q", fill, got, text[:n])
			}
			if got := AppendUnpacked(nil, b, fill, 1000); len(got) < n {
				t.Errorf("fill %d: only %d of %d septets", fill, len(got), n)
			}
		}
	}
}

// What a message needs takes no memory of its own.
func TestAllocations(t *testing.T) {
	text := []byte(strings.Repeat("Größe: 5 € [ok] – ", 9))
	b := make([]byte, 0, 2048)
	for _, c := range []Charset{gsm, packed, turkish, ascii, latin1, ucs2, utf8Set} {
		if n := testing.AllocsPerRun(10, func() {
			out, _ := c.Encode(b, text, Transliterate)
			at := len(out)
			out, _ = c.Decode(out, out[:at])
			_, _ = c.Count(text)
			_ = Best(text, AllLanguages)
			_ = out
		}); n != 0 {
			t.Errorf("%v: %v allocations", c, n)
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	text, out := []byte(strings.Repeat("Grüße, 5 € ", 14)), make([]byte, 0, 512)
	for _, c := range []Charset{gsm, turkish, ucs2} {
		b.Run(c.Locking.String(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.Encode(out, text, Report)
			}
		})
	}
}

func BenchmarkDecode(b *testing.B) {
	text, out := []byte(strings.Repeat("Gr\x7e\x1ee, 5 \x1b\x65 ", 12)), make([]byte, 0, 512)
	b.ReportAllocs()
	for b.Loop() {
		gsm.Decode(out, text)
	}
}

// The text of any octets in any charset is UTF-8. Octets with a meaning read the same when they are
// written again.
func FuzzDecode(f *testing.F) {
	for i := range all() {
		f.Add(byte(i), []byte("Hello\x1b\x65"))
		f.Add(byte(i), octets(f, "0b1c071b651b67"))
		f.Add(byte(i), octets(f, "0041d83dde00"))
		f.Add(byte(i), octets(f, "31d98c56b3dd70391b"))
	}
	f.Fuzz(func(t *testing.T, set byte, in []byte) {
		c := all()[int(set)%len(all())]
		text, ok := c.Decode(nil, in)
		if !utf8.Valid(text) {
			t.Fatalf("%v: %q", c, text)
		}
		if !ok {
			return
		}
		out, loss := c.Encode(nil, text, Report)
		if loss.Count != 0 {
			t.Fatalf("%v: %q is read, but not written: %+v", c, text, loss)
		}
		if again, ok := c.Decode(nil, out); !ok || string(again) != string(text) && c.Coding != Packed {
			t.Fatalf("%v: %q became %q", c, text, again)
		}
	})
}

// Whatever text is written in whatever charset, there is no character too many, what is
// there can be read, and a loss is reported where there is one.
func FuzzEncode(f *testing.F) {
	for i := range all() {
		f.Add(byte(i), byte(i), []byte("Grüße € ёя e\u0301 😀\xff"))
	}
	f.Fuzz(func(t *testing.T, set, policy byte, text []byte) {
		c, p := all()[int(set)%len(all())], Policy(policy%3)
		out, loss := c.Encode(nil, text, p)
		got, ok := c.Decode(nil, out)
		if !ok {
			t.Fatalf("%v: %q is written as %x", c, text, out)
		}
		units, counted := c.Count(text)
		if p != Transliterate && counted != (loss.Count == 0) || counted && loss.Count > 0 {
			t.Fatalf("%v %q: count %d, %t, but %+v", c, text, units, counted, loss)
		}
		if counted && string(got) != string(text) && c.Coding != Packed {
			t.Fatalf("%v: %q became %q", c, text, got)
		}
		if best := Best(text, AllLanguages); utf8.Valid(text) {
			if _, loss := best.Encode(nil, text, Report); loss.Count > 0 {
				t.Fatalf("%v is the best for %q, but lacks %+v", best, text, loss)
			}
		}
	})
}

// What stands for characters that look like others, as a person would write it.
func TestLookalikes(t *testing.T) {
	for _, row := range [][2]string{
		{"‘’‚‛′‹›´ʼ", "'''''''''"}, {"“”„‟″«»", `"""""""`}, {"‐‑‒–—―−\u00AD", "--------"}, {"\u00A0\u202F", "  "},
		{"a\u200Bb\u200Cc\u200Dd\u2060e\uFEFFf\uFE0Fg", "abcdefg"}, {"1\u20282\u20293\u00854", "1\n2\n3\n4"},
		{"•·", "**"}, {"⁄∕÷", "///"}, {"×", "x"}, {"¦", "!"}, {"°º", "oo"}, {"©®", "(C)(R)"}, {"€£¥", "EURGBPJPY"},
		{"ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "ABEZHIKMNOPTYX"}, {"αβεζηικμνορτυχ", "ABEZHIKMNOPTYX"},
		{"ÆæŒœßẞØøŁłĐÐđð", "AEaeOEoessSSOoLlDDdd"}, {"ÞþĦħıŦŧŊŋ", "THthHhiTtNn"},
	} {
		if b, loss := ascii.Encode(nil, []byte(row[0]), Transliterate); string(b) != row[1] || loss.Replaced != 0 {
			t.Errorf("%q: %q, %+v; want %q", row[0], b, loss, row[1])
		}
	}
	for r, want := range map[rune]string{'[': "(", '{': "(", ']': ")", '}': ")", '~': "-", '\\': "/", '|': "!", '`': "'", '\t': " "} { // ASCII has these
		if got, ok := lookalikes[r]; !ok || got != want {
			t.Errorf("%c: %q, want %q", r, got, want)
		}
	}
}

// How many characters have room in a part: the fact sheet's capacities, with the elements that name
// tables.
func TestParts(t *testing.T) {
	for _, row := range []struct {
		c        Charset
		one, all int // in a single message, and in each part of several
	}{
		{gsm, 160, 153}, {ucs2, 70, 67}, {latin1, 140, 134},
		{Charset{Single: Turkish}, 155, 149}, {Charset{Locking: Turkish}, 155, 149}, {turkish, 152, 146},
	} {
		for units, want := range map[int]int{0: 1, row.one: 1, row.one + 1: 2, 2 * row.all: 2, 2*row.all + 1: 3, 255 * row.all: 255} {
			if got := row.c.Parts(units); got != want {
				t.Errorf("%v: %d units in %d parts, want %d", row.c, units, got, want)
			}
		}
	}
}
