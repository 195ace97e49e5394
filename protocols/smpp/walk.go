package smpp

import (
	"bytes"
	"strconv"

	"pmg/internal/logtext"
)

// A mode is what a Walk does with the fields it is led along.
type mode uint8

const (
	read  mode = iota // takes them from the wire
	write             // puts them on the wire
	show              // prints them, as the pdu log does
	scan              // takes them from what show printed
	visit             // hands them to a function
)

// A Walk is led along the fields of a body, in wire order, and reads, writes or
// prints each. The first field that cannot be read ends a reading walk: those
// after it keep what they had.
//
// Reading and writing are the hot path: the short methods below take the usual
// case and leave the others to textual modes in walk_text.go.
type Walk struct {
	b    []byte // read: all there is; write, show: what was made so far
	at   int    // read: octets of b that are done
	err  *Error // read
	mode mode
	full bool                         // show: print texts, and octets of unknown meaning
	keep bool                         // show: print the next string even when it is empty
	room int32                        // show: how many octets of unknown meaning may still be printed
	line *logtext.Scanner             // scan
	call func(name string, value any) // visit
}

// U8 is an integer of one octet. status is the command_status of a PDU that
// ends before it.
func (w *Walk) U8(name string, status uint32, v *uint8) {
	switch {
	case w.mode == read && w.at < len(w.b):
		*v = w.b[w.at]
		w.at++
	case w.mode == show && *v == 0: // most are
	case w.mode == write:
		w.b = append(w.b, *v)
	case w.mode == read:
		w.fail(name, status, "is missing")
	default:
		w.textU8(name, v)
	}
}

// CString is a string that ends in NUL, of at most size octets with the NUL
// (§3.1). status is the command_status of one that is longer or does not end.
func (w *Walk) CString(name string, size int, status uint32, v *[]byte) {
	switch {
	case w.mode == read && w.at < len(w.b) && w.b[w.at] == 0: // most are empty
		*v = nil
		w.at++
	case w.mode == write:
		w.b = append(append(w.b, *v...), 0)
	case w.mode == read:
		w.readCString(name, size, status, v)
	default:
		w.textString(name, v)
	}
}

// Password is a CString that is never printed.
func (w *Walk) Password(name string, size int, status uint32, v *[]byte) {
	if w.mode == show {
		if len(*v) > 0 {
			w.b = logtext.AppendPassword(logtext.AppendName(w.b, name))
		}
		return
	}
	w.CString(name, size, status, v)
}

func (w *Walk) readCString(name string, size int, status uint32, v *[]byte) {
	b := w.b[w.at:]
	n := bytes.IndexByte(b[:min(size, len(b))], 0)
	switch {
	case n >= 0:
		*v = b[:n:n]
		w.at += n + 1
	case len(b) >= size:
		w.fail(name, status, "is longer than "+strconv.Itoa(size-1)+" octets")
	default:
		w.fail(name, status, "does not end")
	}
}

// Text is a text with its length before it, in one octet (§5.2.21, §5.2.22).
func (w *Walk) Text(length, name string, status uint32, v *[]byte) {
	switch w.mode {
	case read:
		b := w.b[w.at:]
		if len(b) == 0 || int(b[0]) >= len(b) {
			w.fail(name, status, "is shorter than "+length)
			return
		}
		n := 1 + int(b[0])
		*v = b[1:n:n]
		w.at += n
	case write:
		t := (*v)[:min(len(*v), 255)]
		w.b = append(append(w.b, uint8(len(t))), t...)
	default:
		w.textText(length, name, v)
	}
}

// TLVs is the optional parameters, which end a body (§3.2.4).
func (w *Walk) TLVs(v *[]byte) {
	switch w.mode {
	case read:
		*v = w.left()
		if !checkTLVs(*v) {
			w.fail("optional parameters", StatusInvTLVStream, "do not end with the PDU")
		}
	case write:
		w.b = append(w.b, *v...)
	default:
		w.textTLVs(v)
	}
}

// Body reports whether a body that may be absent is there; first is its first
// field, which is always printed to show that it is.
func (w *Walk) Body(there *bool, first string) bool {
	switch w.mode {
	case read:
		*there = w.at < len(w.b)
	case scan:
		*there = w.line.Sees(first)
	case show:
		w.keep = true
	}
	return *there
}

// rest is what stands after the last field. It means nothing to us; it is kept
// so that the pdu log tells everything that a peer sent.
func (w *Walk) rest(v *[]byte) {
	switch w.mode {
	case read:
		*v = w.left()
	case write:
		w.b = append(w.b, *v...)
	default:
		w.textRest(v)
	}
}

// left takes all that is left to read, nil if that is nothing.
func (w *Walk) left() []byte {
	if w.at == len(w.b) {
		return nil
	}
	b := w.b[w.at:]
	w.at = len(w.b)
	return b
}

// fail ends a reading walk at a field that cannot be read.
func (w *Walk) fail(name string, status uint32, why string) {
	if w.err == nil {
		w.err = &Error{Status: status, Text: name + " " + why}
	}
	w.b, w.at = nil, 0
}
