// Package docs has the documents, by sections.
//
// # Start reading
//
// Sections.
package docs

import (
	"embed"
	"io/fs"
	"strings"
)

//go:embed *.md
var files embed.FS

// A Section is a part of a document, from a heading to the next one.
type Section struct {
	File  string // name of the file: http.md
	Title string // the headings, the outer one first: The HTTP API: Requests
	Text  string // as it is written
}

// Sections returns the sections of all documents.
func Sections() (all []Section) {
	names, _ := fs.Glob(files, "*.md") // the pattern is valid
	for _, name := range names {
		b, err := files.ReadFile(name)
		if err != nil {
			panic(err) // the file is embedded
		}
		all = append(all, sectionsOf(name, string(b))...)
	}
	return all
}

// sectionsOf splits a document at its headings, of which a block of code has none.
func sectionsOf(file, text string) (all []Section) {
	var outer []string // the headings around a line
	isCode := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "```") {
			isCode = !isCode
		}
		marks := len(line) - len(strings.TrimLeft(line, "#"))
		if !isCode && marks > 0 && strings.HasPrefix(line[marks:], " ") {
			outer = append(outer[:min(marks-1, len(outer))], strings.TrimSpace(line[marks:]))
			all = append(all, Section{File: file, Title: strings.Join(outer, ": ")})
			continue
		}
		if n := len(all); n > 0 {
			all[n-1].Text += line
		}
	}
	for i := range all {
		all[i].Text = strings.TrimSpace(all[i].Text)
	}
	return all
}
