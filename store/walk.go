package store

import (
	"encoding/binary"
	"fmt"
	"unsafe"

	"pmg/sms"
)

// A walkMode is what a walk does with the fields along which it is passed.
type walkMode uint8

const (
	reading walkMode = iota
	writing
	measuring // counts the octets that writing would append
)

// A walk is passed along the fields of a record in their stored order, and reads, writes or
// measures each field. Integers are big-endian. The first field that cannot be read ends a reading
// walk; the later fields keep their values.
type walk struct {
	mode  walkMode
	b     []byte // reading: the remaining octets; writing: the octets so far
	n     int    // measuring: the size so far
	v     uint8  // version of the record
	ahead int64  // how many nanoseconds the wall clock is ahead of the clock of the fields' times
	fault string // reading: name of the first field that cannot be read; empty: there is none
	limit bool   // reading: the field named in fault exists, but its value is not allowed
}

// take returns the next n octets. It returns nil after a fault.
func (w *walk) take(name string, n int) []byte {
	if w.fault != "" || n > len(w.b) {
		w.fail(name, false)
		return nil
	}
	b := w.b[:n:n]
	w.b = w.b[n:]
	return b
}

func (w *walk) fail(name string, limit bool) {
	if w.fault == "" {
		w.fault, w.limit = name, limit
	}
	w.b = nil
}

func (w *walk) u8(name string, v *uint8) {
	switch w.mode {
	case reading:
		if b := w.take(name, 1); b != nil {
			*v = b[0]
		}
	case writing:
		w.b = append(w.b, *v)
	case measuring:
		w.n++
	}
}

func (w *walk) u16(name string, v *uint16) {
	switch w.mode {
	case reading:
		if b := w.take(name, 2); b != nil {
			*v = binary.BigEndian.Uint16(b)
		}
	case writing:
		w.b = binary.BigEndian.AppendUint16(w.b, *v)
	case measuring:
		w.n += 2
	}
}

func (w *walk) u32(name string, v *uint32) {
	switch w.mode {
	case reading:
		if b := w.take(name, 4); b != nil {
			*v = binary.BigEndian.Uint32(b)
		}
	case writing:
		w.b = binary.BigEndian.AppendUint32(w.b, *v)
	case measuring:
		w.n += 4
	}
}

// network walks a field with a known network. If none is true, the field may be 0.
func (w *walk) network(v *uint32, none bool) {
	w.u32("network", v)
	if w.mode == reading && w.fault == "" && !sms.Network(*v).IsValid() && (*v != 0 || !none) {
		w.fail("network", true)
	}
}

// money walks a field with an amount above 0.
func (w *walk) money(name string, v *sms.Money) {
	n := uint64(*v)
	w.u64(name, &n)
	if *v = sms.Money(n); w.mode == reading && w.fault == "" && *v <= 0 {
		w.fail(name, true)
	}
}

func (w *walk) u64(name string, v *uint64) {
	switch w.mode {
	case reading:
		if b := w.take(name, 8); b != nil {
			*v = binary.BigEndian.Uint64(b)
		}
	case writing:
		w.b = binary.BigEndian.AppendUint64(w.b, *v)
	case measuring:
		w.n += 8
	}
}

// enum walks an integer of one octet that is at most highest.
func (w *walk) enum(name string, v *uint8, highest uint8) {
	w.u8(name, v)
	if w.mode == reading && *v > highest {
		w.fail(name, true)
	}
}

// time walks a time in Unix nanoseconds, stored as time of the wall clock. 0 means that the time is
// not set, and stays 0.
func (w *walk) time(name string, v *int64) {
	switch w.mode {
	case reading:
		b := w.take(name, 8)
		if b == nil {
			return
		}
		*v = shift(int64(binary.BigEndian.Uint64(b)), -w.ahead)
	case writing:
		w.b = binary.BigEndian.AppendUint64(w.b, uint64(shift(*v, w.ahead)))
	case measuring:
		w.n += 8
	}
}

// shift adds by to the time t, if t is set. The result of a set time is never 0.
func shift(t, by int64) int64 {
	if t == 0 {
		return 0
	}
	if t += by; t == 0 {
		return 1
	}
	return t
}

// octets8 walks up to 255 octets. Their length precedes them in one octet.
func (w *walk) octets8(name string, v *[]byte) {
	if w.mode == reading {
		if b := w.take(name, 1); b != nil {
			*v = w.rest(name, uint64(b[0]))
		}
		return
	}
	n := min(len(*v), 0xFF)
	if w.mode == writing {
		w.b = append(w.b, uint8(n))
	}
	w.n++
	w.put((*v)[:n])
}

// octets16 walks up to 65,535 octets. Their length precedes them in two octets.
func (w *walk) octets16(name string, v *[]byte) {
	if w.mode == reading {
		if b := w.take(name, 2); b != nil {
			*v = w.rest(name, uint64(binary.BigEndian.Uint16(b)))
		}
		return
	}
	n := min(len(*v), 0xFFFF)
	if w.mode == writing {
		w.b = binary.BigEndian.AppendUint16(w.b, uint16(n))
	}
	w.n += 2
	w.put((*v)[:n])
}

// octets32 walks octets. Their length precedes them in four octets.
func (w *walk) octets32(name string, v *[]byte) {
	if w.mode == reading {
		if b := w.take(name, 4); b != nil {
			*v = w.rest(name, uint64(binary.BigEndian.Uint32(b)))
		}
		return
	}
	if w.mode == writing {
		w.b = binary.BigEndian.AppendUint32(w.b, uint32(len(*v)))
	}
	w.n += 4
	w.put(*v)
}

// rest reads n octets. The result is a part of the record, or nil if n is 0.
func (w *walk) rest(name string, n uint64) []byte {
	if n > uint64(len(w.b)) {
		w.fail(name, false)
		return nil
	}
	if n == 0 {
		return nil
	}
	return w.take(name, int(n))
}

func (w *walk) put(b []byte) {
	if w.mode == writing {
		w.b = append(w.b, b...)
	}
	w.n += len(b)
}

// begin sets the version of a walk that writes or measures.
func (w *walk) begin(version uint8) {
	w.v = version
	w.u8("version", &w.v)
}

// atLeast reports whether the record has this version or a higher one.
func (w *walk) atLeast(version uint8) bool { return w.v >= version }

// version reads the first octet of a record, its version. what names the record in the error.
func (w *walk) version(what string, highest uint8) error {
	v := highest
	w.u8("version", &v)
	w.v = v
	if w.fault == "" && v > highest {
		return fmt.Errorf("cannot read a %s of version %d, only up to %d: %w", what, v, highest, ErrNewer)
	}
	if w.fault == "" && v == 0 {
		w.fail("version", true)
	}
	return w.err(what)
}

// err returns an error that names the field that could not be read, or nil.
func (w *walk) err(what string) error {
	switch {
	case w.fault == "":
		return nil
	case w.limit:
		return fmt.Errorf("cannot read a %s: its %s has a value that is not allowed", what, w.fault)
	}
	return fmt.Errorf("cannot read a %s: it ends before its %s", what, w.fault)
}

// end returns the error of err, or an error if octets remain after the record's end.
func (w *walk) end(what string) error {
	if w.fault == "" && len(w.b) > 0 {
		return fmt.Errorf("cannot read a %s: %d octets follow it", what, len(w.b))
	}
	return w.err(what)
}

// octetsOf returns the octets of a string without a copy. They must not be written to. It avoids an
// allocation for each name that is stored with a message.
func octetsOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }
