package networks

import (
	"fmt"
	"slices"
	"time"

	"pmg/internal/textfile"
)

// A File is a table in use, which follows its file. It is safe for concurrent use.
type File struct {
	options Options
	file    *textfile.File[Table]
}

// Open reads a table.
func Open(path string, o Options) (*File, error) {
	f, err := textfile.Open(kind, path, func() (*Table, error) { return ReadFile(path, o) }, func(before, next *Table) error {
		if next.Counts.Rows == 0 && before.Counts.Rows > 0 {
			return fmt.Errorf(
				"table of networks %s has no rows any more: remove networks from the configuration if none is wanted", path,
			)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &File{o, f}, nil
}

// IsOf reports whether the file was opened with the same path and options.
func (f *File) IsOf(path string, o Options) bool {
	return f.file.Path() == path && f.options.Charset == o.Charset && slices.Equal(f.options.Columns, o.Columns)
}

// Table returns the table in force.
func (f *File) Table() *Table { return f.file.InForce() }

// Status is the state of a table.
type Status struct {
	Counts
	textfile.Condition
}

// Status returns the state of the table.
func (f *File) Status() Status { return Status{f.Table().Counts, f.file.Condition()} }

// Refresh reads the file again if it has changed, like textfile.File.
func (f *File) Refresh(now time.Time) (reloaded bool, err error) { return f.file.Refresh(now, nil) }
