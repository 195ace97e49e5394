package kannel

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Limits of a configuration, so that no file fills the memory.
const (
	maxOctets = 16 << 20
	maxFiles  = 1000
	maxDepth  = 16 // levels of files that include each other
)

// A Group is a group of a configuration.
type Group struct {
	Kind, At string // e.g. "smsc" and "kannel.conf:12"
	Options  []Option
}

// An Option is an option of a group. At is its file and line.
type Option struct{ Name, Value, At string }

// A reader reads a file, and the files that it includes.
type reader struct {
	open    func(name string) ([]file, error)
	groups  []*Group
	current *Group
	octets  int
	files   int
	within  []string // the file that is being read and the files that include it, outermost first
}

// A file is the name and the text of a file.
type file struct{ name, text string }

// ReadFile reads a configuration, and the files and directories that it includes.
func ReadFile(name string) ([]*Group, error) {
	r := reader{open: openIn(filepath.Dir(name))}
	text, err := content(name)
	if err != nil {
		return nil, fmt.Errorf("cannot read the configuration: %w", err)
	}
	err = r.read(file{name, text})
	return r.groups, err
}

// openIn returns a function that opens a file, or the files of a directory. A relative name is relative to the
// working directory, as for Kannel, or else to the first file's directory.
func openIn(dir string) func(name string) ([]file, error) {
	return func(name string) ([]file, error) {
		info, err := os.Stat(name)
		if errors.Is(err, os.ErrNotExist) && !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
			info, err = os.Stat(name)
		}
		if err != nil {
			return nil, err
		}
		names := []string{name}
		if info.IsDir() {
			if names, err = filesOf(name); err != nil {
				return nil, err
			}
		}
		var files []file
		for _, name := range names {
			text, err := content(name)
			if err != nil {
				return nil, err
			}
			files = append(files, file{name, text})
		}
		return files, nil
	}
}

// filesOf returns the files of a directory, in the order of their names.
func filesOf(dir string) (names []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	if len(entries) > maxFiles {
		return nil, fmt.Errorf("%s has more than %d files", dir, maxFiles)
	}
	for _, e := range entries {
		if !e.IsDir() {
			names = append(names, filepath.Join(dir, e.Name()))
		}
	}
	return names, nil
}

// content returns the text of a regular file: reading a pipe could last forever.
func content(name string) (string, error) {
	info, err := os.Stat(name)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is not a regular file", name)
	}
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxOctets+1))
	return string(text), err
}

// read adds the groups of a file.
func (r *reader) read(f file) error {
	r.octets += len(f.text)
	switch r.files++; {
	case r.octets > maxOctets:
		return fmt.Errorf("cannot read %s: the files together have more than %d MiB", f.name, maxOctets>>20)
	case r.files > maxFiles:
		return fmt.Errorf("cannot read %s: more than %d files are included", f.name, maxFiles)
	case len(r.within) >= maxDepth || slices.Contains(r.within, f.name):
		return fmt.Errorf("cannot read %s: the files include each other: %s", f.name, strings.Join(r.within, ", "))
	}
	r.within = append(r.within, f.name)
	defer func() { r.within = r.within[:len(r.within)-1] }()
	number, begin, whole := 0, 0, ""
	for line := range strings.Lines(strings.TrimPrefix(f.text, "\ufeff")) {
		if number++; whole == "" {
			begin = number
		}
		var more bool
		line, more = continues(strings.TrimRight(line, "\r\n"))
		if whole += line; more {
			continue
		}
		if err := r.line(whole, fmt.Sprintf("%s:%d", f.name, begin)); err != nil {
			return err
		}
		whole = ""
	}
	err := r.line(whole, fmt.Sprintf("%s:%d", f.name, begin))
	r.current = nil // the end of a file ends a group
	return err
}

// continues reports whether the next line continues a line, because it ends with a single '\'. It returns the line
// without that '\'; "\\" at the end becomes "\".
func continues(line string) (string, bool) {
	before, ends := strings.CutSuffix(line, `\`)
	return before, ends && !strings.HasSuffix(before, `\`)
}

// line reads a line. An empty one ends a group.
func (r *reader) line(line, at string) error {
	line = strings.TrimSpace(line)
	if line == "" {
		r.current = nil
		return nil
	}
	if line[0] == '#' {
		return nil
	}
	name, value, found := strings.Cut(line, "=")
	name, value = strings.TrimSpace(name), unquote(strings.TrimSpace(value))
	switch {
	case !found || name == "":
		return fmt.Errorf("cannot read %s: a line must be: name = value", at)
	case name == "include":
		return r.include(value, at)
	case r.current == nil || name == "group" && r.current.Kind != "":
		r.current = &Group{At: at}
		r.groups = append(r.groups, r.current)
	}
	if name == "group" {
		r.current.Kind = value
		return nil
	}
	r.current.Options = append(r.current.Options, Option{name, value, at})
	return nil
}

func (r *reader) include(name, at string) error {
	files, err := r.open(name)
	if err != nil {
		return fmt.Errorf("cannot read what %s includes: %w", at, err)
	}
	for _, f := range files {
		if err := r.read(f); err != nil {
			return err
		}
	}
	return nil
}

// unquote returns a value without the quotes around it. In a quoted value '\' escapes '\' and quotes.
func unquote(s string) string {
	if len(s) < 2 || s[0] != '"' || s[len(s)-1] != '"' {
		return s
	}
	return strings.NewReplacer(`\\`, `\`, `\"`, `"`).Replace(s[1 : len(s)-1])
}
