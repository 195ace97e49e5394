package pdulog

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/big"
	"math/bits"
	"strings"
	"time"

	"pmg/internal/logfile"
	"pmg/internal/logtext"
	"pmg/sms/number"
)

// Kinds of the keys by which lines are found.
const (
	idKey      = 'i' // a message's id: ours, an SMSC's, or a client's reference
	numberKey  = 'n' // the end of a number
	pairKind   = 's' // key of the session and the sequence, which a request shares with its answer
	accountKey = 'a' // key of an account, as written in the line
	failureKey = 'f' // an answer or a receipt that says that a message failed
	textKey    = 't' // key of a text: the text of a receipt contains an id, and may report a failure
)

// AppendKeys is a logfile.Keyer: it appends the keys by which a line is found, and returns the line's time in
// microseconds. It is called for each line that is compressed.
func AppendKeys(line []byte, keys []uint64) (all []uint64, at int64) {
	const head = len(timeLayout) + 1
	if len(line) < head {
		return keys, 0
	}
	at = Micros(line)
	rest := line[head:]
	n := bytes.IndexByte(rest, ' ')
	if n < 0 || len(rest) < n+5 {
		return keys, at
	}
	session, received := rest[:n], rest[n+1] == '<'
	if rest = rest[n+3:]; bytes.IndexByte(rest, ' ') < 0 {
		return keys, at
	}
	rest = rest[bytes.IndexByte(rest, ' ')+1:] // behind the command
	if n := bytes.IndexByte(rest, '='); n >= 0 {
		if sequence, after, ok := cutSequence(rest[n+1:]); ok {
			isAnswer := hasName(after, "status=")
			keys, rest = append(keys, pairHash(session, received != isAnswer, sequence)), after
		}
	}
	return appendFieldKeys(keys, rest), at
}

// cutSequence cuts off a sequence, and the space after it.
func cutSequence(rest []byte) (n uint32, after []byte, ok bool) {
	var all uint64
	for at, c := range rest {
		switch {
		case c == ' ':
			return uint32(all), rest[at+1:], at > 0
		case c < '0' || c > '9':
			return 0, nil, false
		}
		if all = all*10 + uint64(c-'0'); all > math.MaxUint32 {
			return 0, nil, false
		}
	}
	return uint32(all), nil, len(rest) > 0
}

func appendFieldKeys(keys []uint64, rest []byte) []uint64 {
	for len(rest) > 0 {
		kind, name := kindOf(rest)
		end := fieldEnd(rest, name)
		if kind != 0 {
			keys = appendKey(keys, kind, trimQuotes(rest[name:end]))
		}
		rest = rest[min(end+1, len(rest)):]
	}
	return keys
}

// fieldEnd returns the end of the field around a place: a space that is not between quotation marks. It
// checks eight octets together for an octet below '#'.
func fieldEnd(b []byte, at int) int {
	const ones = 0x0101010101010101
	for at < len(b) {
		if at+8 <= len(b) {
			eight := binary.LittleEndian.Uint64(b[at:])
			low := (eight - '#'*ones) &^ eight & (0x80 * ones) // the lowest bit is exact; higher bits may be wrong
			if low == 0 {
				at += 8
				continue
			}
			at += bits.TrailingZeros64(low) / 8
		}
		switch c := b[at]; {
		case c == ' ':
			return at
		case c == '"' && at > 0 && b[at-1] == '=':
			at = closing(b, at)
		default:
			at++
		}
	}
	return at
}

// closing returns the position after the quotation mark that closes the one at quote.
func closing(b []byte, quote int) int {
	for at := quote + 1; ; at++ {
		n := bytes.IndexByte(b[at:], '"')
		if n < 0 {
			return len(b)
		}
		at += n
		slashes := 0
		for b[at-1-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return at + 1
		}
	}
}

func trimQuotes(value []byte) []byte {
	if len(value) == 0 || value[0] != '"' {
		return value
	}
	if value = value[1:]; len(value) > 0 && value[len(value)-1] == '"' {
		value = value[:len(value)-1]
	}
	return value
}

// kindOf returns the kind of key of the first field, 0 if the field has no key, and the length of the field's
// name, or of the part of the name that determines the kind.
func kindOf(rest []byte) (kind byte, name int) {
	switch rest[0] {
	case 's':
		switch {
		case hasName(rest, "source_addr="):
			return numberKey, len("source_addr=")
		case hasName(rest, "source_addr"):
			return 0, len("source_addr")
		case hasName(rest, "status="):
			return failureKey, len("status=")
		case hasName(rest, "short_message="):
			return textKey, len("short_message=")
		}
	case 'd':
		switch {
		case hasName(rest, "destination_addr="):
			return numberKey, len("destination_addr=")
		case hasName(rest, "dest_addr_"):
			return 0, len("dest_addr_")
		}
	case 'i':
		return kindIf(rest, "id=", idKey)
	case 'a':
		return kindIf(rest, "account=", accountKey)
	case 'm':
		if hasName(rest, "message_id=") {
			return idKey, len("message_id=")
		}
		return kindIf(rest, "message_payload=", textKey)
	case 'r':
		switch {
		case hasName(rest, "reason="):
			return failureKey, len("reason=")
		case hasName(rest, "reference="):
			return idKey, len("reference=")
		}
		return kindIf(rest, "receipted_message_id=", idKey)
	case 'O':
		return kindIf(rest, "OAdC=", numberKey)
	case 'A':
		return kindIf(rest, "AdC=", numberKey)
	case 'f':
		return kindIf(rest, "from=", numberKey)
	case 't':
		return kindIf(rest, "to=", numberKey)
	}
	return 0, 0
}

