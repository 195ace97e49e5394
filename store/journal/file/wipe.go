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
	ready, used := s.ready, s.used
	s.ready, s.used = nil, nil // the journal makes new ones meanwhile if it needs them
	s.mu.Unlock()
	var err error
	for _, one := range used {
		err = errors.Join(err, s.zero(one))
	}
	var m blank
	if ready != nil {
		if m = <-ready; m.err == nil {
			err = errors.Join(err, s.zero(&m.segment))
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used = append(used, s.used...)
	switch {
	case ready == nil || m.err != nil && s.ready != nil:
	case s.ready == nil:
		s.ready = make(chan blank, 1)
		s.ready <- m
	default: // another one is ready
		err = errors.Join(err, m.close())
		s.used = append(s.used, &segment{number: m.number, salt: m.salt, size: m.size})
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
