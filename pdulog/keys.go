package pdulog

import (
	"bytes"
	"math/big"
	"strings"
	"time"

	"pmg/internal/logfile"
	"pmg/internal/logtext"
)

// Kinds of keys, by which lines are found.
const (
	idKey      = 'i' // a message's id: ours, an SMSC's, or a client's reference
	numberKey  = 'n' // the end of a number
	pairKind   = 's' // the session and the sequence that a request and its answer share
	accountKey = 'a' // an account, as the line has it
	failureKey = 'f' // an answer or a receipt that says that a message failed
)

// AppendKeys appends what a line is found by, and returns its time in microseconds: a logfile.Keyer.
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
	for field := 0; len(rest) > 0; field++ {
		var name, value []byte
		if name, value, rest = cutField(rest); field == 0 {
			isAnswer := bytes.HasPrefix(rest, []byte("status="))
			if sequence, ok := digits(value); ok {
				keys = append(keys, pairHash(session, received != isAnswer, uint32(sequence)))
			}
		}
		keys = appendKey(keys, name, value)
	}
	return keys, at
}

// appendKey appends the key of a field, if it is found by that.
func appendKey(keys []uint64, name, value []byte) []uint64 {
	switch string(name) {
	case "id", "message_id", "receipted_message_id", "reference":
		if len(value) > 0 {
			keys = append(keys, IDHash(value))
		}
	case "source_addr", "destination_addr", "OAdC", "AdC", "from", "to":
		if len(value) > 0 {
			keys = append(keys, NumberHash(value))
		}
	case "account":
		keys = append(keys, logfile.Hash(accountKey, value))
	case "status":
		if len(value) > 0 && string(value) != "0" && !bytes.HasPrefix(value, []byte("0(")) {
			keys = append(keys, logfile.Hash(failureKey, nil))
		}
	case "short_message", "message_payload":
		if text, ok := bytes.CutPrefix(value, []byte("id:")); ok {
			id, text, _ := bytes.Cut(text, []byte{' '})
			if keys = append(keys, IDHash(id)); bytes.Contains(text, []byte("stat:")) && !bytes.Contains(text, []byte("stat:DELIVRD")) {
				keys = append(keys, logfile.Hash(failureKey, nil))
			}
		}
	}
	return keys
}

// cutField cuts a field off, and returns its value without its quotation marks.
func cutField(rest []byte) (name, value, after []byte) {
	n := bytes.IndexByte(rest, '=')
	if n < 0 {
		return nil, nil, nil
	}
	if space := bytes.IndexByte(rest[:n], ' '); space >= 0 { // a word without a value
		return nil, nil, rest[space+1:]
	}
	name, rest = rest[:n], rest[n+1:]
	if len(rest) > 0 && rest[0] == '"' {
		for end := 1; ; end++ {
			n := bytes.IndexByte(rest[end:], '"')
			if n < 0 {
				return name, rest[1:], nil
			}
			end += n
			slashes := 0
			for rest[end-1-slashes] == '\\' {
				slashes++
			}
			if slashes%2 == 0 {
				return name, rest[1:end], bytes.TrimPrefix(rest[end+1:], []byte{' '})
			}
		}
	}
	if n = bytes.IndexByte(rest, ' '); n < 0 {
		return name, rest, nil
	}
	return name, rest[:n], rest[n+1:]
}

// IDHash returns the key of an id, whichever case its letters have, and with or without zeros in front.
func IDHash(id []byte) uint64 {
	id = bytes.TrimLeft(bytes.TrimSuffix(id, []byte(`\x00`)), "0")
	var room [64]byte
	lower := append(room[:0], id...)
	for i, c := range lower {
		if c >= 'A' && c <= 'Z' {
			lower[i] = c | 0x20
		}
	}
	return logfile.Hash(idKey, lower)
}

// NumberHash returns the key of a number, which all forms of it have.
func NumberHash(number []byte) uint64 {
	if rest, ok := bytes.CutPrefix(number, []byte("00")); ok {
		number = rest
	}
	number = bytes.TrimPrefix(number, []byte{'+'})
	return logfile.Hash(numberKey, number[max(0, len(number)-comparedDigits):])
}

// pairHash returns the key of a request and its answer; received says that the request was.
func pairHash(session []byte, received bool, sequence uint32) uint64 {
	h := logfile.Hash(pairKind, session) + uint64(sequence)<<1
	if received {
		h++
	}
	return logfile.Mix(h)
}

// Micros returns the time at the start of a line, 0 if there is none.
func Micros(line []byte) int64 {
	if len(line) < len(timeLayout) || line[4] != '-' || line[10] != 'T' || line[len(timeLayout)-1] != 'Z' {
		return 0
	}
	number := func(from, to int) (n int64) {
		for _, c := range line[from:to] {
			n = n*10 + int64(c-'0')
		}
		return n
	}
	// Days since 1970, by the algorithm of Howard Hinnant, for years that begin in March.
	year, month := number(0, 4), number(5, 7)
	if month <= 2 {
		year, month = year-1, month+12
	}
	days := 365*year + year/4 - year/100 + year/400 + (153*(month-3)+2)/5 + number(8, 10) - 719469
	return ((days*24+number(11, 13))*60+number(14, 16))*60e6 + number(17, 19)*1e6 + number(20, 26)
}

// IDForms returns the forms in which a receipt may write a peer's id, as it stands first.
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

// comparedDigits is how many digits at the end of a number each form of it has.
const comparedDigits = 7

// ComparedEnd returns the last seven digits of a number, which each form of it has, or all of it.
func ComparedEnd(number string) string { return number[max(0, len(number)-comparedDigits):] }

// SameNumber reports whether two addresses are one number: international, with +, 00 or nothing
// in front, or, with one 0, national.
func SameNumber(a, b string) bool {
	a, b = international(a), international(b)
	if a == "" || b == "" {
		return false
	}
	if a == b {
		return true
	}
	for _, pair := range [...][2]string{{a, b}, {b, a}} {
		if national, ok := strings.CutPrefix(pair[0], "0"); ok && len(national) >= comparedDigits && strings.HasSuffix(pair[1], national) {
			return true
		}
	}
	return false
}

func international(a string) string {
	if rest, ok := strings.CutPrefix(a, "00"); ok {
		return rest
	}
	return strings.TrimPrefix(a, "+")
}

// MessageID reports whether s is a message id and not a phone number. A message id has 16
// hexadecimal digits, or characters other than digits.
func MessageID(s string) bool {
	digits := strings.TrimPrefix(s, "+")
	return logtext.IsID([]byte(strings.ToLower(s))) || strings.Trim(digits, "0123456789") != ""
}

// microsOf returns a time in microseconds, 0 for none.
func microsOf(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}
