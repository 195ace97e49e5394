package pdulog

import (
	"context"
	"io"
	"time"
)

// ReadLines calls visit for the lines of <dir>/<name>.log and of its rotated files, the oldest
// first, also where another package has written them. It leaves out files that have only
// lines before since or from until on; zero times leave out none. A line is valid until visit returns.
func ReadLines(ctx context.Context, dir, name string, since, until time.Time, visit func(line []byte)) error {
	t := newTail(dir, name)
	defer t.close()
	if !since.IsZero() {
		if err := t.skipBefore(since); err != nil {
			return err
		}
	}
	t.stopAfter(until)
	for n := 0; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		line, err := t.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		visit(line)
	}
}
