package web

import (
	"net/http"
	"strings"
)

// helpName is the name of the page that finds commands, options and documents.
const helpName = "help"

// mostWord is the maximum length of what is looked for, in octets.
const mostWord = 100

// A Found is a command, an option or a section of a document that has a word.
type Found struct {
	Subject string
	Name    string
	Text    string
	Whole   string // further text, which is shown when somebody opens it
}

// A helpPage is the model of the page Help.
type helpPage struct {
	Q     string
	Found []Found
	Wrong string // error of the query; "": the query is valid
}

// IsStill reports that nothing of the page changes.
func (helpPage) IsStill() bool { return true }

// Begins reports whether a subject begins with a row.
func (p helpPage) Begins(row int) bool {
	return row == 0 || p.Found[row].Subject != p.Found[row-1].Subject
}

func (s *site) help(r *http.Request) any {
	p := helpPage{Q: strings.TrimSpace(r.URL.Query().Get("q"))}
	if len(p.Q) > mostWord {
		p.Wrong = "The word is too long."
		return p
	}
	if p.Q != "" {
		p.Found = s.Find(p.Q)
	}
	return p
}
