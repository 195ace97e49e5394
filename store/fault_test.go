package store

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
)

var errDisk = errors.New("the disk is broken")

// A breaker fails operations that change the disk, from the first on or only that one.
type breaker struct {
	first    int64
	ever     bool // those after it as well
	count    atomic.Int64
	off      atomic.Bool
	injected atomic.Pointer[string] // the operation that failed first
}

func (b *breaker) String() string { return "breaker" }

func (b *breaker) MaybeError(op errorfs.Op) error {
	switch op.Kind {
	case errorfs.OpCreate, errorfs.OpLink, errorfs.OpRemove, errorfs.OpRemoveAll, errorfs.OpRename, errorfs.OpReuseForWrite,
		errorfs.OpMkdirAll, errorfs.OpFileWrite, errorfs.OpFileWriteAt, errorfs.OpFileSync, errorfs.OpFileSyncData,
		errorfs.OpFileSyncTo, errorfs.OpFileClose:
	default:
		return nil
	}
	if b.off.Load() {
		return nil
	}
	n := b.count.Add(1)
	if n == b.first || n > b.first && b.ever {
		what := fmt.Sprintf("%v %s", op.Kind, op.Path)
		b.injected.CompareAndSwap(nil, &what)
		return errDisk
	}
	return nil
}

// Whichever operation on the disk fails, once or from then on: what was confirmed is there after
// the next opening, nothing comes back, and nothing hangs.
func TestDiskFails(t *testing.T) {
	t.Parallel()
	for _, ever := range []bool{false, true} {
		t.Run(fmt.Sprint("ever ", ever), func(t *testing.T) {
			t.Parallel()
			for first := int64(1); ; first += 1 + first/faultSteps {
				b := &breaker{first: first, ever: ever}
				done := make(chan string, 1)
				go func() { done <- runBroken(t, b) }()
				select {
				case d := <-done:
					if d != "" {
						t.Errorf("operation %d, %s: %s", first, what(b), d)
					}
				case <-time.After(20 * time.Second):
					panic(fmt.Sprintf("operation %d, %s: hangs", first, what(b)))
				}
				if b.injected.Load() == nil {
					t.Logf("%d operations", first-1)
					return
				}
			}
		})
	}
}

func what(b *breaker) string {
	if w := b.injected.Load(); w != nil {
		return *w
	}
	return "none"
}

// runBroken uses a store on a disk that breaks, and says what is wrong with what is left of it.
func runBroken(t *testing.T, b *breaker) string {
	const seed = 1
	h := &history{t: t, seed: seed, rand: rand.New(rand.NewPCG(seed, 0)), fs: newMemFS(), model: newModel()}
	h.before = h.model
	told := make(chan error, 1)
	s, err := Open("data", Options{
		FS: errorfs.Wrap(h.fs, b), memTable: 8 << 10, retryPause: time.Millisecond,
		Fatal: func(err error) { told <- err },
	})
	if err == nil {
		h.store = s
		err = h.use(25)
		if err != nil {
			select {
			case <-told:
			case <-time.After(20 * time.Second):
				return "the store has failed, and Fatal was not called"
			}
			if err := s.Commit(&Batch{}); err == nil {
				return "the store has failed, and takes a batch"
			}
			if _, err := s.Scan(0, 1, func(*Entry) error { return nil }); err == nil {
				return "the store has failed, and reads"
			}
			if s.Stats().Problem == "" {
				return "the store has failed, and Stats does not say so"
			}
		}
		_ = s.Close()
	}
	b.off.Store(true)
	with := h.model
	for _, percent := range []int{0, 100} {
		h.model = with
		h.store, err = Open("data", Options{FS: h.fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: percent, RNG: h.rand})})
		if err != nil {
			return err.Error()
		}
		d := h.settle()
		if err := h.store.Close(); err != nil {
			return err.Error()
		}
		if d != "" {
			return d
		}
	}
	return ""
}

// use commits batches until one fails.
func (h *history) use(batches int) error {
	for range batches {
		h.begin()
		if err := h.store.Commit(&h.batch); err != nil {
			return err
		}
		if h.rand.IntN(5) == 0 {
			h.tidy()
		}
	}
	return nil
}
