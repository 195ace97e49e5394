package store

// A batch stands in the journal as one record, or as several of about pieceSize octets each, which count together:
//
//	version | flags | operation | operation | …
//
// The version and the flags have one octet. An operation is its kind, its number, and what it carries, as walk has it.
const (
	writtenVersion = 1
	pieceSize      = 512 << 10
)

// The flags of a record. A batch whose last record is missing was promised to nobody.
const (
	isFirst uint8 = 1 << iota
	isLast
)

// walk leads w along the fields of an operation, whose key and value are in b.
func (b *Batch) walk(w *walk, o *op) {
	key, value := []byte(nil), []byte(nil)
	if w.mode == writing {
		key, value = b.keyOf(*o), b.valueOf(*o)
	}
	w.enum("kind", (*uint8)(&o.kind), uint8(opDropEvents))
	w.u64("number", &o.id)
	switch o.kind {
	case opPut, opReplace, opEvent:
		w.octets32("value", &value)
	case opKeep:
		w.octets32("state", &key) // the record of a message that is put aside is in the store
	case opNote:
		w.octets32("key", &key)
		w.octets32("value", &value)
	}
	if w.mode == reading {
		o.at, o.key, o.len = len(b.octets), len(key), len(key)+len(value)
		b.octets = append(append(b.octets, key...), value...)
	}
}

// appendPiece appends the operations from the first on as a record, and returns how many there are in it.
func (b *Batch) appendPiece(record []byte, first int) ([]byte, int) {
	w := walk{mode: writing, b: append(record, writtenVersion, 0)}
	flags := uint8(isLast)
	n := first
	for ; n < len(b.ops); n++ {
		if len(w.b)-len(record)+b.ops[n].len > pieceSize && n > first {
			flags = 0
			break
		}
		b.walk(&w, &b.ops[n])
	}
	if first == 0 {
		flags |= isFirst
	}
	w.b[len(record)+1] = flags
	return w.b, n - first
}

// readPiece adds the operations of a record, and reports whether the batch is whole. What is there of another one, whose
// last record never came, is forgotten.
func (b *Batch) readPiece(record []byte) (whole bool, err error) {
	w := walk{b: record}
	if err := w.version("record of the journal", writtenVersion); err != nil {
		return false, err
	}
	var flags uint8
	w.enum("flags", &flags, isFirst|isLast)
	if flags&isFirst != 0 {
		b.Reset()
	}
	for w.fault == "" && len(w.b) > 0 {
		var o op
		if b.walk(&w, &o); w.fault == "" {
			b.ops = append(b.ops, o)
		}
	}
	return flags&isLast != 0, w.end("record of the journal")
}
