package smpp

import (
	"bytes"
	"encoding/binary"
	"time"

	"pmg/sms"
)

// A Receipt is the content of a delivery receipt or an intermediate notification. Its slices are parts of the
// octets that it was read from.
type Receipt struct {
	// ID is the SMSC's id of the message, from receipted_message_id if there is one.
	ID []byte
	// TextID is the id in the text, nil if there is none. Peers may write TextID differently from ID.
	TextID []byte
	// State is from message_state, or from the text. It is NoState if the word in the text is unknown.
	State sms.State
	// Word is the word for the state in the text.
	Word []byte
	// Submitted and Done are times in Unix nanoseconds, 0 if they are missing.
	Submitted, Done int64
	// Seconds says that the times in the text have seconds.
	Seconds bool
	// Parts and Delivered are how many parts were submitted and delivered, -1 if that is
	// missing.
	Parts, Delivered int
	// Err is the text of the error, unchanged.
	Err []byte
	// Network is the error of network_error_code.
	Network NetworkError
	// Extra are unknown fields, unchanged: an SMSC's price, its network.
	Extra []byte
	// Text is the beginning of the message's text, as it stands. With NoText its key is not written either.
	Text   []byte
	NoText bool
}

// A NetworkError is a network_error_code (§5.3.2). Type is 0 if there is none, or if the
// peer has sent three digits.
type NetworkError struct {
	Type uint8 // 3: GSM; SMPP 5.0 has more than SMPP 3.4
	Code uint16
}

// ParseReceipt reads a receipt from its text and its optional parameters, of which either may be missing. It
// reports false if the id of the message or its state is missing, so that the text is no receipt.
//
// The text is in the form of appendix B, of which there are many variants: the fields come
// in any order and letter case, some are missing, and times have three forms. Times in the
// text are in the SMSC's zone. The text of the message is what follows its key. So a
// client cannot forge a field with it, unless a peer puts the text in front of the others.
func ParseReceipt(text, tlvs []byte, zone *time.Location) (r Receipt, ok bool) {
	if zone == nil {
		zone = time.UTC
	}
	p := receiptParser{zone: zone}
	p.r.Parts, p.r.Delivered = -1, -1
	p.parse(bytes.TrimRight(text, "\x00"))
	r = p.r
	r.TextID = r.ID
	r.parameters(tlvs)
	return r, len(r.ID) > 0 && (r.State != sms.NoState || len(r.Word) > 0)
}

// parameters reads the optional parameters, which count more than the text.
func (r *Receipt) parameters(tlvs []byte) {
	if v, _ := FindTLV(tlvs, TagReceiptedID); len(v) > 0 {
		if v = bytes.TrimRight(v, "\x00"); len(v) > 0 {
			r.ID = v
		}
	}
	if v, _ := FindTLV(tlvs, TagMessageState); len(v) == 1 {
		if s := StateOfNumber(v[0]); s != sms.NoState && (s.Final() || !r.State.Final()) {
			r.State = s // a state of which the text has the end is that of before, or not set
		}
	}
	if v, _ := FindTLV(tlvs, TagNetworkError); len(v) == 3 {
		if n := digits(v); n >= 0 {
			r.Network = NetworkError{Code: uint16(n)}
		} else {
			r.Network = NetworkError{v[0], binary.BigEndian.Uint16(v[1:])}
		}
	}
}

// A receiptKey is a field of a receipt's text. Those with the same first letter follow each other.
type receiptKey uint8

const (
	noKey receiptKey = iota
	keyID
	keySub
	keySubmitDate
	keyStat
	keyStatus // another name of keyStat
	keyDlvrd
	keyDoneDate
	keyErr
	keyText
)

// receiptKeys are the names of the fields. A space may stand where gap says.
var receiptKeys = [...]struct {
	name string
	gap  int
}{
	keyID: {"id", 0}, keySub: {"sub", 0}, keyDlvrd: {"dlvrd", 0}, keySubmitDate: {"submitdate", 6},
	keyDoneDate: {"donedate", 4}, keyStat: {"stat", 0}, keyErr: {"err", 0}, keyText: {"text", 0}, keyStatus: {"status", 0},
}

// A receiptParser reads the text of a receipt.
type receiptParser struct {
	r    Receipt
	zone *time.Location
	seen uint16 // a bit for each key
}

// parse takes a field's value to end where the next field begins, which is at a key behind a gap.
func (p *receiptParser) parse(b []byte) {
	key, value := noKey, 0
	for i := 0; i < len(b); {
		next, n := findKey(b[i:])
		if next == noKey {
			for i < len(b) && !isGap(b[i]) {
				i++
			}
			i++
			continue
		}
		p.set(key, b[value:i])
		i += n
		key, value = next, i
		if key == keyText && p.seen&(1<<keyID|1<<keyStat) != 0 {
			break // the rest is the message's text
		}
	}
	p.set(key, b[value:])
}

