// Package textfile reads large files of lines that other programs may replace while they are in use: lists of numbers, tables of
// networks.
//
// # Start reading
//
// textfile.go (lines and their problems), file.go (a file that changes), check.go (the report of a command).
package textfile

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
)

// MaxLine is the maximum length of a line in octets, with its comment.
const MaxLine = 64 << 10

// mostShown is the maximum number of problems that are kept.
const mostShown = 10

// A Kind is a kind of files.
type Kind struct {
	Name  string // name of the kind, as in errors: list
	Check string // the command that checks a file of the kind; "": no command does
}

// A Problem is a line that cannot be read.
type Problem struct {
	Line int // number of the line, from 1
	Text string
}

// Problems is the error of a file with lines that cannot be read.
type Problems struct {
	Kind  Kind
	File  string
	First []Problem
	Total int
}

// Error shows the first problem.
func (p *Problems) Error() string {
	text := fmt.Sprintf("%s:%d: %s", p.File, p.First[0].Line, p.First[0].Text)
	if p.Total > 1 {
		text += fmt.Sprintf("; %d more lines cannot be read", p.Total-1)
		if p.Kind.Check != "" {
			text += ", which " + p.Kind.Check + " shows"
		}
	}
	return text
}

// Add adds the problem of a line.
func (p *Problems) Add(line int, format string, a ...any) {
	if p.Total++; len(p.First) < mostShown {
		p.First = append(p.First, Problem{line, fmt.Sprintf(format, a...)})
	}
}

// Open opens a file that is neither a pipe nor a directory, because reading these could block, or never end.
func (k Kind) Open(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("cannot read %s %s: %w: make the file, or name another", k.Name, path, os.ErrNotExist)
	}
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is not a regular file: name a regular file")
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read %s %s: %w", k.Name, path, err)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read %s %s: %w", k.Name, path, err)
	}
	return f, nil
}

// ReadFile returns the result of reading a file. If some lines are invalid, the error is *Problems, and the result has the
// other lines.
func ReadFile[T any](k Kind, path string, read func(io.Reader) (T, error)) (t T, err error) {
	f, err := k.Open(path)
	if err != nil {
		return t, err
	}
	defer f.Close()
	t, err = read(f)
	if _, isOfLines := errors.AsType[*Problems](err); err != nil && !isOfLines {
		err = fmt.Errorf("cannot read %s %s: %w", k.Name, path, err)
	}
	return t, err
}

// Read passes each line to take, without a byte order mark and the blanks around it, until take returns false. It returns the
// number of lines read. A line that is too long, and a last line without a newline, are problems.
func Read(from io.Reader, p *Problems, take func(line []byte, number int) bool) (lines int, err error) {
	in := bufio.NewReaderSize(from, MaxLine)
	for {
		line, err := in.ReadSlice('\n')
		if len(line) > 0 {
			lines++
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			p.Add(lines, "the line is longer than %d octets; the rest of the file was not read", MaxLine)
			return lines, nil
		case errors.Is(err, io.EOF):
			if len(line) > 0 {
				p.Add(lines, "the last line does not end with a newline, so the file may be incomplete: end it with one")
			}
			return lines, nil
		case err != nil:
			return lines, err
		}
		if lines == 1 {
			line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
		}
		if !take(bytes.TrimSpace(line), lines) {
			return lines, nil
		}
	}
}
