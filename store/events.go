package store

import (
	"fmt"

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

// backgroundError is called when a table could not be written. Pebble tries again; while it
// opens the store it would do so forever.
func (s *durable) backgroundError(err error) {
	if s.guard.opening.Load() {
		s.fault.set(err)
	}
	problem := "cannot write a table: " + err.Error()
	s.problem.Store(&problem)
	s.log.Error().Err(err).Msg("cannot write a table of the store; trying again")
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
	s.log.Warn().Str("file", info.Path).Stringer("operation", info.OpType).Dur("for", info.Duration).
		Msg("the disk of the store is slow")
}

// flushEnd is called when a table was written, or could not be.
func (s *durable) flushEnd(info pebble.FlushInfo) {
	if info.Err == nil {
		s.problem.Store(nil)
	}
}