// findKey returns the key that b begins with, and how long it is with the colon.
func findKey(b []byte) (receiptKey, int) {
	var first, last receiptKey // of those with the first letter
	switch b[0] | 0x20 {
	case 'i':
		first, last = keyID, keyID
	case 's':
		first, last = keySub, keyStatus
	case 'd':
		first, last = keyDlvrd, keyDoneDate
	case 'e':
		first, last = keyErr, keyErr
	case 't':
		first, last = keyText, keyText
	default:
		return noKey, 0
	}
	for k := first; k <= last; k++ {
		if n := keyLen(b, receiptKeys[k].name, receiptKeys[k].gap); n > 0 {
			if k == keyStatus {
				k = keyStat
			}
			return k, n
		}
	}
	return noKey, 0
}

// keyLen returns the length of a key, with its colon, at the beginning of b, 0 if b does not begin with the key.
func keyLen(b []byte, name string, gap int) int {
	i := 0
	for j := range len(name) {
		if j == gap && j > 0 && i < len(b) && (b[i] == ' ' || b[i] == '_') {
			i++
		}
		if i == len(b) || b[i]|0x20 != name[j] {
			return 0
		}
		i++
	}
	for i < len(b) && b[i] == ' ' {
		i++
	}
	if i == len(b) || b[i] != ':' && b[i] != '=' {
		return 0
	}
	return i + 1
}

// set takes the value of a field. Of fields that come twice the first one counts. The text is
// taken as it stands.
func (p *receiptParser) set(k receiptKey, v []byte) {
	if k == noKey || p.seen&(1<<k) != 0 {
		return
	}
	p.seen |= 1 << k
	if k == keyText {
		p.r.Text = v
		return
	}
	word, rest := cutWord(v)
	p.field(k, word)
	for rest = trimGaps(rest); len(rest) > 0; rest = trimGaps(rest) {
		from := rest
		word, rest = cutWord(rest)
		if s := StateOfWord(word); s != sms.NoState && p.r.Word == nil { // stat may be without its key
			p.r.Word, p.r.State = word, s
		}
		if colon := bytes.IndexByte(word, ':'); colon > 0 && colon < len(word)-1 && word[0]|0x20 >= 'a' && word[0]|0x20 <= 'z' {
			p.extra(from)
			break
		}
	}
}

// extra takes fields that are not known, up to the next one that is.
func (p *receiptParser) extra(v []byte) {
	n := len(v)
	for n > 0 && isGap(v[n-1]) {
		n--
	}
	if v = v[:n:n]; p.r.Extra != nil {
		v = append(append(p.r.Extra, ' '), v...) // append copies, because Extra has no spare capacity
	}
	p.r.Extra = v
}

func (p *receiptParser) field(k receiptKey, v []byte) {
	if len(v) == 0 {
		return
	}
	switch k {
	case keyID:
		p.r.ID = v
	case keySub:
		p.r.Parts = count(v)
	case keyDlvrd:
		p.r.Delivered = count(v)
	case keySubmitDate:
		p.r.Submitted = p.time(v)
	case keyDoneDate:
		p.r.Done = p.time(v)
	case keyStat:
		p.r.Word, p.r.State = v, StateOfWord(v)
	case keyErr:
		p.r.Err = v
	}
}

// isGap reports whether an octet stands between words.
func isGap(c byte) bool { return c <= ' ' || c == ',' || c == ';' || c == '|' }

// trimGaps cuts off what stands in front of a word.
func trimGaps(b []byte) []byte {
	for len(b) > 0 && isGap(b[0]) {
		b = b[1:]
	}
	return b
}

// cutWord cuts the first word off, without the quotes around it.
func cutWord(b []byte) (word, rest []byte) {
	b = trimGaps(b)
	n := 0
	for n < len(b) && !isGap(b[n]) {
		n++
	}
	word, rest = b[:n:n], b[n:]
	for n := len(word); n >= 2 && word[0] == word[n-1] && (word[0] == '"' || word[0] == '\''); n = len(word) {
		word = word[1 : n-1]
	}
	return word, rest
}

// count reads a number of parts, -1 for an invalid number.
func count(v []byte) int {
	if len(v) > 9 {
		return -1
	}
	return digits(v)
}

// time reads a time of 10, 12 or 14 digits: with or without seconds, with two digits of the year
// or with four. It returns 0 if it is none.
func (p *receiptParser) time(v []byte) (at int64) {
	switch len(v) {
	case 10:
		return receiptTimeOf(v, 2, p.zone)
	case 12:
		if at = receiptTimeOf(v, 2, p.zone); at == 0 {
			return receiptTimeOf(v, 4, p.zone) // without seconds
		}
	case 14:
		at = receiptTimeOf(v, 4, p.zone)
	}
	p.r.Seconds = p.r.Seconds || at != 0
	return at
}

