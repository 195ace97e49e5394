package smpp

import (
	"bytes"
	"encoding/binary"
	"strconv"

	"pmg/internal/logtext"
)

// A mode is the operation of a Walk on each field.
type mode uint8

const (
	read  mode = iota // decodes the field from wire format
	write             // encodes the field in wire format
	show              // prints the field for the pdu log
	scan              // parses the output of show
	visit             // calls a function with the field
)

// A Walk applies one operation, such as reading, writing or printing, to the fields of a
// body. The walk methods of bodies call it for each field in wire order. After the first
// field that cannot be read, reading leaves all further fields unchanged.
//
// Reading and writing are the hot path. The short methods below handle the usual cases and
// leave the textual modes to walk_text.go.
type Walk struct {
	b    []byte // read: the whole input; write, show: the output so far
	at   int    // read: number of octets of b that were read
	err  *Error // read: the first error
	mode mode

	lenient bool // read: optional parameters that are whole count, even if other octets follow
	behind  int  // read, lenient: number of octets behind the optional parameters

	full bool                         // show: print texts and octets of unknown meaning
	keep bool                         // show: print the next field even when it is zero or empty
	room int32                        // show: how many octets of unknown meaning may still be printed
	line *logtext.Scanner             // scan: the input
	call func(name string, value any) // visit: the function
}

// U8 walks an integer of one octet. status is the command_status for a PDU that ends before
// the field.
func (w *Walk) U8(name string, status uint32, v *uint8) {
	switch {
	case w.mode == read && w.at < len(w.b):
		*v = w.b[w.at]
		w.at++
	case w.mode == show && *v == 0 && !w.keep: // the usual case
	case w.mode == write:
		w.b = append(w.b, *v)
	case w.mode == read:
		w.fail(name, status, "is missing")
	default:
		w.textU8(name, v)
	}
}

// CString walks a string that ends with NUL and has at most size octets including the NUL
// (§3.1). status is the command_status for a string that is longer or does not end.
func (w *Walk) CString(name string, size int, status uint32, v *[]byte) {
	switch {
	case w.mode == read && w.at < len(w.b) && w.b[w.at] == 0: // empty, the usual case
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

// Password walks a CString that is never printed.
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

// Text walks a text after its length, which is one octet (§5.2.21, §5.2.22).
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

// TLVs walks the optional parameters, which end a body (§3.2.4).
func (w *Walk) TLVs(v *[]byte) {
	switch w.mode {
	case read:
		*v = w.left()
		if n := wholeTLVs(*v); n < len(*v) && w.lenient {
			w.behind = len(*v) - n
			*v = (*v)[:n:n]
		} else if n < len(*v) {
			w.fail("optional parameters", StatusInvTLVStream, "do not end with the PDU")
		}
	case write:
		w.b = append(w.b, *v...)
	default:
		w.textTLVs(v)
	}
}

// Body reports whether a body that may be absent is present. Its first field is always
// printed to show that there is a body.
func (w *Walk) Body(there *bool) bool {
	switch w.mode {
	case read:
		*there = w.at < len(w.b)
	case scan:
		*there = w.line.More()
	case show:
		w.keep = true
	}
	return *there
}

// Status walks a command_status among the fields.
func (w *Walk) Status(name string, v *uint32) {
	switch {
	case w.mode == read && len(w.b)-w.at >= 4:
		*v = binary.BigEndian.Uint32(w.b[w.at:])
		w.at += 4
	case w.mode == read:
		w.fail(name, StatusInvCmdLen, "is missing")
	case w.mode == write:
		w.b = binary.BigEndian.AppendUint32(w.b, *v)
	default:
		w.textStatus(name, v)
	}
}

// List walks items after their number, which is one octet. *v holds them in wire format, with their
// number, and is nil if there are none. One field of an item must always be printed, so that the
// log shows where the next item begins.
//
// It walks them with a copy of the Walk, because the compiler would put every Walk on the heap
// if a Walk itself were passed to an interface's method.
func (w *Walk) List(count, name string, status uint32, v *[]byte, item Fields) {
	list := *w
	list.walkList(count, name, status, v, item)
	*w = list
}

func (w *Walk) walkList(count, name string, status uint32, v *[]byte, item Fields) {
	switch w.mode {
	case read:
		w.readList(count, status, v, item)
	case write:
		if listLen(*v) == 0 {
			w.b = append(w.b, 0)
		} else {
			w.b = append(w.b, *v...)
		}
	default:
		w.textList(count, name, v, item)
	}
}

func (w *Walk) readList(count string, status uint32, v *[]byte, item Fields) {
	if w.at == len(w.b) {
		w.fail(count, status, "is missing")
		return
	}
	from, n := w.at, w.b[w.at]
	w.at++
	for range n {
		if item.walk(w); w.err != nil {
			return
		}
	}
	*v = nil
	if n > 0 {
		*v = w.b[from:w.at:w.at]
	}
}

// listLen returns the number of items of a list in wire format.
func listLen(list []byte) int {
	if len(list) == 0 {
		return 0
	}
	return int(list[0])
}

// always prints the next field even when it is zero or empty.
func (w *Walk) always() {
	if w.mode == show {
		w.keep = true
	}
}

// refuse ends reading or scanning at a field whose value makes the fields after it unknown.
func (w *Walk) refuse(name string, status uint32, why string) {
	switch w.mode {
	case read:
		w.fail(name, status, why)
	case scan:
		w.line.Fail(name, why)
	}
}

// rest walks the octets after the last field. They have no meaning for us, but are kept so
// that the pdu log shows all octets of the peer.
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

// left reads all remaining octets. It returns nil if there are none.
func (w *Walk) left() []byte {
	if w.at == len(w.b) {
		return nil
	}
	b := w.b[w.at:]
	w.at = len(w.b)
	return b
}

// fail ends reading at a field that cannot be read.
func (w *Walk) fail(name string, status uint32, why string) {
	if w.err == nil {
		w.err = &Error{Status: status, Text: name + " " + why}
	}
	w.b, w.at = nil, 0
}
