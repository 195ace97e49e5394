package pdulog

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"pmg/internal/logfile"
)

// checkName returns an error for a name that cannot be a file name, or that would make
// lines or file names ambiguous.
func checkName(connector string) error {
	if connector == "" || connector[0] == '.' || strings.ContainsAny(connector, "/\\ \t\r\n\x00") {
		return fmt.Errorf("cannot use %q as name of a pdu log: it must be a file name without spaces", connector)
	}
	if _, stamp, _, _ := logfile.Split(connector + logfile.Suffix); stamp != "" {
		return fmt.Errorf("cannot use %q as name of a pdu log: it ends like the name of a rotated file", connector)
	}
	return nil
}

// Connectors returns the names of the connectors that have a pdu log in dir, sorted.
func Connectors(dir string) ([]string, error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("cannot list pdu logs: %w", err)
	}
	var names []string
	for _, f := range files {
		if c, _, _, ok := logfile.Split(f.Name()); ok && !f.IsDir() {
			names = append(names, c)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}
