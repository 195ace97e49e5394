package own

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// A Reader reads documents of clients. It is safe for concurrent use. It reuses its memory for further documents.
type Reader struct{ scanners sync.Pool }

// scanner returns a scanner for a document. pointer is the JSON pointer of the document within another one;
// "": the document stands alone.
func (r *Reader) scanner(body []byte, pointer string) *scanner {
	s, _ := r.scanners.Get().(*scanner)
	if s == nil {
		s = &scanner{}
	}
	s.reset(body, pointer)
	return s
}

// release takes back a scanner that is no longer used.
func (r *Reader) release(s *scanner) {
	s.reset(nil, "") // so that the scanner keeps no document
	r.scanners.Put(s)
}

// A scanner reads one JSON value (RFC 8259), strictly: a name that comes twice in an object is an error, and
// so is an unknown name. A value of the wrong type is recorded with its place, and reading continues, so that
// one answer names all errors.
type scanner struct {
	in      jsontext.Decoder
	body    []byte
	from    bytes.Buffer // body, from which in reads without a copy
	pointer string       // JSON pointer to the document
	broken  string       // the syntax error; nothing is read after it
	found   []Error      // errors of values
}

func (s *scanner) reset(body []byte, pointer string) {
	s.body, s.from = body, *bytes.NewBuffer(body)
	s.in.Reset(&s.from)
	s.pointer, s.broken, s.found = pointer, "", nil
}

// Bounds on a document.
const (
	maxDepth   = 16
	maxErrors  = 20
	maxMembers = 128       // maximum number of members of an object
	maxName    = 256       // octets of a member's name
	maxString  = 256 << 10 // octets of a string that are kept
	maxNumber  = 1 << 10   // octets of a number
	maxEscape  = 6         // octets that may encode one octet: \u0041
)

// breaks records that reading cannot go on.
func (s *scanner) breaks(at int64, format string, args ...any) {
	if s.broken == "" {
		s.broken = fmt.Sprintf(format, args...) + " at octet " + strconv.FormatInt(at, 10)
	}
}

// fails records that the decoder cannot go on.
func (s *scanner) fails(err error) {
	e, ok := errors.AsType[*jsontext.SyntacticError](err)
	switch {
	case !ok:
		s.breaks(s.in.InputOffset(), "a value is missing")
	case errors.Is(e.Err, io.ErrUnexpectedEOF):
		s.breaks(e.ByteOffset, "the document does not end")
	case errors.Is(e.Err, jsontext.ErrDuplicateName):
		s.breaks(e.ByteOffset, "%s comes twice", e.JSONPointer)
	default:
		s.breaks(e.ByteOffset, "%v", e.Err)
	}
}

// wrong records that the present value is invalid.
func (s *scanner) wrong(code, format string, args ...any) {
	s.note(s.pointer+string(s.in.StackPointer()), code, format, args...)
}

func (s *scanner) note(pointer, code, format string, args ...any) {
	if len(s.found) < maxErrors {
		s.found = append(s.found, Error{Pointer: pointer, Code: code, Detail: fmt.Sprintf(format, args...)})
	}
}

// wrongAt records that a member of the document is invalid, unless an error of the member or the document was
// recorded before: a member of the wrong type must not be reported as missing, too.
func (s *scanner) wrongAt(member, code, format string, args ...any) {
	pointer := s.pointer + "/" + member
	known := func(e Error) bool { return e.Pointer == s.pointer || e.Pointer == pointer }
	if !slices.ContainsFunc(s.found, known) {
		s.note(pointer, code, format, args...)
	}
}

// next returns the kind of the next token, 0 at the end.
func (s *scanner) next() jsontext.Kind {
	if s.broken != "" {
		return 0
	}
	return s.in.PeekKind()
}

// token reads a token, and returns its octets.
func (s *scanner) token() []byte {
	from := s.in.InputOffset()
	if _, err := s.in.ReadToken(); err != nil {
		s.fails(err)
		return nil
	}
	to := s.in.InputOffset()
	for strings.IndexByte(between, s.body[from]) >= 0 {
		from++
	}
	return s.body[from:to]
}

// between are the characters that may separate two tokens.
const between = " \t\r\n:,"

// end checks that nothing follows.
func (s *scanner) end() {
	if s.broken != "" {
		return
	}
	if _, err := s.in.ReadToken(); err == nil {
		s.breaks(s.in.InputOffset(), "a value follows the document")
	} else if !errors.Is(err, io.EOF) {
		s.fails(err)
	}
}

// object reads an object, and calls member for each of its members, which reads its value.
func (s *scanner) object(member func(name string)) {
	if s.next() != '{' {
		s.mistyped("an object")
		return
	}
	s.enter()
	for n := 0; s.next() == '"'; n++ {
		name := s.token()
		switch {
		case len(name) > maxName+len(`""`):
			s.breaks(s.in.InputOffset(), "the name of a member has more than %d octets", maxName)
		case n == maxMembers:
			s.breaks(s.in.InputOffset(), "an object has more than %d members", maxMembers)
		}
		if s.broken == "" {
			member(textOf(name))
		}
	}
	s.close()
}

// array reads an array, and calls item for each of its items, which reads it.
func (s *scanner) array(item func(i int)) {
	if s.next() != '[' {
		s.mistyped("an array")
		return
	}
	s.enter()
	for i := 0; s.broken == "" && s.next() != ']'; i++ {
		item(i)
	}
	s.close()
}

// enter reads the beginning of an object or an array.
func (s *scanner) enter() {
	if s.token(); s.in.StackDepth() > maxDepth {
		s.breaks(s.in.InputOffset(), "there are more than %d levels", maxDepth)
	}
}

// close reads the end of an object or an array.
func (s *scanner) close() {
	if s.broken == "" {
		s.token()
	}
}

// text reads a string.
func (s *scanner) text() string {
	if s.next() != '"' {
		s.mistyped("a string")
		return ""
	}
	quoted := s.token()
	if len(quoted) <= maxEscape*maxString {
		if text := textOf(quoted); len(text) <= maxString {
			return text
		}
	}
	s.wrong("too-long", "must be at most %d octets", maxString)
	return ""
}

// textOf returns the text of a string of JSON, "" if quoted is no string.
func textOf(quoted []byte) string {
	if len(quoted) >= 2 && bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted[1 : len(quoted)-1])
	}
	text, _ := jsontext.AppendUnquote(nil, quoted)
	return string(text)
}

// number reads a whole number from least to most.
func (s *scanner) number(least, most int64) int64 {
	if s.next() != '0' {
		s.mistyped("a number")
		return 0
	}
	word := s.token()
	n, err := strconv.ParseInt(string(word[:min(len(word), maxNumber)]), 10, 64)
	if err != nil || n < least || n > most {
		s.wrong("out-of-range", "must be a whole number from %d to %d", least, most)
	}
	return n
}

// truth reads true or false.
func (s *scanner) truth() bool {
	kind := s.next()
	if kind != 't' && kind != 'f' {
		s.mistyped("true or false")
		return false
	}
	s.token()
	return kind == 't'
}

// mistyped records that a value has the wrong type, and skips the value.
func (s *scanner) mistyped(want string) {
	s.wrong("wrong-type", "must be %s", want)
	s.pass()
}

// unknown records an unknown member, and skips its value.
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
	default:
		s.token()
	}
}
