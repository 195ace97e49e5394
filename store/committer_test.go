package store

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pmg/sms"
)

// A laggard is a store that takes its time, and fails on request.
type laggard struct {
	Store
	takes time.Duration

	passOn  bool // batches are committed to Store
	mu      sync.Mutex
	fails   int // commits that fail from now on
	batches [][]string
}

func (s *laggard) Durable() bool { return false }

func (s *laggard) Commit(b *Batch) error {
	time.Sleep(s.takes)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fails > 0 {
		s.fails--
		return errors.New("disk error")
	}
	var ops []string
	for _, o := range b.ops {
		ops = append(ops, fmt.Sprint(map[opKind]string{opPut: "put", opReplace: "replace", opDelete: "delete", opKeep: "keep"}[o.kind], o.id))
	}
	s.batches = append(s.batches, ops)
	if s.passOn {
		return s.Store.Commit(b)
	}
	return nil
}

func put(c *Committer, ids ...uint64) (number uint64) {
	return c.Write(func(b *Batch) {
		for _, id := range ids {
			b.Put(&sms.Message{ID: id}, Lane{})
		}
	}).number
}

// ended collects the outcomes of commits.
type ended struct {
	mu  sync.Mutex
	all []string
}

func (e *ended) note(upTo Position, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.all = append(e.all, fmt.Sprint(upTo.number, err == nil))
}

func (e *ended) want(t *testing.T, want ...string) {
	t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	if !slices.Equal(e.all, want) {
		t.Errorf("commits ended %v, want %v", e.all, want)
	}
}

// What comes while a commit is under way is committed together, and a lone change waits
// for nothing.
func TestCommitterGathers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, e := &laggard{takes: time.Second}, &ended{}
		c := NewCommitter(s, running{}, e.note)
		defer c.Close()
		if n := put(c, 1); n != 1 {
			t.Errorf("the first batch has number %d", n)
		}
		synctest.Wait()
		if stats := c.Stats(); stats.Waiting != 1 || stats.Since != 0 {
			t.Errorf("before Commit %+v", stats)
		}
		c.Commit()
		synctest.Wait()
		for id := range uint64(3) {
			if n := put(c, id+2); n != 2 {
				t.Errorf("a message of the next batch has number %d", n)
			}
			c.Commit()
		}
		time.Sleep(time.Second / 2)
		if took := time.Now().UnixNano() - c.Stats().Since; took != int64(time.Second/2) {
			t.Errorf("the commit has taken %v", time.Duration(took))
		}
		e.want(t)
		time.Sleep(time.Second)
		e.want(t, "1 true")
		time.Sleep(time.Second)
		e.want(t, "1 true", "2 true")
		if want := [][]string{{"put1"}, {"put2", "put3", "put4"}}; fmt.Sprint(s.batches) != fmt.Sprint(want) {
			t.Errorf("committed %v, want %v", s.batches, want)
		}
		if stats := c.Stats(); stats.Since != 0 || stats.Waiting != 0 || stats.Failed != 0 || stats.Commits != 2 || stats.Changes != 4 || stats.Longest != 1e9 || stats.Took != 2e9 {
			t.Errorf("%+v", stats)
		}
	})
}

// A change for which nobody waits is committed with the next one for which somebody does, or
// soon after it came.
func TestCommitterSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, e := &laggard{takes: time.Second}, &ended{}
		c := NewCommitter(s, running{}, e.note)
		defer c.Close()
		end := func(id uint64) {
			c.Write(func(b *Batch) { b.Delete(id, 0) })
			c.CommitSoon()
		}
		c.CommitSoon()
		end(1)
		time.Sleep(commitSoon - 1)
		if stats := c.Stats(); stats.Since != 0 || stats.Waiting != 1 {
			t.Errorf("a change is committed without company: %+v", stats)
		}
		put(c, 2)
		c.Commit()
		synctest.Wait()
		end(3)
		time.Sleep(3 * time.Second)
		e.want(t, "1 true", "2 true")
		time.Sleep(time.Hour)       // the timer of a batch that was taken does not ask for another one
		for id := range uint64(4) { // those that come meanwhile do not put it off
			end(4 + id)
			time.Sleep(commitSoon * 2 / 5)
		}
		time.Sleep(time.Hour)
		e.want(t, "1 true", "2 true", "3 true", "4 true")
		if want := [][]string{{"delete1", "put2"}, {"delete3"}, {"delete4", "delete5", "delete6"}, {"delete7"}}; fmt.Sprint(s.batches) != fmt.Sprint(want) {
			t.Errorf("committed %v, want %v", s.batches, want)
		}
	})
}

// P19c: those who wait for a commit that others may join do not have one each.
func TestCommitterSyncSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, e := &laggard{}, &ended{}
		c := NewCommitter(s, running{}, e.note)
		defer c.Close()
		var all sync.WaitGroup
		for id := range uint64(4) {
			c.Write(func(b *Batch) { b.Delete(id+1, 0) })
			all.Go(func() {
				if err := c.SyncSoon(); err != nil {
					t.Error(err)
				}
			})
			time.Sleep(time.Millisecond)
		}
		all.Wait()
		if want := [][]string{{"delete1", "delete2", "delete3", "delete4"}}; fmt.Sprint(s.batches) != fmt.Sprint(want) {
			t.Errorf("committed %v, want %v", s.batches, want)
		}
		if err := c.SyncSoon(); err != nil || len(s.batches) != 1 {
			t.Errorf("%d commits, %v: nothing was left", len(s.batches), err)
		}
	})
}

