package config

import (
	"fmt"
	"regexp"
	"strings"
)

// A Problem is one fault of a file, and its position.
type Problem struct {
	File    string
	Line    int // from 1; 0 when it is about the whole file
	Column  int
	Path    string // the option: "connectors[1].window"
	Message string
	Text    string // the line as in the file, without passwords
}

// A Warning is a Problem that does not keep the file from being used.
type Warning = Problem

// String formats the problem as compilers do, with the line below it.
func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(p.File)
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", p.Line, p.Column)
	}
	b.WriteString(": ")
	if p.Path != "" {
		b.WriteString(p.Path + " ")
	}
	b.WriteString(p.Message)
	if p.Text != "" {
		fmt.Fprintf(&b, "\n%6d | %s", p.Line, p.Text)
	}
	return b.String()
}

// Problems is the error of a file that cannot be used: all of its faults.
type Problems []Problem

// Error returns the problems one after the other.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// secretLine matches the part of a line that may hold a secret: a password, a key, or a token. It matches too
// much rather than too little, because it must also work in a file that is not
// YAML or has a typing error in the key.
var secretLine = regexp.MustCompile(`(?i)((pa?s+w\w*|\bkey)["']?\s*[:= ]|pmg_|whsec_).*`)

// sourceLine returns the line that a problem shows, without secrets.
func sourceLine(lines []string, line int) string {
	if line < 1 || line > len(lines) {
		return ""
	}
	return secretLine.ReplaceAllString(strings.TrimRight(lines[line-1], " \t\r"), "$1 "+masked)
}
