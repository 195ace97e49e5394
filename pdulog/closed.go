package pdulog

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"pmg/internal/logfile"
)

// CloseFiles begins a new file for each log, so that the earlier files can be edited. Lines that sessions
// still collect, for up to Options.Flush, are written to the new files.
func (d *Dir) CloseFiles(ctx context.Context) error {
	names, err := Connectors(d.logs.Path())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, name := range names {
		if err == nil {
			err = d.closeFile(ctx, name)
		}
	}
	return err
}

func (d *Dir) closeFile(ctx context.Context, name string) error {
	done := make(chan error, 1)
	d.mu.Lock()
	w := d.writers[name]
	if w == nil {
		defer d.mu.Unlock() // the lock keeps writers from opening the file
		return d.logs.CloseLog(name, time.Now().UnixNano())
	}
	w.mu.Lock()
	w.closes = append(w.closes, done)
	w.mu.Unlock()
	d.mu.Unlock()
	w.wake()
	ctx, cancel := context.WithTimeout(ctx, closeWait)
	defer cancel()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return fmt.Errorf("cannot begin a new pdu log of %s: %w", name, ErrNoAnswer)
	}
}

// Files returns the files of all logs that are no longer written; with open, also the files that are being written.
func (d *Dir) Files(open bool) (all []logfile.Segment, err error) {
	names, err := Connectors(d.logs.Path())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, name := range names {
		some, err := logfile.Rotated(d.logs.Path(), name)
		if err != nil {
			return nil, err
		}
		if all = append(all, some...); open {
			all = append(all, logfile.Segment{Path: filepath.Join(d.logs.Path(), name+logfile.Suffix)})
		}
	}
	return all, err
}

// Edit changes lines of a file that is no longer written.
func (d *Dir) Edit(ctx context.Context, s logfile.Segment, e *logfile.Edit, dry bool) (logfile.Edited, error) {
	return d.logs.Edit(ctx, s, e, dry)
}