// The messages of a batch that failed are not stored, and deleted in case that they were, but
// for the gateway's own; what else it was to do is done by the next.
func TestCommitterFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, e := &laggard{fails: 2}, &ended{}
		c := NewCommitter(s, running{}, e.note)
		defer c.Close()
		c.Write(func(b *Batch) {
			b.Put(&sms.Message{ID: 1}, Lane{})
			b.Keep(&sms.Message{ID: 1}, State{})
			b.Delete(7, 0)
			b.PutOwn(&sms.Message{ID: 8}, Lane{})
			b.ReplaceOwn(&sms.Message{ID: 9}, Lane{})
			b.Replace(&sms.Message{ID: 10}, Lane{})
		})
		if err := c.Sync(); err == nil {
			t.Error("Sync reports no error")
		}
		put(c, 2)
		c.Commit()
		synctest.Wait()
		put(c, 3)
		c.Commit()
		synctest.Wait()
		e.want(t, "1 false") // the next is not tried immediately
		time.Sleep(3 * restAfterFailure)
		e.want(t, "1 false", "2 false")
		c.Commit()
		synctest.Wait()
		e.want(t, "1 false", "2 false", "3 true")
		if want := [][]string{{"keep1", "delete7", "put8", "replace9", "delete1", "delete2", "delete3"}}; fmt.Sprint(s.batches) != fmt.Sprint(want) {
			t.Errorf("committed %v, want %v", s.batches, want)
		}
	})
}

// What a batch that failed has left comes in front of what was collected meanwhile, each with its own octets.
func TestCommitterKeepsOctets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := NewMemory()
		s := &laggard{Store: in, takes: time.Second, fails: 1}
		c := NewCommitter(s, running{})
		event := func(number uint64) {
			c.Write(func(b *Batch) { b.Event(number, fmt.Append(nil, "line ", number)) })
		}
		event(1)
		c.Commit()
		synctest.Wait()
		event(2)
		time.Sleep(time.Hour)
		s.passOn = true
		c.Close()
		var got []string
		if _, err := in.Events(0, 10, func(_ uint64, line []byte) error { got = append(got, string(line)); return nil }); err != nil || !slices.Equal(got, []string{"line 1", "line 2"}) {
			t.Errorf("%q, %v", got, err)
		}
	})
}

// Close commits what was collected, and Sync waits for it.
func TestCommitterClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, e := &laggard{takes: time.Second}, &ended{}
		c := NewCommitter(s, running{}, e.note)
		put(c, 1)
		if err := c.Sync(); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		e.want(t, "1 true")
		if err := c.Sync(); err != nil {
			t.Error(err)
		}
		put(c, 2)
		c.Commit()
		synctest.Wait()
		if err := c.Sync(); err != nil { // nothing is collected, and a commit is under way
			t.Error(err)
		}
		synctest.Wait()
		e.want(t, "1 true", "2 true")
		put(c, 3)
		c.Close()
		e.want(t, "1 true", "2 true", "3 true")
	})
}

// Close ends although no commit succeeds; what was collected before is reported as not stored.
func TestCommitterCloseFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, e := &laggard{takes: time.Second, fails: 1000}, &ended{}
		c := NewCommitter(s, running{}, e.note)
		put(c, 1)
		c.Commit()
		synctest.Wait()
		put(c, 2)
		c.Close()
		e.want(t, "1 false", "2 false")
	})
}

// A message costs no allocation on its way into a batch and out again.
func TestCommitterAllocates(t *testing.T) {
	c := NewCommitter(&instant{}, running{})
	defer c.Close()
	m := &sms.Message{ID: 1, Origin: &sms.Origin{Account: "acme", Connector: "clients"}}
	m.Set(sms.Address{Addr: []byte("1234")}, sms.Address{Addr: []byte("46700000001")}, make([]byte, 100))
	round := func() {
		for range 100 {
			c.Write(func(b *Batch) {
				b.Put(m, Lane{Connector: "operator"})
				b.Delete(1, 200)
			})
		}
		if err := c.Sync(); err != nil {
			t.Error(err)
		}
	}
	for range 8 { // until each of its batches has had its turn
		round()
	}
	if n := testing.AllocsPerRun(20, round); n > 2 {
		t.Errorf("%.1f allocations for 100 messages", n)
	}
}

type instant struct{ Store }

func (*instant) Durable() bool { return false }

func (*instant) Commit(*Batch) error { return nil }

// A running clock is the machine's.
type running struct{}

func (running) Now() int64   { return time.Now().UnixNano() }
func (running) Ahead() int64 { return 0 }

