package sheet

import (
	"bytes"
	"fmt"
	"io"

	"pmg/internal/textfile"
)

// A Line is a line of a table, as it is written.
type Line struct {
	Number int // from 1
	Fields []string
}

// Sample returns the first lines of a table that are not empty, for people who name the columns. The error says which line cannot
// be read; those before it are returned.
func Sample(from io.Reader, charset string, most int) (all []Line, err error) {
	r := &reader{form: &Form{Charset: charset}}
	var p textfile.Problems
	whole := io.MultiReader(from, bytes.NewReader([]byte{'\n'})) // the last line may lack it
	_, failed := textfile.Read(whole, &p, func(line []byte, number int) bool {
		fields, wrong := r.fields(line)
		if wrong != nil {
			p.Add(number, "%v", wrong)
			return false
		}
		if len(fields) > 0 {
			row := make([]string, len(fields))
			for i := range fields {
				row[i] = string(fields[i])
			}
			all = append(all, Line{number, row})
		}
		return len(all) < most
	})
	if failed != nil {
		return all, failed
	}
	if p.Total > 0 {
		return all, fmt.Errorf("line %d: %s", p.First[0].Line, p.First[0].Text)
	}
	return all, nil
}
