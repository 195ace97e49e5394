package pdulog

import (
	"path/filepath"
)

// A Rotation is the files of a log that another package writes: the one being written,
// which Rotate renames, and the rotated ones, which are kept and compressed as Options
// says. It is not safe for concurrent use.
type Rotation struct{ retention retention }

// NewRotation takes care of the files of the log <dir>/<name>.log. what is what they
// are, in errors. The directory exists.
func NewRotation(dir, name, what string, o Options) *Rotation {
	r := &Rotation{}
	r.retention.init(NewDir(dir, o), name, what, o.Log)
	r.retention.start()
	return r
}

// Rotate gives the file being written its rotated name. The caller begins a new one.
func (r *Rotation) Rotate(now int64) error {
	t := &r.retention
	if err := t.dir.rename(filepath.Join(t.dir.path, t.name+logSuffix), rotatedName(t.dir.path, t.name, now)); err != nil {
		return err
	}
	t.rotated()
	return nil
}

// Close ends the compression of rotated files, which the next NewRotation does again.
func (r *Rotation) Close() { r.retention.stop() }
