package sheet

import (
	"errors"
	"fmt"
	"slices"

	"pmg/internal/textfile"
)

// maxPrefixes is how many prefixes a file may have.
const maxPrefixes = 1_000_000

// ReadPrefixes reads a file of prefixes, such as those of a route, without a + in front.
func ReadPrefixes(path string) (prefixes []string, err error) {
	kind := textfile.Kind{Name: "prefixes"}
	f, err := kind.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	p := &textfile.Problems{Kind: kind, File: path}
	form := &Form{
		Wanted: []string{Prefix}, Only: Prefix, Example: "prefix,note", Shorter: true, Comments: true, MaxRows: maxPrefixes,
		Spelled: map[string]string{"prefix": Prefix, "prefixes": Prefix, "destination": Prefix},
		Check: func(columns []string) error {
			if !slices.Contains(columns, Prefix) {
				return errors.New("there must be a column prefix")
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
	_, _, err = Read(f, p, form, func(row *Row) error {
		cell := row.Get(Prefix)
		if len(cell) > 1 && cell[0] == '+' {
			cell = cell[1:]
		}
		if isDigits(cell) {
			return take(string(cell)) // also a national one, with a 0 in front
		}
		return Each(cell, take)
	})
	switch {
	case err != nil:
		return nil, fmt.Errorf("cannot read prefixes %s: %w", path, err)
	case p.Total > 0:
		return nil, p
	case prefixes == nil:
		return nil, fmt.Errorf("%s has no prefix: write one in each line", path)
	}
	return prefixes, nil
}
