package store

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// What pebble tells of itself. It may hold its locks meanwhile, so nothing here waits.

// A pebbleLog takes the lines that pebble logs.
type pebbleLog durable

func (l *pebbleLog) Infof(format string, args ...any) {
	l.log.Debug().Msgf("store: "+format, args...)
}

func (l *pebbleLog) Errorf(format string, args ...any) {
	l.log.Error().Msgf("store: "+format, args...)
}

// Fatalf is called where pebble does not know how to go on. It expects that the process ends.
func (l *pebbleLog) Fatalf(format string, args ...any) {
	l.fault.set(fmt.Errorf(format, args...))
}

// backgroundError is called when a table could not be written. Pebble tries again.
func (s *durable) backgroundError(err error) {
	problem := "cannot write a table: " + err.Error()
	s.problem.Store(&problem)
	s.log.Error().Err(err).Msg("cannot write a table of the store; trying again")
}

// flushEnd is called when the memory table was written to the disk, or could not be, before
// backgroundError. If that fails for long, commits would wait for as long. A full disk is worth
// the wait, because messages that are taken away make room; other errors are not.
func (s *durable) flushEnd(info pebble.FlushInfo) {
	if info.Err == nil || strings.Contains(info.Err.Error(), "empty table") {
		s.problem.Store(nil)
		s.failing = time.Time{}
		return
	}
	if s.failing.IsZero() {
		s.failing = time.Now()
	}
	if full := errors.Is(info.Err, syscall.ENOSPC); s.guard.opening.Load() ||
		!full && time.Since(s.failing) >= flushAttempts*s.guard.pause {
		s.fault.set(info.Err)
	}
}

func (s *durable) dataCorruption(info pebble.DataCorruptionInfo) {
	damage := info.Path + " is damaged"
	s.damage.Store(&damage)
	s.log.Error().Str("file", info.Path).AnErr("cause", info.Details).Msg("a file of the store is damaged; " +
		"stop the gateway, and run pmg store repair")
}

func (s *durable) stallBegin(info pebble.WriteStallBeginInfo) {
	s.stalled.Store(true)
	s.stalls.Add(1)
	s.log.Warn().Str("reason", info.Reason).Msg("the store takes no batches until its background work has followed")
}

func (s *durable) stallEnd() {
	s.stalled.Store(false)
	s.log.Info().Msg("the store takes batches again")
}

func (s *durable) isSlow(info vfs.DiskSlowInfo) {
	s.slow.Add(1)
	s.log.Warn().Str("file", info.Path).Stringer("operation", info.OpType).Stringer("for", info.Duration.Round(time.Millisecond)).
		Msg("the disk of the store is slow")
}
