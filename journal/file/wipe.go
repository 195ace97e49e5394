package file

import (
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Renew makes the next record begin a segment, so that the records before it can be wiped when they are not needed any more.
func (j *Journal) Renew() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.renew = true
}

// Wipe overwrites the segments that have no record that is needed. They would be overwritten later, when they are used again.
func (j *Journal) Wipe() error {
	if err := j.spares.wipe(); err != nil {
		return fmt.Errorf("cannot overwrite a segment of the journal in %s: %w", j.dir, err)
	}
	return nil
}

// wipe overwrites the spares, and the one that is ready to be the next.
func (s *spares) wipe() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var err error
	if s.ready != nil {
		m := <-s.ready
		s.ready = make(chan blank, 1)
		s.ready <- m
		if m.err == nil {
			err = s.zero(&m.segment)
		}
	}
	for _, one := range s.used {
		err = errors.Join(err, s.zero(one))
	}
	return err
}

// zero overwrites a segment.
func (s *spares) zero(one *segment) error {
	f, err := s.fs.OpenReadWrite(s.fs.PathJoin(s.dir, nameOf(one.number)), vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	return errors.Join(fill(f, one.size), f.Close())
}
