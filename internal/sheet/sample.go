package sheet

import (
	"io"

	"pmg/internal/textfile"
)

// Sample returns the fields of the first lines of a table, as they are written, for people who name the columns.
func Sample(from io.Reader, charset string, most int) (rows [][]string) {
	r := &reader{form: &Form{Charset: charset}}
	_, _ = textfile.Read(from, &textfile.Problems{}, func(line []byte, _ int) bool {
		fields, err := r.fields(line)
		if err != nil || len(fields) > MaxColumns {
			return false
		}
		row := make([]string, len(fields))
		for i := range fields {
			row[i] = string(fields[i])
		}
		if len(row) > 0 {
			rows = append(rows, row)
		}
		return len(rows) < most
	})
	return rows
}
