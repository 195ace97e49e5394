package own

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// A scanner reads one JSON value (RFC 8259), strictly: a name that comes twice in an object is an error, and so is a
// name that no member has. A value of the wrong type is remembered with its place, and reading goes on. So one answer names
// all that is wrong.
type scanner struct {
	b      []byte
	at     int
	depth  int
	broken string  // why b is no JSON; nothing more is read then
	path   []byte  // the JSON pointer of what is being read
	found  []Error // what is wrong with values
	buf    []byte  // of the last string with an escape
}

// Bounds on a document.
const (
	maxDepth   = 16
	maxErrors  = 20
	maxMembers = 128       // of an object: each name is compared with those before
	maxName    = 256       // octets of a member's name
	maxString  = 256 << 10 // octets of a string that is kept
	maxWord    = 1 << 10   // octets of a number
)

// breaks records that reading cannot go on.
func (s *scanner) breaks(format string, args ...any) {
	if s.broken == "" {
		s.broken = fmt.Sprintf(format, args...) + " at octet " + strconv.Itoa(s.at)
		s.at = len(s.b)
	}
}

// wrong records that the value at hand is not what it must be.
func (s *scanner) wrong(code, format string, args ...any) {
	if len(s.found) < maxErrors {
		s.found = append(s.found, Error{Pointer: string(s.path), Code: code, Detail: fmt.Sprintf(format, args...)})
	}
}

// wrongAt records that a member of the value at hand is not what it must be, unless it or the value has been found wrong
// before: what has another type must not be said to be missing, too.
func (s *scanner) wrongAt(member, code, format string, args ...any) {
	before := len(s.path)
	value := string(s.path)
	s.path = append(append(s.path, '/'), member...)
	known := func(e Error) bool { return e.Pointer == value || e.Pointer == string(s.path) }
	if !slices.ContainsFunc(s.found, known) {
		s.wrong(code, format, args...)
	}
	s.path = s.path[:before]
}

func (s *scanner) blanks() {
	for s.at < len(s.b) && (s.b[s.at] == ' ' || s.b[s.at] == '\t' || s.b[s.at] == '\n' || s.b[s.at] == '\r') {
		s.at++
	}
}

// next returns the first octet of the next token, 0 at the end.
func (s *scanner) next() byte {
	if s.blanks(); s.at < len(s.b) {
		return s.b[s.at]
	}
	return 0
}

// end checks that nothing follows.
func (s *scanner) end() {
	if c := s.next(); s.broken == "" && s.at < len(s.b) {
		s.breaks("%q follows the document", c)
	}
}

func (s *scanner) expect(c byte) bool {
	if s.next() != c || s.at == len(s.b) {
		s.breaks("%q is missing", c)
		return false
	}
	s.at++
	return true
}

// object reads an object, and calls member for each of its members, which reads its value.
func (s *scanner) object(member func(name string)) {
	if s.next() != '{' {
		s.mistyped("an object")
		return
	}
	if s.at++; !s.enter() {
		return
	}
	defer s.leave()
	var names []string
	if s.next() == '}' {
		s.at++
		return
	}
	for s.broken == "" {
		name, ok := s.name(len(names))
		if !ok {
			return
		}
		before := len(s.path)
		s.path = append(append(s.path, '/'), pointers.Replace(name)...)
		if slices.Contains(names, name) {
			s.breaks("%s comes twice", s.path)
			return
		}
		names = append(names, name)
		member(name)
		s.path = s.path[:before]
		if s.next() == ',' {
			s.at++
			continue
		}
		s.expect('}')
		return
	}
}

// name reads the name of a member, which n others of its object come before.
func (s *scanner) name(n int) (string, bool) {
	octets, ok := s.quoted()
	switch {
	case !ok:
		s.breaks("the name of a member is missing")
	case len(octets) > maxName:
		s.breaks("the name of a member has more than %d octets", maxName)
	case n == maxMembers:
		s.breaks("an object has more than %d members", maxMembers)
	}
	name := ""
	if s.broken == "" {
		name = string(octets)
	}
	return name, s.expect(':')
}

var pointers = strings.NewReplacer("~", "~0", "/", "~1")

// array reads an array, and calls item for each of its items, which reads it.
func (s *scanner) array(item func(i int)) {
	if s.next() != '[' {
		s.mistyped("an array")
		return
	}
	if s.at++; !s.enter() {
		return
	}
	defer s.leave()
	if s.next() == ']' {
		s.at++
		return
	}
	for i := 0; s.broken == ""; i++ {
		before := len(s.path)
		s.path = strconv.AppendInt(append(s.path, '/'), int64(i), 10)
		item(i)
		s.path = s.path[:before]
		if s.next() == ',' {
			s.at++
			continue
		}
		s.expect(']')
		return
	}
}

func (s *scanner) enter() bool {
	if s.depth++; s.depth > maxDepth {
		s.breaks("there are more than %d levels", maxDepth)
	}
	return s.broken == ""
}

func (s *scanner) leave() { s.depth-- }

// text reads a string.
func (s *scanner) text() string {
	if s.next() != '"' {
		s.mistyped("a string")
		return ""
	}
	octets, _ := s.quoted()
	if len(octets) > maxString {
		s.wrong("too-long", "must be at most %d octets", maxString)
		return ""
	}
	return string(octets)
}

// quoted reads a string, or reports false. What it returns holds until the next string is read. Of a string with escapes that is
// longer than maxString it returns so much that this shows.
func (s *scanner) quoted() ([]byte, bool) {
	if s.next() != '"' || s.at == len(s.b) {
		return nil, false
	}
	s.at++
	begin := s.at
	for ; s.at < len(s.b); s.at++ {
		switch c := s.b[s.at]; {
		case c == '"':
			raw := s.b[begin:s.at]
			s.at++
			return raw, s.isText(raw)
		case c == '\\':
			return s.escaped(begin)
		case c < ' ':
			s.breaks("a string has a control character that is not escaped")
			return nil, false
		}
	}
	s.breaks("a string does not end")
	return nil, false
}

