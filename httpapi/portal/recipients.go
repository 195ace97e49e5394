package portal

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"pmg/internal/sheet"
	"pmg/internal/texts"
	"pmg/sms/number"
)

// Limits of a mailing.
const (
	mostUpload     = 2 << 20 // octets of the form with the file
	mostRecipients = 10_000
	mostFaults     = 20     // faults that are shown
	mostText       = 10_000 // octets of the text
	mostPlaces     = 32     // places in the text that fields fill: few octets could become many
	mostCell       = 1000   // octets of a field
)

// toNames are the names of the column with the numbers; the first column has them in a table without one.
var toNames = []string{"to", "number", "mobile", "phone", "msisdn", "recipient"}

// recipients are the rows of a table with numbers and with what texts have in the places of columns' names.
type recipients struct {
	columns []string // names, in small letters
	to      int      // column of the numbers
	rows    []sheet.Line
}

// readRecipients reads a table, whose first line names the columns. wrong is the reason why it cannot be read: a part of it is
// nobody's mailing.
func readRecipients(file []byte) (r recipients, wrong texts.Message) {
	if !utf8.Valid(file) || bytes.IndexByte(file, 0) >= 0 {
		return r, texts.Say("The file is not in UTF-8: save it as CSV UTF-8.")
	}
	all, err := sheet.Sample(bytes.NewReader(file), "", mostRecipients+2)
	switch {
	case err != nil:
		return r, texts.Say("The file cannot be read: %s.", err)
	case len(all) < 2:
		return r, texts.Say("The file must have a line with the names of its columns, and a line for each recipient.")
	case len(all)-1 > mostRecipients:
		return r, texts.Say("The file may have %s recipients at most.", mostRecipients)
	}
	for _, name := range all[0].Fields {
		r.columns = append(r.columns, strings.ToLower(strings.TrimSpace(name)))
	}
	if i := slices.IndexFunc(r.columns, func(name string) bool { return slices.Contains(toNames, name) }); i >= 0 {
		r.to = i
	}
	r.rows = all[1:]
	for _, row := range all {
		if slices.ContainsFunc(row.Fields, func(cell string) bool { return len(cell) > mostCell }) {
			return r, texts.Say("Line %s has a field of more than %s octets.", row.Number, mostCell)
		}
	}
	return r, wrong
}

var placeholder = regexp.MustCompile(`\{([^{}]{1,64})\}`)

// wrongText returns the reason why a text cannot be sent to the recipients, none if it can.
func (r *recipients) wrongText(text string) (wrong texts.Message) {
	places := placeholder.FindAllStringSubmatch(text, mostPlaces+1)
	switch {
	case text == "":
		return texts.Say("A text is needed.")
	case len(text) > mostText || len(places) > mostPlaces:
		return texts.Say("The text may have %s octets and %s places for fields at most.", mostText, mostPlaces)
	}
	for _, found := range places {
		if !slices.Contains(r.columns, strings.ToLower(found[1])) {
			return texts.Say("The file has no column for %s.", found[0])
		}
	}
	return wrong
}

// cell returns the field of a row, "" if the row is shorter.
func cell(row []string, column int) string {
	if column >= len(row) {
		return ""
	}
	return strings.TrimSpace(row[column])
}

// message returns the message to the recipient of a row.
func (r *recipients) message(i int, from, text string) sending {
	row := r.rows[i].Fields
	filled := placeholder.ReplaceAllStringFunc(text, func(place string) string {
		return cell(row, slices.Index(r.columns, strings.ToLower(place[1:len(place)-1])))
	})
	return sending{From: from, To: cell(row, r.to), Text: filled}
}

// repeated returns the line on which the number of each row was before, by row.
func (r *recipients) repeated() map[int]int {
	first, again := map[string]int{}, map[int]int{}
	for i, row := range r.rows {
		key := number.Read(cell(row.Fields, r.to)).Key()
		if before, ok := first[key]; ok {
			again[i] = before
		} else {
			first[key] = row.Number
		}
	}
	return again
}
