package charset

import (
	"cmp"
	"slices"
	"sort"
	"unicode/utf8"
)

// escape precedes a character of the single shift table (3GPP TS 23.038 §6.2.1).
const escape = 0x1B

// septets is the number of values of a septet.
const septets = 128

// A table maps each septet to a character. All characters are in the basic plane. 0 means no character.
type table struct {
	runes [septets]uint16
	order string // septets that have a character, sorted by character
}

// newTable returns the table with characters.
func newTable(runes [septets]uint16) table {
	var order []byte
	for c, r := range runes {
		if r != 0 {
			order = append(order, byte(c))
		}
	}
	slices.SortStableFunc(order, func(a, b byte) int { return cmp.Compare(runes[a], runes[b]) })
	return table{runes, string(order)}
}

var tables = func() (all [languages]struct{ locking, single table }) {
	for l, text := range characters {
		var locking, single [septets]uint16
		for c, r := range []rune(text.locking) {
			locking[c] = uint16(r)
		}
		for pair := range slices.Chunk([]rune(text.single), 2) {
			single[pair[0]] = uint16(pair[1])
		}
		all[l].locking, all[l].single = newTable(locking), newTable(single)
	}
	return all
}()

// find returns the septet of a character.
func (t *table) find(r rune) (septet byte, ok bool) {
	if r < septets && t.runes[r] == uint16(r) && r != 0 { // most Latin letters and digits
		return byte(r), true
	}
	i := sort.Search(len(t.order), func(i int) bool { return rune(t.runes[t.order[i]]) >= r })
	if i == len(t.order) || rune(t.runes[t.order[i]]) != r {
		return 0, false
	}
	return t.order[i], true
}

// A septetReader decodes septets to text.
type septetReader struct {
	locking, single *table
	escaped         bool // the last septet was an escape
	odd             bool // a septet had no meaning
}

func (c Charset) reader() septetReader {
	return septetReader{locking: c.Locking.locking(), single: c.Single.single()}
}

// append appends the text of one more septet. A mobile shows a character that is not in the single shift
// table as the character of the other table, and two escapes as a space (3GPP TS 23.038 §6.2.1.1).
func (d *septetReader) append(dst []byte, v byte) []byte {
	if d.escaped {
		d.escaped = false
		if v == escape {
			d.odd = true
			return append(dst, ' ')
		}
		if v < septets && d.single.runes[v] != 0 {
			return utf8.AppendRune(dst, rune(d.single.runes[v]))
		}
		d.odd = true
	}
	if v == escape {
		d.escaped = true
		return dst
	}
	if v >= septets || d.locking.runes[v] == 0 {
		d.odd = true
		return utf8.AppendRune(dst, utf8.RuneError)
	}
	return utf8.AppendRune(dst, rune(d.locking.runes[v]))
}

// end appends the text of an escape at the end of the input.
func (d *septetReader) end(dst []byte) ([]byte, bool) {
	if d.escaped {
		return append(dst, ' '), false
	}
	return dst, !d.odd
}

func (c Charset) decodeSeptets(dst, b []byte) ([]byte, bool) {
	d := c.reader()
	for len(b) > 0 {
		if n := d.same(b); n > 0 {
			dst, b = append(dst, b[:n]...), b[n:]
			continue
		}
		dst, b = d.append(dst, b[0]), b[1:]
	}
	return d.end(dst)
}

// same returns the number of septets at the beginning that equal the ASCII codes of their characters, like most letters.
func (d *septetReader) same(b []byte) (n int) {
	if d.escaped {
		return 0
	}
	for n < len(b) && b[n] < septets && b[n] != 0 && d.locking.runes[b[n]] == uint16(b[n]) {
		n++
	}
	return n
}

func (c Charset) decodePacked(dst, b []byte) ([]byte, bool) {
	d := c.reader()
	for i := range PackedSeptets(b, 0) {
		dst = d.append(dst, septetAt(b, 0, i))
	}
	return d.end(dst)
}

// FillBits returns the number of bits between a user data header of header octets and the first packed
// septet, which align the septets as if the header consisted of septets (3GPP TS 23.040 §9.2.3.24).
func FillBits(header int) int { return (7 - header*8%7) % 7 }

// PackedSeptets returns the number of septets in packed octets, which begin with fill bits. It ignores seven
// zero bits at the end as padding, although they may be '@': nothing else shows the number of characters, and
// texts that end in '@' are rare.
func PackedSeptets(packed []byte, fill int) int {
	n := roomForSeptets(len(packed), fill)
	if n > 0 && fill+7*n == 8*len(packed) && septetAt(packed, fill, n-1) == 0 {
		n--
	}
	return n
}

// roomForSeptets returns the number of septets that fit into octets after fill bits.
func roomForSeptets(octets, fill int) int { return max(octets*8-fill, 0) / 7 }

// septetAt returns a septet of packed octets.
func septetAt(packed []byte, fill, i int) byte {
	bit := fill + 7*i
	at, shift := bit/8, bit%8
	v := uint16(packed[at])
	if at+1 < len(packed) {
		v |= uint16(packed[at+1]) << 8
	}
	return byte(v>>shift) & 0x7F
}

// AppendPacked appends septets to dst, eight in seven octets (3GPP TS 23.038 §6.1.2.1), after up to 7 fill bits of 0. If fill
// is 0, the septets may begin where dst ends.
func AppendPacked(dst, septets []byte, fill int) []byte {
	if len(septets) == 0 {
		return dst
	}
	var bits uint16
	n := fill
	for _, v := range septets {
		bits |= uint16(v&0x7F) << n
		if n += 7; n >= 8 {
			dst = append(dst, byte(bits))
			bits >>= 8
			n -= 8
		}
	}
	if n > 0 {
		dst = append(dst, byte(bits))
	}
	return dst
}

// AppendUnpacked appends the first n septets of packed octets to dst, one septet in each octet. It appends
// fewer septets if there are fewer. The packed octets begin with fill bits.
func AppendUnpacked(dst, packed []byte, fill, n int) []byte {
	for i := range min(n, roomForSeptets(len(packed), fill)) {
		dst = append(dst, septetAt(packed, fill, i))
	}
	return dst
}
