package events

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"pmg/internal/logfile"
)

// CloseFiles writes the committed events, and begins a new file, so that the earlier files can be edited.
func (w *Writer) CloseFiles(ctx context.Context) error {
	done := make(chan error, 1)
	select {
	case w.asked.closes <- done:
	case <-w.ended:
		return errors.New("events are not written any more")
	case <-ctx.Done():
		return ctx.Err()
	}
	w.Wake()
	select {
	case err := <-done:
		return err
	case <-w.ended:
	case <-ctx.Done():
	}
	return fmt.Errorf("cannot begin a new file of events: %w", context.Cause(ctx))
}

// Files returns the files that are no longer written; with open, also the file that is being written.
func (w *Writer) Files(open bool) ([]logfile.Segment, error) { return filesIn(w.o.Dir, open) }

func filesIn(dir string, open bool) ([]logfile.Segment, error) {
	all, err := logfile.Rotated(dir, "events")
	if open {
		all = append(all, logfile.Segment{Path: filepath.Join(dir, fileName)})
	}
	return all, err
}

// Edit changes lines of a file that is no longer written. The numbers of the lines must stay.
func (w *Writer) Edit(ctx context.Context, s logfile.Segment, e *logfile.Edit, dry bool) (logfile.Edited, error) {
	return w.logs.Edit(ctx, s, e, dry)
}

// Files are the files of events of a gateway that does not run.
type Files struct {
	lock *os.File
	logs *logfile.Dir
}

// OpenFiles opens the files in a directory, and keeps gateways from writing there until Close.
func OpenFiles(dir string) (*Files, error) {
	if _, err := os.Stat(dir); err != nil {
		return nil, err
	}
	lock, err := lockDir(dir)
	if err != nil {
		return nil, err
	}
	logs := logfile.NewDir(dir, "events file", logfile.Options{})
	logs.Keys = AppendKeys
	return &Files{lock, logs}, nil
}

// CloseFiles does nothing: no file is being written.
func (f *Files) CloseFiles(context.Context) error { return nil }

// Files returns all files.
func (f *Files) Files(bool) ([]logfile.Segment, error) { return filesIn(f.logs.Path(), true) }

// Edit changes lines of a file. The numbers of the lines must stay.
func (f *Files) Edit(ctx context.Context, s logfile.Segment, e *logfile.Edit, dry bool) (logfile.Edited, error) {
	return f.logs.Edit(ctx, s, e, dry)
}

// Close releases the directory.
func (f *Files) Close() error { return f.lock.Close() }
