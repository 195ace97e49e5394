package document

import (
	"strings"
	"unicode/utf8"
)

// A Writer writes YAML, one option a line. Lines of depth 1 stand two blanks to the right of those of depth 0.
type Writer struct{ b strings.Builder }

// String returns what was written.
func (w *Writer) String() string { return w.b.String() }

// Append writes the text of another writer.
func (w *Writer) Append(o *Writer) { w.b.WriteString(o.String()) }

// Line writes a line.
func (w *Writer) Line(depth int, text string) {
	w.b.WriteString(strings.Repeat("  ", depth) + text + "\n")
}

// Option writes an option with its value as YAML has it.
func (w *Writer) Option(depth int, key, value string) { w.Line(depth, key+": "+value) }

// Section writes the head of a section or of a list, which is written next, one deeper.
func (w *Writer) Section(depth int, key string) { w.Line(depth, key+":") }

// Comment writes a comment on lines of so many columns, if no word is longer.
func (w *Writer) Comment(depth, columns int, text string) {
	for _, line := range Wrap(text, columns-2*depth-2) {
		w.Line(depth, strings.TrimSpace("# "+line))
	}
}

// Item writes an entry of a list, which item has written one deeper. The dash stands before its first option, below the comments
// of that option.
func (w *Writer) Item(depth int, item *Writer) {
	isBefore := true
	for line := range strings.Lines(item.String()) {
		if isBefore && line[2*depth+2] != '#' {
			line, isBefore = strings.Repeat("  ", depth)+"- "+line[2*depth+2:], false
		}
		w.b.WriteString(line)
	}
}

// Wrap breaks a text into lines of at most so many characters, at spaces. A longer word has a line of its own.
func Wrap(text string, width int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			lines = append(lines, line)
			line = ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	return append(lines, line)
}
