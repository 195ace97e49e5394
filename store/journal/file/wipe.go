package file

import (
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Renew makes the next record begin a new segment, so that the segments of the earlier records can
// be wiped when the records are not needed any more.
func (j *Journal) Renew() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.renew = true
}

// Wipe overwrites the segments whose records are not needed any more. Otherwise they would only be
// overwritten when they are reused.
func (j *Journal) Wipe() error {
	if err := j.spares.wipe(); err != nil {
		return fmt.Errorf("cannot overwrite a segment of the journal in %s: %w", j.dir, err)
	}
	return nil
}

// wipe overwrites the spare segments, and the segment that is prepared.
func (s *spares) wipe() error {
	s.mu.Lock()
	ready, used := s.ready, s.used
	s.ready, s.used = nil, nil // the journal makes new files meanwhile if it needs them
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
	default: // another file has been prepared meanwhile
		err = errors.Join(err, m.close())
		s.used = append(s.used, &segment{number: m.number, salt: m.salt, size: m.size})
	}
	return err
}

// zero overwrites a segment with zeros.
func (s *spares) zero(one *segment) error {
	f, err := s.fs.OpenReadWrite(s.fs.PathJoin(s.dir, nameOf(one.number)), vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	return errors.Join(fill(f, one.size), f.Close())
}
