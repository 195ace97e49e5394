package store

import (
	"errors"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
)

// On a full disk a commit waits while only tables cannot be written, and goes on when there is room.
func TestFullDiskWaits(t *testing.T) {
	t.Parallel()
	waitsFor(t, syscall.ENOSPC)
}

// A quota that is used up is a full disk.
func TestQuota(t *testing.T) {
	t.Parallel()
	waitsFor(t, syscall.EDQUOT)
}

// waitsFor has tables fail with an error for a while.
func waitsFor(t *testing.T, refused error) {
	t.Helper()
	var full atomic.Bool
	disk := errorfs.InjectorFunc(func(op errorfs.Op) error {
		if full.Load() && op.Kind == errorfs.OpCreate && !isLog(op.Path) {
			return refused
		}
		return nil
	})
	s, err := Open("data", Options{FS: errorfs.Wrap(vfs.NewMem(), disk), memTable: 16 << 10, retryPause: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	full.Store(true)
	done := make(chan error, 1)
	go func() {
		var err error
		for id := range uint64(2000) {
			var b Batch
			b.Put(sample(1+id, "text"), sampleLane)
			err = errors.Join(err, s.Commit(&b))
		}
		done <- err
	}()
	for until := time.Now().Add(20 * time.Second); !s.Stats().Stalled; time.Sleep(time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("the commits do not wait")
		}
	}
	if s.Stats().Problem == "" {
		t.Error("Stats does not say why the commits wait")
	}
	full.Store(false)
	if err := <-done; err != nil {
		t.Error(err)
	}
	if st := s.Stats(); st.Stalls == 0 {
		t.Errorf("%+v", st)
	}
	if got, _ := entries(t, s, 0, 3000); len(got) != 2000 {
		t.Errorf("%d messages", len(got))
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// A table that could not be written is not waited for longer than the pause, also where the clock is
// set back by an hour meanwhile.
func TestRestClockBack(t *testing.T) {
	t.Parallel()
	g := &guard{fault: newFault(nil), pause: time.Millisecond}
	g.failedAt.Store(time.Now().Add(time.Hour).UnixNano())
	if err := g.rest(); err != nil {
		t.Error(err)
	}
}

// Ids that had a state are forgotten when there is no message any more.
func TestStatesCleared(t *testing.T) {
	t.Parallel()
	s := open(t, vfs.NewMem()).(*durable)
	commit(t, s, func(b *Batch) { b.Put(sample(1, "text"), sampleLane); b.Keep(sample(1, ""), State{Reason: "busy"}) })
	s.Tidy()
	if !s.states.maybe(1) {
		t.Error("a message that is there has no state")
	}
	commit(t, s, func(b *Batch) { b.Delete(1, 50) })
	s.Tidy()
	if s.states.maybe(1) {
		t.Error("a message that is gone has a state")
	}
	commit(t, s, func(b *Batch) { b.Put(sample(2, "text"), sampleLane); b.Keep(sample(2, ""), State{Reason: "again"}) })
	s.Tidy()
	if got := entriesOf(t, s); !slices.Equal(got, []string{"2 text (again)"}) {
		t.Errorf("%q", got)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
