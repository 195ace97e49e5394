package store

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/rs/zerolog"
)

// A monitor records the problems of a store. It receives pebble's log lines and events. Pebble may
// hold locks during these calls, so the monitor never waits.
type monitor struct {
	dir   string
	log   zerolog.Logger
	fault *fault
	pause time.Duration // pause between a failed attempt to write a table and the next attempt

	stalls  atomic.Int64
	slow    atomic.Int64
	stalled atomic.Bool
	failing time.Time              // since when the memory table cannot be written; guarded by pebble's lock
	problem atomic.Pointer[string] // the last error of writing a table; nil after a successful write
	damage  atomic.Pointer[string] // the damaged file; nil: no damage was found
}

// failure returns the fault that has ended the store, as an error for operators, or nil.
func (m *monitor) failure() error {
	if err := m.fault.get(); err != nil {
		return fmt.Errorf("the store in %s has failed, and only a restart mends that: %w", m.dir, err)
	}
	return nil
}

// readError marks an error as damage if the error means damage.
func (m *monitor) readError(err error) error {
	if !pebble.IsCorruptionError(err) {
		return err
	}
	file := "a file of the store"
	if damage := m.damage.Load(); damage != nil {
		file = *damage
	}
	return fmt.Errorf("%w: %s: %w", ErrDamaged, file, err)
}

// addTo adds the problems to the statistics of the store.
func (m *monitor) addTo(st *Stats) {
	st.Stalled, st.Stalls, st.Slow = m.stalled.Load(), m.stalls.Load(), m.slow.Load()
	if p := m.problem.Load(); p != nil {
		st.Problem = *p
	}
	if d := m.damage.Load(); d != nil {
		st.Problem = *d
	}
	if err := m.fault.get(); err != nil {
		st.Problem = err.Error()
	}
}

// listener returns the functions that pebble calls for its events.
func (m *monitor) listener() *pebble.EventListener {
	return &pebble.EventListener{
		BackgroundError: m.backgroundError,
		DataCorruption:  m.dataCorruption,
		WriteStallBegin: m.stallBegin,
		WriteStallEnd:   m.stallEnd,
		FlushEnd:        m.flushEnd,
	}
}

func (m *monitor) Infof(format string, args ...any) {
	m.log.Debug().Msgf("store: "+format, args...)
}

func (m *monitor) Errorf(format string, args ...any) {
	m.log.Error().Msgf("store: "+format, args...)
}

// Fatalf is called when pebble cannot go on. Pebble expects that the process ends.
func (m *monitor) Fatalf(format string, args ...any) {
	all := errFatal{text: fmt.Sprintf(format, args...)}
	for _, a := range args {
		if err, ok := a.(error); ok {
			all.cause = err
		}
	}
	m.fault.set(all)
}

// An errFatal is an error that pebble has formatted.
type errFatal struct {
	text  string
	cause error // may be nil
}

func (e errFatal) Error() string { return e.text }
func (e errFatal) Unwrap() error { return e.cause }

// backgroundError is called by pebble when a table could not be written. Pebble then tries again.
func (m *monitor) backgroundError(err error) {
	problem := "cannot write a table: " + err.Error()
	m.problem.Store(&problem)
	m.log.Error().Err(err).Msg("cannot write a table of the store; trying again")
}

// flushEnd is called by pebble after each attempt to write the memory table, before
// backgroundError. While the attempts fail, commits wait. If the disk is full, waiting is useful,
// because delivered messages make room. Other errors that last become a fault.
func (m *monitor) flushEnd(info pebble.FlushInfo) {
	if info.Err == nil || strings.Contains(info.Err.Error(), "empty table") {
		m.problem.Store(nil)
		m.failing = time.Time{}
		return
	}
	if m.failing.IsZero() {
		m.failing = time.Now()
	}
	if full := errors.Is(info.Err, syscall.ENOSPC); m.fault.opening.Load() ||
		!full && time.Since(m.failing) >= flushAttempts*m.pause {
		m.fault.set(info.Err)
	}
}

func (m *monitor) dataCorruption(info pebble.DataCorruptionInfo) {
	damage := info.Path + " is damaged"
	m.damage.Store(&damage)
	m.log.Error().Str("file", info.Path).AnErr("cause", info.Details).Msg("a file of the store is damaged; " +
		"stop the gateway, and run pmg store repair")
}

func (m *monitor) stallBegin(info pebble.WriteStallBeginInfo) {
	m.stalled.Store(true)
	m.stalls.Add(1)
	m.log.Warn().Str("reason", info.Reason).Msg("the store takes no batches until its background work has followed")
}

func (m *monitor) stallEnd() {
	m.stalled.Store(false)
	m.log.Info().Msg("the store takes batches again")
}

func (m *monitor) isSlow(info vfs.DiskSlowInfo) {
	m.slow.Add(1)
	m.log.Warn().Str("file", info.Path).Stringer("operation", info.OpType).Stringer("for", info.Duration.Round(time.Millisecond)).
		Msg("the disk of the store is slow")
}
