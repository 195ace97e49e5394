package keep

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"pmg/config"
	"pmg/gateway/node"
	"pmg/store"
)

// A slow store commits when it has received from a channel.
type slow struct {
	store.Store
	commits chan struct{}
}

func (s slow) Commit(b *store.Batch) error {
	<-s.commits
	return s.Store.Commit(b)
}

// Nothing leaves while a commit is late, if another node may go on with what is committed. A gateway that is alone sends: what
// has ended there is on its disk before the commit.
func TestLateCommit(t *testing.T) {
	t.Parallel()
	for _, shared := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			k := New(node.New(&config.Config{}, zerolog.Nop()))
			s := slow{store.NewMemory(), make(chan struct{})}
			k.Open(s, func(store.Position, error) {})
			if shared {
				k.Unsettled.Watch(k.Batches)
			}
			halts := func(why string, want bool) {
				t.Helper()
				synctest.Wait()
				if got := k.Unsettled.Full(k.node.Clock.Now()); got != want {
					t.Errorf("shared %v, %s: it halts: %v", shared, why, got)
				}
			}
			commits := func() {
				t.Helper()
				s.commits <- struct{}{}
				synctest.Wait()
				if k.GoOn() != shared || k.GoOn() {
					t.Errorf("shared %v: it does not say once that messages leave again", shared)
				}
			}
			write := func() {
				k.Batches.Write(func(b *store.Batch) { b.Note(store.KindEnded, []byte("key"), nil, 1) })
				k.Commit()
			}
			halts("nothing is written", false)
			write()
			time.Sleep(time.Duration(lateCommit))
			halts("it is in time", false)
			time.Sleep(time.Nanosecond)
			halts("it is late", shared)
			write()
			commits()
			halts("the next one has begun", false)
			time.Sleep(time.Duration(lateCommit) + time.Nanosecond)
			halts("that is late", shared)
			commits()
			halts("all is committed", false)
			k.Batches.Close()
		})
	}
}
