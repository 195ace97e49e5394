package sheet

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"pmg/internal/textfile"
)

// maxPrefixes is the maximum number of prefixes in a file.
const maxPrefixes = 1_000_000

// ReadPrefixes reads a file of prefixes, such as those of a route, without a + in front.
func ReadPrefixes(path string) ([]string, error) {
	kind := textfile.Kind{Name: "prefixes"}
	prefixes, err := textfile.ReadFile(kind, path, func(from io.Reader) ([]string, error) {
		return readPrefixes(from, &textfile.Problems{Kind: kind, File: path})
	})
	switch {
	case err != nil:
		return nil, err
	case prefixes == nil:
		return nil, fmt.Errorf("%s has no prefix: write one in each line", path)
	}
	return prefixes, nil
}

func readPrefixes(from io.Reader, p *textfile.Problems) (prefixes []string, err error) {
	form := &Form{
		Wanted: []string{Prefix}, Only: Prefix, Example: "prefix,note", Shorter: true, Comments: true, MaxRows: maxPrefixes,
		Spelled: map[string]string{"prefix": Prefix, "prefixes": Prefix, "destination": Prefix},
		Check: func(columns []string) error {
			if !slices.Contains(columns, Prefix) {
				return errors.New(`there must be a column "prefix"`)
			}
			return nil
		},
	}
	take := func(prefix string) error {
		if prefixes = append(prefixes, prefix); len(prefixes) > maxPrefixes {
			return Full(fmt.Sprintf("there are more than %d prefixes", maxPrefixes))
		}
		return nil
	}
	_, _, err = Read(from, p, form, func(row *Row) error {
		cell := row.Get(Prefix)
		if len(cell) > 1 && cell[0] == '+' {
			cell = cell[1:]
		}
		if isDigits(cell) {
			return take(string(cell)) // also a national prefix, with a leading 0
		}
		return Each(cell, take)
	})
	if err == nil && p.Total > 0 {
		err = p
	}
	return prefixes, err
}
