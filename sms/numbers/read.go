package numbers

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"slices"

	"pmg/internal/textfile"
)

// What a file may have.
const (
	MaxEntries = 10_000_000 // numbers and prefixes
	MaxNames   = 1_000_000
)

// kind says that files are lists.
var kind = textfile.Kind{Name: "list", Check: "pmg list check"}

// ReadFile reads a file. If lines cannot be read, the error is *textfile.Problems, and the table has the other lines.
func ReadFile(path string) (*Table, error) {
	f, err := kind.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	t, err := read(f, path)
	if err != nil && t == nil {
		return nil, fmt.Errorf("cannot read list %s: %w", path, err)
	}
	return t, err
}

// read reads the lines of a file.
func read(from io.Reader, name string) (*Table, error) {
	b, p := newBuilder(runtime.Gosched), &textfile.Problems{Kind: kind, File: name}
	var room [maxName]byte
	lines, err := textfile.Read(from, p, func(line []byte, number int) bool {
		take(b, p, line, number, &room)
		digits, names := b.size()
		if digits <= MaxEntries && names <= MaxNames {
			return true
		}
		p.Add(number, "there are more than %d numbers and prefixes, or %d names; the rest was not read", MaxEntries, MaxNames)
		return false
	})
	if err != nil {
		return nil, err
	}
	t := b.table(lines)
	if p.Total > 0 {
		return t, p
	}
	return t, nil
}

// take adds the entry of a line, or its problem.
func take(b *builder, p *textfile.Problems, line []byte, number int, room *[maxName]byte) {
	if i := bytes.IndexByte(line, '#'); i >= 0 {
		line = line[:i]
	}
	line = bytes.TrimSpace(line)
	if len(line) == 0 {
		return
	}
	if last := line[len(line)-1]; line[0] == '"' || last == ';' || last == ',' { // as a spreadsheet writes a column
		if line = only(line); len(line) == 0 {
			return
		}
	}
	e, err := parse(line, room)
	if err != nil {
		p.Add(number, "cannot read %.40q: %v", line, err)
		return
	}
	b.add(&e)
}

// only returns the only field of a row of CSV that is not empty, or the row if there are several.
func only(line []byte) []byte {
	var room [16][]byte
	fields, err := textfile.Fields(line, textfile.SeparatorOf(line), room[:0])
	if err != nil {
		return line
	}
	full := slices.DeleteFunc(fields, func(field []byte) bool { return len(field) == 0 })
	switch len(full) {
	case 0:
		return nil
	case 1:
		return full[0]
	}
	return line
}
