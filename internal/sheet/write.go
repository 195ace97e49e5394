package sheet

import "strings"

// AppendCell appends a cell of a row of CSV. Before what spreadsheets would take for a formula it puts an apostrophe, as they do
// themselves: names of senders, references and reasons are what strangers write. What encoding/csv leaves bare and Read does not,
// such as a '#', is in quotes.
func AppendCell(row []byte, cell string) []byte {
	if cell != "" && strings.IndexByte("=+-@", cell[0]) >= 0 {
		cell = "'" + cell
	}
	if !strings.ContainsAny(cell, ",;|#\" \t\r\n") {
		return append(row, cell...)
	}
	return append(append(append(row, '"'), strings.ReplaceAll(cell, `"`, `""`)...), '"')
}

// AppendRow appends a row of CSV.
func AppendRow(row []byte, cells ...string) []byte {
	for i, cell := range cells {
		if i > 0 {
			row = append(row, ',')
		}
		row = AppendCell(row, cell)
	}
	return append(row, '\r', '\n')
}
