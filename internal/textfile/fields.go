package textfile

import (
	"bytes"
	"errors"
	"fmt"
)

// SeparatorOf returns what stands between the fields of a line of CSV: a semicolon, a tab, a bar or a comma, the first of these
// that is in it.
func SeparatorOf(line []byte) byte {
	for _, c := range []byte{';', '\t', '|'} {
		if bytes.IndexByte(line, c) >= 0 {
			return c
		}
	}
	return ','
}

// Fields appends the fields of a line to fields, without the quotes and the blanks around them. The capacity of fields is how
// many there may be. It allocates nothing: tables have millions of lines.
func Fields(line []byte, between byte, fields [][]byte) ([][]byte, error) {
	for {
		var field []byte
		line = bytes.TrimLeft(line, " ")
		if len(line) > 0 && line[0] == '"' {
			end := bytes.IndexByte(line[1:], '"')
			if end < 0 {
				return nil, errors.New("a quote does not end")
			}
			field, line = line[1:1+end], bytes.TrimLeft(line[2+end:], " ")
			if len(line) > 0 && line[0] != between {
				return nil, errors.New("something follows a quote")
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
