package pdulog

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// stampLayout is the layout of the time in a rotated file's name. It is the time of the
// rotation, so every line in the file is older. Names sort in the order of their times.
const stampLayout = "20060102T150405.000000"

const (
	logSuffix = ".log"
	tmpSuffix = ".tmp" // suffix of a compressed file that is being written
)

// A segment is a rotated file of one connector.
type segment struct {
	path  string // of the plain file if it exists, otherwise of the compressed one
	stamp string
	form  Compression
}

// plain returns the path of the segment's plain file, which may not exist any more.
func (s segment) plain() string { return strings.TrimSuffix(s.path, s.form.suffix()) }

// checkName returns an error for a name that cannot be a file name, or that would make
// lines or file names ambiguous.
func checkName(connector string) error {
	if connector == "" || connector[0] == '.' || strings.ContainsAny(connector, "/\\ \t\r\n\x00") {
		return fmt.Errorf("cannot use %q as name of a pdu log: it must be a file name without spaces", connector)
	}
	if _, stamp, _, _ := splitName(connector + logSuffix); stamp != "" {
		return fmt.Errorf("cannot use %q as name of a pdu log: it ends like the name of a rotated file", connector)
	}
	return nil
}

// splitName parses a file name: "clients.log", "clients-<stamp>.log",
// "clients-<stamp>.log.gz" or "clients-<stamp>.log.zst". The stamp is empty for the file
// being written.
func splitName(name string) (connector, stamp string, form Compression, ok bool) {
	for _, f := range compressions {
		if plain, found := strings.CutSuffix(name, f.suffix()); found {
			name, form = plain, f
		}
	}
	name, ok = strings.CutSuffix(name, logSuffix)
	if !ok || name == "" {
		return "", "", "", false
	}
	if i := len(name) - len(stampLayout) - 1; i > 0 && name[i] == '-' {
		if _, err := time.Parse(stampLayout, name[i+1:]); err == nil {
			return name[:i], name[i+1:], form, true
		}
	}
	return name, "", "", form == ""
}

// rotated returns the rotated files of a connector, oldest first. If a file exists both
// plain and compressed, it returns the plain one.
func rotated(dir, connector string) ([]segment, error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var found []segment
	for _, f := range files {
		if c, stamp, form, ok := splitName(f.Name()); ok && c == connector && stamp != "" {
			found = append(found, segment{filepath.Join(dir, f.Name()), stamp, form})
		}
	}
	slices.SortFunc(found, func(a, b segment) int {
		return cmp.Or(cmp.Compare(a.stamp, b.stamp), cmp.Compare(a.path, b.path))
	})
	return slices.CompactFunc(found, func(a, b segment) bool { return a.stamp == b.stamp }), nil
}

// Connectors returns the names of the connectors that have a pdu log in dir, sorted.
func Connectors(dir string) ([]string, error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("cannot list pdu logs: %w", err)
	}
	var names []string
	for _, f := range files {
		if c, _, _, ok := splitName(f.Name()); ok && !f.IsDir() {
			names = append(names, c)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}