// isText reports whether the octets of a string are UTF-8.
func (s *scanner) isText(raw []byte) bool {
	if !utf8.Valid(raw) {
		s.breaks("a string is not UTF-8")
	}
	return s.broken == ""
}

// escaped goes on with a string at its first escape. Escapes are ASCII, and stand for characters alone.
func (s *scanner) escaped(begin int) ([]byte, bool) {
	s.buf = append(s.buf[:0], s.b[begin:min(s.at, begin+maxString+1)]...)
	for s.at < len(s.b) && s.broken == "" {
		c := s.b[s.at]
		s.at++
		switch {
		case c == '"':
			return s.buf, s.isText(s.b[begin : s.at-1])
		case c < ' ':
			s.breaks("a string has a control character that is not escaped")
		case c == '\\':
			s.escape()
		case len(s.buf) <= maxString:
			s.buf = append(s.buf, c)
		}
	}
	s.breaks("a string does not end")
	return nil, false
}

const escapes = `"\/bfnrt`

// escape reads what follows a backslash.
func (s *scanner) escape() {
	if s.at == len(s.b) {
		return
	}
	c := s.b[s.at]
	s.at++
	if i := strings.IndexByte(escapes, c); i >= 0 {
		s.keep(rune("\"\\/\b\f\n\r\t"[i]))
		return
	}
	if c != 'u' {
		s.breaks("%q is no escape", c)
		return
	}
	r := s.hex4()
	if utf16.IsSurrogate(r) && s.at+2 <= len(s.b) && s.b[s.at] == '\\' && s.b[s.at+1] == 'u' {
		s.at += 2
		r = utf16.DecodeRune(r, s.hex4())
	}
	if utf16.IsSurrogate(r) || r == utf8.RuneError {
		s.breaks("a surrogate stands alone")
		return
	}
	s.keep(r)
}

// keep appends a character to the string at hand, unless that is too long already.
func (s *scanner) keep(r rune) {
	if len(s.buf) <= maxString {
		s.buf = utf8.AppendRune(s.buf, r)
	}
}

func (s *scanner) hex4() rune {
	if s.at+4 > len(s.b) {
		s.breaks("an escape does not end")
		return 0
	}
	n, err := strconv.ParseUint(string(s.b[s.at:s.at+4]), 16, 16)
	if err != nil {
		s.breaks("an escape is not hexadecimal")
	}
	s.at += 4
	return rune(n)
}

// number reads a whole number from least to most.
func (s *scanner) number(least, most int64) int64 {
	c := s.next()
	if c != '-' && (c < '0' || c > '9') {
		s.mistyped("a number")
		return 0
	}
	word := s.word()
	if !isNumber(word) {
		s.breaks("%.64q is no number", word)
		return 0
	}
	n, err := strconv.ParseInt(word, 10, 64)
	if err != nil || n < least || n > most {
		s.wrong("out-of-range", "must be a whole number from %d to %d", least, most)
	}
	return n
}

// isNumber reports whether a word is a number (RFC 8259 §6).
func isNumber(word string) bool {
	rest := strings.TrimPrefix(word, "-")
	whole := digits(rest)
	if whole == 0 || whole > 1 && rest[0] == '0' {
		return false
	}
	if rest = rest[whole:]; strings.HasPrefix(rest, ".") {
		n := digits(rest[1:])
		if n == 0 {
			return false
		}
		rest = rest[1+n:]
	}
	if rest == "" {
		return true
	}
	if rest[0] != 'e' && rest[0] != 'E' {
		return false
	}
	if rest = rest[1:]; rest != "" && (rest[0] == '+' || rest[0] == '-') {
		rest = rest[1:]
	}
	return rest != "" && digits(rest) == len(rest)
}

// digits returns how many digits a text begins with.
func digits(text string) (n int) {
	for n < len(text) && text[n] >= '0' && text[n] <= '9' {
		n++
	}
	return n
}

// truth reads true or false.
func (s *scanner) truth() bool {
	if c := s.next(); c != 't' && c != 'f' {
		s.mistyped("true or false")
		return false
	}
	switch word := s.word(); word {
	case "true":
		return true
	case "false":
	default:
		s.breaks("%.64q is no value", word)
	}
	return false
}

// word reads up to the next mark or blank.
func (s *scanner) word() string {
	begin := s.at
	for s.at < len(s.b) && !strings.ContainsRune(" \t\r\n,:]}[{\"", rune(s.b[s.at])) {
		if s.at++; s.at-begin > maxWord {
			s.breaks("a value is longer than %d octets", maxWord)
			return ""
		}
	}
	return string(s.b[begin:s.at])
}

// mistyped records that a value is not what must stand there, and passes over it.
func (s *scanner) mistyped(want string) {
	if s.at < len(s.b) {
		s.wrong("wrong-type", "must be %s", want)
	}
	s.pass()
}

// unknown records a member that nothing has asked for, and passes over its value.
func (s *scanner) unknown() {
	s.wrong("unknown-field", "there is no such field")
	s.pass()
}

// pass passes over a value.
func (s *scanner) pass() {
	switch s.next() {
	case '{':
		s.object(func(string) { s.pass() })
	case '[':
		s.array(func(int) { s.pass() })
	case '"':
		s.quoted()
	case 't', 'f':
		s.truth()
	default:
		if word := s.word(); word != "null" && !isNumber(word) {
			s.breaks("a value is missing")
		}
	}
}
