// Package document reads a YAML file, and reports errors and their places in plain words.
//
// # Start reading
//
// Parse, Problem.
package document

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// marks are the byte order marks that editors put in front of a file.
var marks = [...]struct{ octets, name string }{
	{"\xef\xbb\xbf", "begins with a byte order mark: save it as UTF-8 without one"},
	{"\xff\xfe", "is UTF-16: save it as UTF-8"},
	{"\xfe\xff", "is UTF-16: save it as UTF-8"},
}

// Parse returns the YAML tree of a file, or nil if it has no content. lines are the lines of data.
func Parse(name string, data []byte, lines []string) (ast.Node, error) {
	if p, ok := octets(name, data, lines); !ok {
		return nil, Problems{p}
	}
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		return nil, syntax(name, lines, err)
	}
	docs := slices.DeleteFunc(file.Docs, func(doc *ast.DocumentNode) bool {
		return doc.Body == nil || doc.Body.Type() == ast.DirectiveType
	})
	switch len(docs) {
	case 0:
		return nil, nil
	case 1:
		return docs[0].Body, nil
	}
	p := Problem{File: name, Message: "must be one YAML document: remove the --- between its parts"}
	if t := docs[1].Start; t != nil {
		p.Line, p.Column = t.Position.Line, t.Position.Column
	}
	return nil, Problems{p}
}

// octets checks that data is text.
func octets(name string, data []byte, lines []string) (Problem, bool) {
	p := Problem{File: name, Line: 1, Column: 1}
	for _, m := range marks {
		if bytes.HasPrefix(data, []byte(m.octets)) {
			p.Message = m.name
			return p, false
		}
	}
	for i, line := range lines {
		for column := 0; column < len(line); {
			r, n := utf8.DecodeRuneInString(line[column:])
			if r == utf8.RuneError && n == 1 || r == 0 {
				p.Line, p.Column = i+1, column+1
				p.Message = fmt.Sprintf(
					"must be UTF-8 text, and has the octet 0x%02x here: remove it, or save the file as UTF-8", line[column],
				)
				return p, false
			}
			column += n
		}
	}
	return p, true
}

// remedies maps reports of the YAML parser to what the user can do.
var remedies = [...]struct{ report, remedy string }{
	{"non-map value", "write it as key: value, with a colon and a space behind the key"},
	{"unexpected key name", "write it as key: value, with a colon and a space behind the key"},
	{
		"mapping value is not allowed",
		"the next line is indented further than this one: begin both in the same column; or the value has a colon in " +
			"it: put it in quotes",
	},
	{"value is not allowed", "begin the options of a section in the same column; or remove the superfluous bracket or word"},
	{"could not find flow map", "the { has no }: add it"},
	{"flow mapping end token", "the { has no }: add it"},
	{"sequence end token", "the [ has no ]: add it"},
	{"',' or '}' must be specified", "add the comma or the }; a value with { } [ ] or ${ in it needs quotes"},
	{"',' or ']' must be specified", "add the comma or the ]; a value with { } [ ] or ${ in it needs quotes"},
	{"expected sequence element", "remove the superfluous comma"},
	{"double-quoted text", "add the \" that ends it"},
	{"single-quoted text", "add the ' that ends it"},
	{"already defined", "keep one of the two, with the options of both"},
	{"escape character", "in double quotes a \\ is written \\\\; or put the value in single quotes"},
}

// syntax turns the YAML parser's error into Problems that contain a remedy.
func syntax(name string, lines []string, err error) error {
	var at yaml.Error
	if !errors.As(err, &at) || at.GetToken() == nil {
		return Problems{{File: name, Line: 1, Column: 1, Message: "is not YAML: " + err.Error()}}
	}
	position := at.GetToken().Position
	p := Problem{File: name, Line: position.Line, Column: position.Column, Text: SourceLine(lines, position.Line)}
	p.Message = at.GetMessage()
	if line := lines[min(max(p.Line, 1), len(lines))-1]; strings.Contains(
		line[:len(line)-len(strings.TrimLeft(line, " \t"))], "\t",
	) {
		p.Message = "is indented with a tab: YAML allows only spaces, so replace the tab by spaces"
		return Problems{p}
	}
	for _, r := range remedies {
		if strings.Contains(p.Message, r.report) {
			p.Message += ": " + r.remedy
			return Problems{p}
		}
	}
	p.Message += ": put a value with special characters in quotes"
	return Problems{p}
}

// A Problem is one fault of a file, and its position.
type Problem struct {
	File    string
	Line    int    // line number from 1; 0: the problem is about the whole file
	Column  int    // position in the line, from 1
	Path    string // the option: "connectors[operator].window"
	Message string
	Text    string // the line as in the file, without passwords
}

// A Warning is a Problem that does not prevent the use of the file.
type Warning = Problem

// String formats the problem as compilers do: place and message, and below them the line of the file.
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

// Masked replaces a secret in everything that is shown.
const Masked = "********"

// secretLine matches the part of a line that may hold a secret: a password, a key, or a token. It matches too
// much rather than too little, because it must also work in a file that is not
// YAML or has a typing error in the key.
var secretLine = regexp.MustCompile(`(?i)((pa?s+w\w*|secret|authorization|headers|key|recovery_codes)["']?\s*[:= ]|pmg_|whsec_).*`)

// SourceLine returns the line that a problem shows, without secrets.
func SourceLine(lines []string, line int) string {
	if line < 1 || line > len(lines) {
		return ""
	}
	return secretLine.ReplaceAllString(strings.TrimRight(lines[line-1], " \t\r"), "$1 "+Masked)
}

// PlaceOf returns the position at which a reader sees the value begin. A block mapping
// begins at its first key, though its token is the colon after that.
func PlaceOf(n ast.Node) *token.Token {
	if n == nil {
		return nil
	}
	if m, ok := n.(*ast.MappingNode); ok && !m.IsFlowStyle && len(m.Values) > 0 {
		return m.Values[0].Key.GetToken()
	}
	return n.GetToken()
}

// TextOf returns a single value as it is written in the file: 0123 stays 0123.
func TextOf(n ast.Node) (string, bool) {
	if l, ok := n.(*ast.LiteralNode); ok {
		return l.Value.Value, true
	}
	if _, ok := n.(ast.ScalarNode); ok {
		return n.GetToken().Value, true
	}
	return "", false
}
