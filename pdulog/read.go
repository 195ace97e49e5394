package pdulog

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"
	"time"
)

// pollEvery is how often Follow searches for more lines. The writer writes as often, so a
// shorter interval would show lines hardly earlier.
const pollEvery = 100 * time.Millisecond

// A Query selects the lines to read.
type Query struct {
	Connectors []string // empty: all connectors with a log
	Filter     Filter
	Last       int   // number of existing lines to read, from the end; 0: all; negative: none
	Octets     int64 // limit of existing octets to read, from the end of each log; 0: no limit
}

// Read calls visit for the lines of the connectors in dir, in the order of their times (window).
// It returns how many lines it skipped because they are not lines of a pdu log, and the error
// of ctx if that is done early. An entry is valid until visit returns.
func Read(ctx context.Context, dir string, q Query, visit func(*Entry) error) (skipped int, err error) {
	m := &merge{dir: dir, q: q}
	defer m.close()
	err = m.past(ctx, visit)
	return m.skipped, err
}

// Follow does the same as Read, and then waits for more lines until ctx is done. These are visited
// as they are written, because to wait for earlier ones would delay all. It follows rotations, and
// finds logs of new connectors.
func Follow(ctx context.Context, dir string, q Query, visit func(*Entry) error) (skipped int, err error) {
	m := &merge{dir: dir, q: q, follows: true}
	defer m.close()
	if err = m.follow(ctx, visit); ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		err = nil // following always ends by ctx
	}
	return m.skipped, err
}

// A merge reads several tails in the order of their lines' times.
type merge struct {
	dir     string
	q       Query
	follows bool // lines that are written meanwhile are visited as well
	sources []*source
	skipped int
}

// A source is a tail with its next line.
type source struct {
	*tail
	entry Entry
	ready bool
}

func (m *merge) follow(ctx context.Context, visit func(*Entry) error) error {
	if err := m.past(ctx, visit); err != nil {
		return err
	}
	poll := time.NewTicker(pollEvery)
	defer poll.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-poll.C:
		}
		if _, err := m.discover(); err != nil {
			return err
		}
		if err := m.drain(ctx, visit); err != nil {
			return err
		}
	}
}

func (m *merge) close() {
	for _, s := range m.sources {
		s.close()
	}
}

func (m *merge) discover() (added []*source, err error) {
	names := m.q.Connectors
	if len(names) == 0 {
		if names, err = Connectors(m.dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	for _, name := range names {
		if !slices.ContainsFunc(m.sources, func(s *source) bool { return s.connector == name }) {
			added = append(added, &source{tail: newTail(m.dir, name)})
		}
	}
	m.sources = append(m.sources, added...)
	return added, nil
}

// past visits the existing lines.
func (m *merge) past(ctx context.Context, visit func(*Entry) error) error {
	added, err := m.discover()
	if err != nil {
		return err
	}
	for _, s := range added {
		s.stopAfter(m.q.Filter.Until)
		if !m.q.Filter.Since.IsZero() {
			if err := s.skipBefore(m.q.Filter.Since); err != nil {
				return err
			}
		}
		if m.q.Octets > 0 {
			if err := s.near(m.q.Octets); err != nil {
				return err
			}
		} else if m.q.Last != 0 {
			if err := s.back(max(0, m.q.Last), m.matches); err != nil {
				return err
			}
		}
	}
	if m.q.Last != 0 {
		return m.last(ctx, max(0, m.q.Last), visit)
	}
	var w window
	if err := m.drain(ctx, func(e *Entry) error { return w.add(e, visit) }); err != nil {
		return err
	}
	return w.empty(visit)
}

// matches reports whether the query selects a line, and returns the line's time.
func (m *merge) matches(line []byte) (at time.Time, ok bool) {
	e, err := Parse(line)
	return e.Time, err == nil && m.q.Filter.Match(&e)
}

// errNew ends the reading of existing lines. Under load it would have no end, because lines may be written as fast as they are
// read.
var errNew = errors.New("a line was written after the reading began")

// last visits the last n of the existing lines.
func (m *merge) last(ctx context.Context, n int, visit func(*Entry) error) error {
	lines, seen, began := make([][]byte, n), 0, time.Now()
	keep := func(e *Entry) error {
		if n > 0 {
			at := &lines[seen%n]
			*at = append((*at)[:0], e.Line...)
			seen++
		}
		return nil
	}
	var w window
	var fresh []byte // the first line that was written meanwhile; nil: none was
	err := m.drain(ctx, func(e *Entry) error {
		if e.Time.After(began) && !e.Time.After(time.Now()) { // otherwise another clock has made the time
			fresh = slices.Clone(e.Line)
			return errNew
		}
		return w.add(e, keep)
	})
	if err == nil || errors.Is(err, errNew) {
		err = w.empty(keep)
	}
	for i := max(0, seen-n); err == nil && i < seen; i++ {
		var e Entry
		if e, err = Parse(lines[i%n]); err == nil {
			err = visit(&e)
		}
	}
	if err != nil || fresh == nil || !m.follows {
		return err
	}
	e, err := Parse(fresh)
	if err != nil {
		return err
	}
	return visit(&e)
}

// drain visits lines until all sources are at their end.
func (m *merge) drain(ctx context.Context, visit func(*Entry) error) error {
	for ctx.Err() == nil {
		var first *source
		for _, s := range m.sources {
			if !s.ready {
				if err := m.fill(ctx, s); err != nil {
					return err
				}
			}
			if s.ready && (first == nil || s.entry.Time.Before(first.entry.Time)) {
				first = s
			}
		}
		if first == nil {
			return nil
		}
		first.ready = false
		if err := visit(&first.entry); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// fill reads a source up to its next matching line, if there is one. A log may have many lines before it.
func (m *merge) fill(ctx context.Context, s *source) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		line, err := s.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		e, err := Parse(line)
		if err != nil {
			m.skipped++
			continue
		}
		if m.q.Filter.Match(&e) {
			s.entry, s.ready = e, true
			return nil
		}
	}
}
