package networks

import (
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"pmg/internal/textfile"
	"pmg/sms"
	"pmg/sms/number"
)

// A File is a table in use, which follows its file. It is safe for concurrent use.
type File struct {
	options Options
	file    *textfile.Follower
	table   atomic.Pointer[Table]
}

// Open reads a table.
func Open(path string, o Options) (*File, error) {
	f := &File{options: o}
	var err error
	f.file, err = kind.Follow(path, func() error {
		t, err := ReadFile(path, o)
		f.table.Store(t)
		return err
	})
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Path returns the name of the file.
func (f *File) Path() string { return f.file.Path() }

// IsOf reports whether it was opened with a path and options.
func (f *File) IsOf(path string, o Options) bool {
	return f.Path() == path && f.options.Charset == o.Charset && slices.Equal(f.options.Columns, o.Columns)
}

// Of returns the network of a number, 0 if the table has none. It allocates nothing and reads no file.
func (f *File) Of(n number.Number) sms.Network { return f.table.Load().Of(n) }

// OfDigits returns the network of the numbers that begin with digits.
func (f *File) OfDigits(digits []byte) sms.Network { return f.table.Load().OfDigits(digits) }

// Name returns the name of a network, "" if the table has none.
func (f *File) Name(n sms.Network) string { return f.table.Load().Name(n) }

// Status is how a table is.
type Status struct {
	Counts
	textfile.Condition
}

// Status returns how the table is.
func (f *File) Status() Status { return Status{f.table.Load().Counts, f.file.Condition()} }

// Refresh reads the file again if it has changed. It is called about once a second. It reports whether a new table is in force. A
// problem is returned once, and what was read before stays in force.
func (f *File) Refresh(now time.Time) (reloaded bool, err error) {
	reloaded, err = f.file.Refresh(now, f.reload)
	if f.file.Report(err) {
		return reloaded, err
	}
	return reloaded, nil
}

// reload reads the file again.
func (f *File) reload(int64) (apply func(), err error) {
	t, err := ReadFile(f.Path(), f.options)
	if err == nil && t.Counts.Rows == 0 && f.table.Load().Counts.Rows > 0 {
		err = fmt.Errorf(
			"table of networks %s has no rows any more: remove networks from the configuration if none is wanted", f.Path(),
		)
	}
	return func() { f.table.Store(t) }, err
}
