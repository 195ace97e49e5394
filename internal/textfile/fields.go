package textfile

import (
	"bytes"
	"errors"
	"fmt"
)

// SeparatorOf returns the separator of a line of CSV: the first of semicolon, tab, bar and comma that occurs outside quotes.
func SeparatorOf(line []byte) byte {
	if bytes.IndexByte(line, '"') >= 0 {
		parts := bytes.Split(line, []byte{'"'}) // every second part is within quotes
		outside := line[:0:0]
		for i := 0; i < len(parts); i += 2 {
			outside = append(outside, parts[i]...)
		}
		line = outside
	}
	for _, c := range []byte{';', '\t', '|'} {
		if bytes.IndexByte(line, c) >= 0 {
			return c
		}
	}
	return ','
}

// Fields appends the fields of a line to fields, without the quotes and blanks around them; a quote within quotes is doubled
// (RFC 4180 §2.7). The capacity of fields is the maximum number. It allocates only for doubled quotes, because tables have
// millions of lines.
func Fields(line []byte, between byte, fields [][]byte) ([][]byte, error) {
	for {
		var field []byte
		line = bytes.TrimLeft(line, " ")
		if len(line) > 0 && line[0] == '"' {
			end, doubled := endOf(line[1:])
			if end < 0 {
				return nil, errors.New("a closing quote is missing")
			}
			field, line = line[1:1+end], bytes.TrimLeft(line[2+end:], " ")
			if doubled {
				field = bytes.ReplaceAll(field, []byte(`""`), []byte{'"'})
			}
			if len(line) > 0 && line[0] != between {
				return nil, errors.New("characters follow a closing quote")
			}
		} else {
			end := bytes.IndexByte(line, between)
			if end < 0 {
				end = len(line)
			}
			field, line = line[:end], line[end:]
		}
		if len(fields) == cap(fields) {
			return nil, fmt.Errorf("it has more than %d columns", cap(fields))
		}
		fields = append(fields, bytes.TrimSpace(field))
		if len(line) == 0 {
			return fields, nil
		}
		line = line[1:]
	}
}

// endOf returns the index of the quote that ends a field, -1 if there is none, and whether there are doubled quotes before it.
func endOf(line []byte) (end int, doubled bool) {
	for at := 0; at < len(line); at++ {
		switch {
		case line[at] != '"':
		case at+1 < len(line) && line[at+1] == '"':
			doubled = true
			at++
		default:
			return at, doubled
		}
	}
	return -1, doubled
}
