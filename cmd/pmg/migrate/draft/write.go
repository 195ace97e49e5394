package draft

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"pmg/config/document"
)

// width is the number of columns of a comment.
const width = 110

const legend = `It has passwords and other secrets: only its owner may be able to read it.
A comment with DECIDE says what has no equal in PMG, or needs a decision.
"pmg config check -c FILE" checks the file, "pmg config describe" explains all options.`

// Bytes returns the file, as YAML.
func (d *Draft) Bytes() []byte {
	var w writer
	w.comment(0, d.Title, false)
	for line := range strings.Lines(legend) {
		w.comment(0, strings.TrimSpace(line), false)
	}
	if len(d.Remarks) > 0 {
		w.Line(0, "")
		w.remarks(0, d.Remarks)
	}
	for _, e := range d.Sections {
		w.section(e)
	}
	w.list("accounts", d.Accounts)
	w.list("connectors", d.Connectors)
	w.list("routes", d.Routes)
	return []byte(w.String())
}

// A writer writes a draft.
type writer struct{ document.Writer }

// remarks writes comments, those that need a decision first.
func (w *writer) remarks(depth int, remarks []Remark) {
	for _, decide := range []bool{true, false} {
		for _, n := range remarks {
			if n.Decide == decide {
				w.comment(depth, n.Text, decide)
			}
		}
	}
}

// comment writes a comment, wrapped into lines. No text can end the comment.
func (w *writer) comment(depth int, text string, decide bool) {
	text = printable(text)
	if decide {
		text = "DECIDE: " + text
	}
	lines := document.Wrap(text, width-2*depth-2)
	for i, line := range lines {
		if i > 0 {
			line = "  " + line
		}
		w.Line(depth, "# "+line)
	}
}

// printable returns a text on one line, with escapes for characters that are not printable.
func printable(text string) string {
	var b strings.Builder
	for _, r := range text {
		if strconv.IsPrint(r) && r != utf8.RuneError {
			b.WriteRune(r)
		} else {
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		}
	}
	return b.String()
}

func (w *writer) section(e *Entry) {
	if len(e.Fields)+len(e.Remarks) == 0 {
		return
	}
	w.Line(0, "")
	w.head(0, e)
	switch {
	case e.Name == "":
		w.fields(0, e.Fields)
	case len(e.Fields) > 0:
		w.Section(0, e.Name)
		w.fields(1, e.Fields)
	}
}

// head writes the origin of an entry, and its comments.
func (w *writer) head(depth int, e *Entry) {
	if e.From != "" {
		w.comment(depth, e.From, false)
	}
	w.remarks(depth, e.Remarks)
}

// list writes the entries of a list, even if there are none.
func (w *writer) list(name string, entries []*Entry) {
	w.Line(0, "")
	if len(entries) == 0 {
		w.Option(0, name, "[]")
		return
	}
	w.Section(0, name)
	for _, e := range entries {
		w.head(1, e)
		var item writer
		item.fields(2, e.Fields)
		w.Item(1, &item.Writer)
	}
}

func (w *writer) fields(depth int, fields []Field) {
	for _, f := range fields {
		if section, ok := f.Value.(Flow); ok && isDeep(section) {
			w.Section(depth, f.Key)
			w.fields(depth+1, section)
			continue
		}
		flows, ok := f.Value.([]Flow)
		if !ok {
			w.Option(depth, f.Key, Text(f.Value))
			continue
		}
		w.Section(depth, f.Key)
		for _, flow := range flows {
			w.Line(depth+1, "- "+Text(flow))
		}
	}
}

// isDeep reports whether a section contains sections, so that each option is written on its own line.
func isDeep(section Flow) bool {
	return slices.ContainsFunc(section, func(f Field) bool { _, ok := f.Value.(Flow); return ok })
}

// Text returns a value in the form of YAML.
func Text(value any) string {
	switch v := value.(type) {
	case string:
		return strconv.Quote(utf8Of(v))
	case []string:
		quoted := make([]string, len(v))
		for i, s := range v {
			quoted[i] = Text(s)
		}
		return "[" + strings.Join(quoted, ", ") + "]"
	case Flow:
		options := make([]string, len(v))
		for i, f := range v {
			options[i] = f.Key + ": " + Text(f.Value)
		}
		return "{" + strings.Join(options, ", ") + "}"
	case []Flow:
		flows := make([]string, len(v))
		for i, f := range v {
			flows[i] = Text(f)
		}
		return "[" + strings.Join(flows, ", ") + "]"
	}
	return fmt.Sprint(value)
}

// utf8Of returns a text, converted from Latin-1 if it is not UTF-8.
func utf8Of(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	runes := make([]rune, len(s))
	for i := range len(s) {
		runes[i] = rune(s[i])
	}
	return string(runes)
}
