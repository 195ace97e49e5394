package config

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// maxPrefixFile is the largest destination_file: about a million prefixes.
const maxPrefixFile = 16 << 20

// Prefixes returns the prefixes of destinations that the route takes, without a
// leading '+': those of destination and of destination_file. An empty prefix takes any
// destination.
func (r *Route) Prefixes() []string {
	if len(r.Destination)+len(r.fromFile) == 0 {
		return []string{""}
	}
	all := make([]string, 0, len(r.Destination)+len(r.fromFile))
	for _, p := range r.Destination {
		all = append(all, strings.TrimPrefix(p, "+"))
	}
	return append(all, r.fromFile...)
}

// takesAny reports whether the route takes every message.
func (r *Route) takesAny() bool {
	return r.Account+r.From+r.Source+r.DestinationFile == "" && len(r.Keyword) == 0 && strings.Join(r.Prefixes(), "") == ""
}

// prefixFiles reads the files of prefixes that routes name.
func (d *decoder) prefixFiles(c *Config) {
	for i := range c.Routes {
		r := &c.Routes[i]
		if r.DestinationFile == "" {
			continue
		}
		var err error
		if r.fromFile, err = readPrefixes(d.dir, r.DestinationFile); err != nil {
			d.problem(fmt.Sprintf("routes[%d].destination_file", i), "%v", err)
		}
	}
}

// readPrefixes reads a file with a prefix in each line. The text after a '#' is a
// comment.
func readPrefixes(dir, name string) ([]string, error) {
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	text, err := readFile(name, maxPrefixFile)
	if err != nil {
		return nil, fmt.Errorf("cannot be read: %w", err)
	}
	var prefixes []string
	number := 0
	for line := range strings.Lines(text) {
		number++
		line, _, _ = strings.Cut(line, "#")
		prefix := strings.TrimPrefix(strings.TrimSpace(line), "+")
		switch {
		case !isDigits(prefix):
			return nil, fmt.Errorf("names %s, whose line %d must be digits, not %q", name, number, prefix)
		case prefix != "":
			prefixes = append(prefixes, prefix)
		}
	}
	if prefixes == nil {
		return nil, fmt.Errorf("names %s, which has no prefix: write one in each line", name)
	}
	return prefixes, nil
}

// isDigits reports whether s contains nothing but digits.
func isDigits(s string) bool { return strings.Trim(s, "0123456789") == "" }

// readFile reads a file of at most limit octets. It accepts regular files only, because
// a pipe or a terminal could block forever.
func readFile(name string, limit int64) (string, error) {
	info, err := os.Stat(name)
	if errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("%s does not exist: make the file, or name another", name)
	}
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", errors.New("it is not a regular file: name a regular file")
	}
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return "", err
	}
	if int64(len(data)) > limit {
		return "", fmt.Errorf("it is larger than %v: name a smaller file", Size(limit))
	}
	return string(data), nil
}
