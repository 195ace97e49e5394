package store

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/internal/testkit/testutil"
	"pmg/sms"
)

// A scribe is a durable store that writes down what it is asked for.
type scribe struct {
	Store
	mu    sync.Mutex
	fails int           // notes that fail from now on
	held  chan struct{} // a note waits until it is received from, twice; nil: none does
	asked []string
}

func (*scribe) Durable() bool { return true }

func (s *scribe) Write(b *Batch) error {
	if s.held != nil {
		s.held <- struct{}{}
		s.held <- struct{}{}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fails > 0 {
		s.fails--
		return errors.New("disk full")
	}
	s.asked = append(s.asked, "note "+idsOf(b))
	return nil
}

func (s *scribe) Commit(b *Batch) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, "commit "+idsOf(b))
	return nil
}

// A still is a clock that stands, so that no note is slow.
type still struct{}

func (still) Now() int64   { return 0 }
func (still) Ahead() int64 { return 0 }

func idsOf(b *Batch) string {
	var ids []uint64
	for _, o := range b.ops {
		ids = append(ids, o.id)
	}
	return fmt.Sprint(ids)
}

// What has ended is noted with all that was added before, and committed with what comes next; without an end nothing is noted
// before its commit. What could not be noted is noted first by the next commit, which does not fail with it.
func TestCommitterWritesEnds(t *testing.T) {
	t.Parallel()
	s, e := &scribe{}, &ended{}
	c := NewCommitter(s, still{}, e.note)
	end := func(id uint64) { c.Write(func(b *Batch) { b.Delete(id, 0) }) }
	put(c, 1)
	c.WriteEnds()
	end(2)
	c.WriteEnds()
	c.WriteEnds()
	put(c, 3)
	if err := c.Sync(); err != nil {
		t.Fatal(err)
	}
	end(4)
	c.WriteEnds()
	if err := c.Sync(); err != nil {
		t.Fatal(err)
	}
	end(5)
	c.WriteEnds()
	end(6)
	s.mu.Lock()
	s.fails = 3 // this one, and that of the next commit twice: with 5, and alone
	s.mu.Unlock()
	c.WriteEnds()
	testutil.Eventually(t, "a commit fails", func() bool { return c.Stats().Failed == 1 })
	c.Close()
	e.want(t, "2 true", "3 true", "4 true", "5 false", "6 true")
	want := []string{"note [1 2]", "note [3]", "commit [1 2 3]", "note [4]", "commit [4]", "note [5]", "commit [5]", "note [6]", "commit [6]"}
	if !slices.Equal(s.asked, want) {
		t.Errorf("asked for %q, want %q", s.asked, want)
	}
}

// A commit that is asked for while a batch is being noted is of that batch, whoever asks, and also at the end.
func TestCommitWhileWriting(t *testing.T) {
	t.Parallel()
	for name, ask := range map[string]func(*Committer){
		"sync":      func(c *Committer) { _ = c.Sync() },
		"sync soon": func(c *Committer) { _ = c.SyncSoon() },
		"commit":    (*Committer).Commit,
		"soon":      (*Committer).CommitSoon,
		"close":     (*Committer).Close,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &scribe{held: make(chan struct{})}
			c := NewCommitter(s, still{})
			c.Write(func(b *Batch) { b.Delete(1, 0) })
			noted, asked := make(chan struct{}), make(chan struct{})
			go func() {
				c.WriteEnds()
				close(noted)
			}()
			testutil.Receive(t, "the note begins", s.held)
			go func() {
				ask(c)
				close(asked)
			}()
			testutil.Eventually(t, "the request is made", func() bool {
				c.mu.Lock()
				defer c.mu.Unlock()
				return c.asked || c.due || c.syncs > 0 || c.closed
			})
			testutil.Receive(t, "the note goes on", s.held)
			testutil.Receive(t, "the note ends", noted)
			testutil.Receive(t, "the request is answered", asked)
			testutil.Eventually(t, "the batch is committed", func() bool {
				s.mu.Lock()
				defer s.mu.Unlock()
				return slices.Equal(s.asked, []string{"note [1]", "commit [1]"})
			})
			c.Close()
		})
	}
}

// A kill between two commits brings no message back whose end was noted, and loses none that was committed, whoever writes.
func TestWrittenEndsStay(t *testing.T) {
	t.Parallel()
	fs := vfs.NewCrashableMem()
	s, err := Open("data", Options{FS: fs})
	if err != nil {
		t.Fatal(err)
	}
	c := NewCommitter(s, running{})
	var all sync.WaitGroup
	const each = 200
	for g := range uint64(4) {
		all.Go(func() {
			for n := range uint64(each) {
				id := 1 + g + 4*n
				c.Write(func(b *Batch) { b.Put(&sms.Message{ID: id}, Lane{}) })
				if err := c.Sync(); err != nil {
					t.Error(err)
					return
				}
				if n%4 > 0 {
					c.Write(func(b *Batch) { b.Delete(id, 0) })
				}
				c.WriteEnds()
			}
		})
	}
	all.Wait()
	c.Write(func(b *Batch) { b.Delete(1, 0) }) // and records the rest, whoever was noting
	testWritten(t, c)
	killed := fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: rand.New(rand.NewPCG(1, 1))})
	c.Close()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if s, err = Open("data", Options{FS: killed}); err != nil {
		t.Fatal(err)
	}
	n := 0
	_, err = s.Scan(0, 4*each, func(e *Entry) error {
		if n++; (e.ID-1)/4%4 != 0 || e.ID == 1 {
			t.Errorf("%d has come back", e.ID)
		}
		return nil
	})
	if n != each-1 || err != nil || s.Stats().Messages != each-1 {
		t.Errorf("%d messages, %d are counted, %v; want %d", n, s.Stats().Messages, err, each-1)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// testWritten waits until all is noted that has ended.
func testWritten(t *testing.T, c *Committer) {
	t.Helper()
	for {
		c.WriteEnds()
		c.written.others.Wait()
		c.mu.Lock()
		left := c.open.ends
		c.mu.Unlock()
		if !left {
			return
		}
	}
}