func kindIf(rest []byte, name string, is byte) (kind byte, length int) {
	if hasName(rest, name) {
		return is, len(name)
	}
	return 0, 0
}

func hasName(rest []byte, name string) bool {
	return len(rest) >= len(name) && string(rest[:len(name)]) == name
}

// appendKey appends the key of a value, if values of its kind have keys.
func appendKey(keys []uint64, kind byte, value []byte) []uint64 {
	switch kind {
	case idKey:
		if len(value) > 0 {
			keys = append(keys, IDHash(value))
		}
	case numberKey:
		if len(value) > 0 {
			keys = append(keys, NumberHash(value))
		}
	case accountKey:
		keys = append(keys, logfile.Hash(accountKey, value))
	case failureKey:
		if len(value) > 0 && string(value) != "0" && !hasName(value, "0(") {
			keys = append(keys, logfile.Hash(failureKey, nil))
		}
	case textKey:
		if hasName(value, "id:") {
			keys = appendReceipt(keys, value[len("id:"):])
		}
	}
	return keys
}

// appendReceipt appends the keys of a receipt's text behind "id:".
func appendReceipt(keys []uint64, text []byte) []uint64 {
	id, _, _ := bytes.Cut(text, []byte{' '})
	keys = append(keys, IDHash(id))
	if _, state, ok := bytes.Cut(text, []byte("stat:")); ok && !bytes.HasPrefix(state, []byte("DELIVRD")) {
		keys = append(keys, logfile.Hash(failureKey, nil))
	}
	return keys
}

// IDHash returns the key of an id, regardless of letter case and leading zeros.
func IDHash(id []byte) uint64 {
	if n := len(id) - 4; n >= 0 && string(id[n:]) == `\x00` {
		id = id[:n]
	}
	for len(id) > 0 && id[0] == '0' {
		id = id[1:]
	}
	return logfile.HashFolded(idKey, id)
}

// NumberHash returns the key of a number, which is the same for all forms of the number.
func NumberHash(number []byte) uint64 {
	if len(number) < comparedDigits+2 { // the prefix of a longer number is not compared
		if rest, ok := bytes.CutPrefix(number, []byte("00")); ok {
			number = rest
		}
		number = bytes.TrimPrefix(number, []byte{'+'})
	}
	return logfile.Hash(numberKey, number[max(0, len(number)-comparedDigits):])
}

// pairHash returns the key of a request and its answer; received means that the request came from the peer.
func pairHash(session []byte, received bool, sequence uint32) uint64 {
	h := logfile.Hash(pairKind, session) + uint64(sequence)<<1
	if received {
		h++
	}
	return logfile.Mix(h)
}

// Micros returns the time at the start of a line, 0 if the line has no time.
func Micros(line []byte) int64 {
	if len(line) < len(timeLayout) || line[4] != '-' || line[10] != 'T' || line[len(timeLayout)-1] != 'Z' {
		return 0
	}
	two := func(at int) int64 { return int64(line[at])*10 + int64(line[at+1]) - 11*'0' }
	// Days since 1970, by the algorithm of Howard Hinnant, for years that begin in March.
	year, month := two(0)*100+two(2), two(5)
	if month <= 2 {
		year, month = year-1, month+12
	}
	days := 365*year + year/4 - year/100 + year/400 + (153*(month-3)+2)/5 + two(8) - 719469
	return ((days*24+two(11))*60+two(14))*60e6 + two(17)*1e6 + two(20)*10_000 + two(22)*100 + two(24)
}

// IDForms returns the forms in which a receipt may write a peer's id; the first form is the id itself.
func IDForms(id string) []string {
	forms := []string{id, strings.TrimLeft(id, "0"), strings.ToLower(id), strings.ToUpper(id)}
	if n, ok := new(big.Int).SetString(id, 16); ok && len(id) <= 32 {
		forms = append(forms, n.String())
	}
	if n, ok := new(big.Int).SetString(id, 10); ok && len(id) <= 32 {
		forms = append(forms, n.Text(16), strings.ToUpper(n.Text(16)))
	}
	return forms
}

// comparedDigits is the number of digits at the end of a number that all forms of the number share.
const comparedDigits = 7

// ComparedEnd returns the last seven digits of a number, which all forms share, or the whole number if it is shorter.
func ComparedEnd(number string) string { return number[max(0, len(number)-comparedDigits):] }

// MessageID reports whether s is a message id and not a phone number. A message id has 16
// hexadecimal digits, or characters that people do not write in a number.
func MessageID(s string) bool {
	_, err := number.Clean(s)
	return err != nil || logtext.IsID([]byte(strings.ToLower(s)))
}

// microsOf returns a time in microseconds, 0 for none.
func microsOf(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}
