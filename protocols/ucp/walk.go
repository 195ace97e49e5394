package ucp

import (
	"bytes"
	"strconv"

	"pmg/internal/logtext"
)

// A mode is the action of a Walk at each field.
type mode uint8

const (
	read  mode = iota // reads the fields from the frame
	write             // writes the fields to the frame
	show              // prints the fields, as in the pdu log
	scan              // reads the fields from the output of show
	visit             // passes the fields to a function
)

// A Field is the position of a field's characters in the PDU's text.
type Field struct{ at, n uint16 }

// A Walk visits the fields of a body in wire order, and reads, writes or prints each. The first unreadable field ends a
// reading walk: the fields after it stay empty.
//
// Reading and writing are the hot path: the short methods below take the usual
// case, an empty field, and leave the others to walk_text.go.
type Walk struct {
	p    *PDU
	b    []byte // write, show: the output so far
	at   int    // read: offset of the next field in the PDU's text
	end  int    // read: offset after the last field's slash
	err  *Error // read
	mode mode
	full bool                         // show: print texts
	line *logtext.Scanner             // scan
	call func(name string, value any) // visit
}

// Str is a field of at most size characters. ec is the error code if it is longer.
func (w *Walk) Str(name string, size int, ec uint8, f *Field) {
	switch {
	case w.mode == read && w.at < w.end && w.p.text[w.at] == '/': // most are empty
		*f = Field{}
		w.at++
	case w.mode == write:
		if f.n > 0 {
			w.b = append(w.b, w.p.get(*f)...)
		}
		w.b = append(w.b, '/')
	case w.mode == read:
		w.read(name, size, ec, f)
	case w.mode == show && f.n == 0:
	default:
		w.textStr(name, f)
	}
}

// Secret is a field that is never printed.
func (w *Walk) Secret(name string, size int, ec uint8, f *Field) {
	if w.mode == show && f.n > 0 {
		w.b = logtext.AppendPassword(logtext.AppendName(w.b, name))
		return
	}
	w.Str(name, size, ec, f)
}

// Msg is the text of a message. With isHex it is octets in hexadecimal digits, which are printed under octetsName.
func (w *Walk) Msg(name string, isHex bool, f *Field, octetsName string) {
	if w.mode == read || w.mode == write {
		w.Str(name, maxMsg, ecTooLong, f)
		return
	}
	w.textMsg(name, isHex, f, octetsName)
}

// List is n fields, which are stored as one field with slashes between them.
func (w *Walk) List(name string, most, n int, f *Field) {
	if w.mode != read {
		w.textList(name, f)
		return
	}
	*f = Field{}
	switch {
	case w.err != nil:
		return
	case n > most:
		w.fail(name, ecNotAllowed, "stands there more than "+strconv.Itoa(most)+" times")
		return
	case n < 1:
		w.fail("NPL", ecSyntax, "is not the number of addresses")
		return
	}
	from := w.at
	for range n {
		var one Field
		w.read(name, maxAddress+1+maxAddress, ecAdC, &one)
	}
	if w.err == nil {
		*f = Field{uint16(from), uint16(w.at - 1 - from)}
	}
}

// Variant sets longer if the body has its longer form, which has total fields.
func (w *Walk) Variant(name string, shown, total int, longer *bool) {
	switch w.mode {
	case read:
		*longer = w.left() == total
	case show:
		if *longer {
			w.b = strconv.AppendInt(logtext.AppendName(w.b, name), int64(shown), 10)
		}
	case scan:
		if *longer = w.line.Take(name); *longer {
			w.line.Number(8)
		}
	}
}

// left returns the number of fields that are not read yet.
func (w *Walk) left() int { return bytes.Count(w.p.text[w.at:w.end], slash) }

var slash = []byte{'/'}

// read finds the next field.
func (w *Walk) read(name string, size int, ec uint8, f *Field) {
	*f = Field{}
	if w.err != nil {
		return
	}
	switch n := bytes.IndexByte(w.p.text[w.at:w.end], '/'); {
	case n < 0:
		w.fail(name, ecSyntax, "is missing")
	case n > size:
		w.fail(name, ec, "is longer than "+strconv.Itoa(size)+" characters")
	default:
		*f = Field{uint16(w.at), uint16(n)}
		w.at += n + 1
	}
}

// fail ends a reading walk at an unreadable field.
func (w *Walk) fail(name string, ec uint8, why string) {
	if w.err == nil {
		w.err = &Error{EC: ec, Text: name + " " + why}
	}
	w.at = w.end
}
