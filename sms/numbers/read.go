package numbers

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
)

// What a file may have.
const (
	MaxEntries = 10_000_000 // numbers and prefixes
	MaxNames   = 1_000_000
	maxLine    = 64 << 10
	mostShown  = 10 // problems
)

// A Problem is a line that cannot be read.
type Problem struct {
	Line int // from 1
	Text string
}

// Problems is the error of a file with lines that cannot be read.
type Problems struct {
	File  string
	First []Problem
	Total int
}

// Error shows the first problem.
func (p *Problems) Error() string {
	text := fmt.Sprintf("%s:%d: %s", p.File, p.First[0].Line, p.First[0].Text)
	if p.Total > 1 {
		text += fmt.Sprintf("; %d more lines cannot be read, which pmg list check shows", p.Total-1)
	}
	return text
}

func (p *Problems) add(line int, format string, a ...any) {
	if p.Total++; len(p.First) < mostShown {
		p.First = append(p.First, Problem{line, fmt.Sprintf(format, a...)})
	}
}

// ReadFile reads a file. If lines cannot be read, the error is *Problems, and the table has the other lines.
func ReadFile(path string) (*Table, error) {
	f, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	t, err := read(f, path)
	if err != nil && t == nil {
		return nil, fmt.Errorf("cannot read list %s: %w", path, err)
	}
	return t, err
}

// openRegular opens a file that is neither a pipe nor a directory, because these could block, or end never.
func openRegular(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("cannot read list %s: %w: make the file, or name another", path, os.ErrNotExist)
	}
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is not a regular file: name a regular file")
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read list %s: %w", path, err)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read list %s: %w", path, err)
	}
	return f, nil
}

// read reads the lines of a file.
func read(from io.Reader, name string) (*Table, error) {
	in, b, p := bufio.NewReaderSize(from, maxLine), newBuilder(runtime.Gosched), &Problems{File: name}
	var room [maxName]byte
	lines := 0
	for {
		line, err := in.ReadSlice('\n')
		if len(line) > 0 {
			lines++
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			p.add(lines, "the line is longer than %d octets; the rest of the file was not read", maxLine)
			return b.table(lines), p
		case err != nil && !errors.Is(err, io.EOF):
			return nil, err
		case err != nil && len(line) > 0:
			p.add(lines, "the last line does not end with a newline, so the file may be cut: end it with one")
		case err == nil:
			take(b, p, line, lines, &room)
		}
		if digits, names := b.size(); digits > MaxEntries || names > MaxNames {
			p.add(lines, "there are more than %d numbers and prefixes, or %d names; the rest was not read", MaxEntries, MaxNames)
			return b.table(lines), p
		}
		if err == nil {
			continue
		}
		t := b.table(lines)
		if p.Total > 0 {
			return t, p
		}
		return t, nil
	}
}

// take adds the entry of a line, or its problem.
func take(b *builder, p *Problems, line []byte, number int, room *[maxName]byte) {
	if number == 1 {
		line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
	}
	if i := bytes.IndexByte(line, '#'); i >= 0 {
		line = line[:i]
	}
	line = bytes.TrimSpace(line)
	if len(line) == 0 {
		return
	}
	e, err := parse(line, room)
	if err != nil {
		p.add(number, "cannot read %.40q: %v", line, err)
		return
	}
	b.add(&e)
}