// A change that panics, as one of a faulty PDU may, leaves the committer to the others.
func TestCommitterAfterPanic(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &laggard{}
		c := NewCommitter(s, running{})
		defer c.Close()
		func() {
			defer func() { _ = recover() }()
			c.Write(func(b *Batch) { b.Put(nil, Lane{}) })
		}()
		if at := put(c, 1); at != 1 {
			t.Errorf("the next change is in batch %d", at)
		}
		if err := c.Sync(); err != nil || fmt.Sprint(s.batches) != "[[put1]]" {
			t.Errorf("committed %v, %v", s.batches, err)
		}
	})
}

// A sized store notes how large batches are, and what is deleted and written in each.
type sized struct {
	Store
	hangs  chan struct{} // until it is closed
	fails  int           // commits that fail from now on
	sizes  []int
	pieces []string // the ids of its operations, by batch
}

func (s *sized) Durable() bool { return false }

func (s *sized) Commit(b *Batch) error {
	<-s.hangs
	if s.fails > 0 {
		s.fails--
		return errors.New("disk error")
	}
	s.sizes = append(s.sizes, b.Size())
	var ids []byte
	for _, o := range b.ops {
		ids = fmt.Appendf(ids, "%d ", o.id)
	}
	s.pieces = append(s.pieces, string(ids))
	return nil
}

// What ends very many messages while a commit is under way is committed in pieces of a bounded size, in order, without being
// asked for; all that a message has ended with is in one of them.
func TestCommitterPieces(t *testing.T) {
	t.Parallel()
	const messages = 30_000
	s, e := &sized{hangs: make(chan struct{})}, &ended{}
	c := NewCommitter(s, running{}, e.note)
	put(c, messages+1)
	c.Commit()
	var want []string // by batch
	line := make([]byte, 100)
	for id := uint64(1); id <= messages; id++ {
		var at uint64
		p := c.Write(func(b *Batch) {
			b.Delete(id, 200)
			b.Event(id, line)
			at = b.Position().number
		})
		if p.number != at || p.number < uint64(len(want)) {
			t.Fatalf("message %d is in batch %d, and not in %d", id, p.number, at)
		}
		for uint64(len(want)) < at {
			want = append(want, "")
		}
		want[at-1] += fmt.Sprintf("%d %d ", id, id)
	}
	if st := c.Stats(); st.Waiting < messages || st.Octets < 100*messages-fullBatch {
		t.Errorf("%+v", st)
	}
	if len(want) < 100*messages/maxBatch {
		t.Errorf("%d batches", len(want))
	}
	close(s.hangs)
	if err := c.Sync(); err != nil {
		t.Error(err)
	}
	if st := c.Stats(); st.Waiting != 0 || st.Octets != 0 || st.Commits != int64(len(want)) {
		t.Errorf("%+v, want %d commits", st, len(want))
	}
	c.Close()
	if want[0] == "" { // it was taken before the first message
		want[0] = fmt.Sprint(messages+1, " ")
	} else {
		want[0] = fmt.Sprint(messages+1, " ", want[0])
	}
	if !slices.Equal(s.pieces, want) {
		t.Error("the pieces are others than the positions say")
	}
	if most := slices.Max(s.sizes); most > maxBatch || most < fullBatch {
		t.Errorf("the largest piece has %d octets", most)
	}
	if n := len(e.all); n != len(want) || e.all[n-1] != fmt.Sprint(n, true) {
		t.Errorf("%d commits ended", n)
	}
}

// What full batches leave whose commits fail comes in front of the others, and none of them waits for a rest.
func TestCommitterPiecesFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, e := &sized{hangs: make(chan struct{}), fails: 3}, &ended{}
		c := NewCommitter(s, running{}, e.note)
		defer c.Close()
		put(c, 1)
		c.Commit()
		synctest.Wait()
		large := make([]byte, fullBatch)
		for id := range uint64(3) {
			c.Write(func(b *Batch) { b.Event(id+2, large) })
		}
		put(c, 5)
		began := time.Now()
		close(s.hangs)
		if err := c.Sync(); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took > 0 {
			t.Errorf("it took %v", took)
		}
		e.want(t, "1 false", "2 false", "3 false", "4 true", "5 true")
		if want := []string{"1 2 3 4 ", "5 "}; !slices.Equal(s.pieces, want) {
			t.Errorf("committed %q, want %q", s.pieces, want)
		}
	})
}

// A batch that another goroutine has collected, and a change of one, is not divided, however large.
func TestCommitterWhole(t *testing.T) {
	t.Parallel()
	s := &sized{hangs: make(chan struct{})}
	close(s.hangs)
	c := NewCommitter(s, running{})
	large := make([]byte, fullBatch)
	three := func(b *Batch) {
		for id := range uint64(3) {
			b.Event(id, large)
		}
	}
	var b Batch
	three(&b)
	first, second, third := c.Append(&b), c.Write(three), put(c, 7)
	if second.number != first.number+1 || third != second.number+1 {
		t.Errorf("positions %d, %d, %d", first.number, second.number, third)
	}
	c.Close()
	if want := []string{"0 1 2 ", "0 1 2 ", "7 "}; !slices.Equal(s.pieces, want) {
		t.Errorf("committed %q, want %q", s.pieces, want)
	}
}