// receiptTimeOf reads a time with that many digits of the year, 0 if it is none.
func receiptTimeOf(v []byte, yearLen int, zone *time.Location) int64 {
	year := digits(v[:yearLen])
	if yearLen == 2 && year >= 0 {
		year = fullYear(year)
	}
	var f [5]int // month, day, hour, minute, second
	for i := range f {
		if at := yearLen + 2*i; at < len(v) {
			f[i] = digits(v[at : at+2])
		}
		if f[i] < 0 {
			return 0
		}
	}
	month, day := f[0], f[1]
	switch {
	case year < 1970 || year > 2200 || month < 1 || month > 12 || day < 1 || day > daysIn(year, month):
		return 0
	case f[2] > 23 || f[3] > 59 || f[4] > 59:
		return 0
	}
	return time.Date(year, time.Month(month), day, f[2], f[3], f[4], 0, zone).UnixNano()
}

// daysIn returns how many days a month has.
func daysIn(year, month int) int {
	if month == 2 && year%4 == 0 && (year%100 != 0 || year%400 == 0) {
		return 29
	}
	return [...]int{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}[month-1]
}

// receiptTextLen is the number of octets of a message's text in its receipt (appendix B).
const receiptTextLen = 20

// AppendText appends the text of the receipt as appendix B has it, whose times have no seconds
// unless the receipt says so. Times are in that zone. What is missing gets the usual value of
// the state. Extra is left out if the text would be too long for short_message with it.
func (r *Receipt) AppendText(b []byte, zone *time.Location) []byte {
	if zone == nil {
		zone = time.UTC
	}
	parts, delivered := r.Parts, r.Delivered
	if parts < 0 {
		parts = 1
	}
	if delivered < 0 {
		delivered = 0
		if r.State == sms.StateDelivered {
			delivered = parts
		}
	}
	begin := len(b)
	b = append(append(b, "id:"...), r.ID...)
	b = appendThree(append(b, " sub:"...), parts)
	b = appendThree(append(b, " dlvrd:"...), delivered)
	b = appendReceiptTime(append(b, " submit date:"...), r.Submitted, zone, r.Seconds)
	b = appendReceiptTime(append(b, " done date:"...), r.Done, zone, r.Seconds)
	b = append(b, " stat:"...)
	if r.State == sms.NoState && len(r.Word) > 0 {
		b = append(b, r.Word...)
	} else {
		b = append(b, WordOfState(r.State)...)
	}
	b = append(b, " err:"...)
	if len(r.Err) > 0 {
		b = append(b, r.Err...)
	} else {
		b = appendThree(b, int(r.Network.Code))
	}
	text := r.Text[:min(len(r.Text), receiptTextLen)]
	if n := len(text); n > 0 && n < len(r.Text) && text[n-1] == 0x1B { // the text ends with an incomplete escape
		text = text[:n-1]
	}
	if n := len(r.Extra); n > 0 && len(b)-begin+1+n+len(" text:")+len(text) <= maxShort {
		b = append(append(b, ' '), r.Extra...)
	}
	if r.NoText {
		return b
	}
	return append(append(b, " text:"...), text...)
}

// AppendTLVs appends the optional parameters of the receipt.
func (r *Receipt) AppendTLVs(b []byte) []byte {
	b = binary.BigEndian.AppendUint16(b, TagReceiptedID)
	b = binary.BigEndian.AppendUint16(b, uint16(len(r.ID)+1))
	b = append(append(b, r.ID...), 0)
	b = append(b, TagMessageState>>8, TagMessageState&0xFF, 0, 1, NumberOfState(r.State))
	if r.Network.Type != 0 {
		b = append(b, TagNetworkError>>8, TagNetworkError&0xFF, 0, 3, r.Network.Type)
		b = binary.BigEndian.AppendUint16(b, r.Network.Code)
	}
	return b
}

// appendThree appends a number with at least three digits.
func appendThree(b []byte, n int) []byte {
	n = min(max(n, 0), 99_999)
	if n >= 1000 {
		b = appendThree(b, n/1000)
		n %= 1000
	}
	return append(b, byte('0'+n/100), byte('0'+n/10%10), byte('0'+n%10))
}

// appendReceiptTime appends a time of 10 digits, or of 12 with its seconds.
func appendReceiptTime(b []byte, at int64, zone *time.Location, seconds bool) []byte {
	var digits [6]int
	if at != 0 {
		t := time.Unix(0, at).In(zone)
		year, month, day := t.Date()
		hour, minute, second := t.Clock()
		digits = [...]int{year % 100, int(month), day, hour, minute, second}
	}
	n := len(digits)
	if !seconds {
		n--
	}
	for _, d := range digits[:n] {
		b = append(b, byte('0'+d/10), byte('0'+d%10))
	}
	return b
}
