package textfile

import (
	"errors"
	"fmt"
	"io"
	"time"
)

// A Summary is the report of a command that checks a file.
type Summary struct {
	Counts  string   // summary of the file's contents
	First   []string // first rows, as they were parsed
	Remarks []string // rows without effect, and other facts that an operator should see
	Octets  int      // memory that the rows take; 0: not measured
}

// Check reads a file, and writes its summary and its problems. Its error has the number of problems, if there are any.
func Check[T any](out io.Writer, file string, read func(file string) (T, error), summary func(T) Summary) error {
	began := time.Now()
	t, err := read(file)
	took := time.Since(began)
	bad := (*Problems)(nil)
	if err != nil && !errors.As(err, &bad) {
		return err
	}
	s := summary(t)
	fmt.Fprintf(out, "%s: %s\n", file, s.Counts)
	for _, text := range s.First {
		fmt.Fprintf(out, "  %s\n", text)
	}
	for _, text := range s.Remarks {
		fmt.Fprintln(out, text)
	}
	if s.Octets > 0 {
		fmt.Fprintf(out, "it takes %.1f MB of memory, and was read in %.2f s\n", float64(s.Octets)/1e6, took.Seconds())
	}
	if bad == nil {
		return nil
	}
	for _, p := range bad.First {
		fmt.Fprintf(out, "%s:%d: %s\n", file, p.Line, p.Text)
	}
	return fmt.Errorf("cannot use %s: %d problems", file, bad.Total)
}
