package stages

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pmg/connector"
	"pmg/sms"
	"pmg/store"
)

// A disk is a durable store whose commits take a second. The first ones fail.
type disk struct {
	store.Store
	fails int // commits

	mu      sync.Mutex
	changes []int // of each commit
}

func (d *disk) Durable() bool { return true }

func (d *disk) LastID() uint64 { return 0 }
func (d *disk) Notes(store.Kind, []byte, int, func(key, value []byte) error) error {
	return nil
}
func (d *disk) Close() error       { return nil }
func (d *disk) Tidy()              {}
func (d *disk) Stats() store.Stats { return store.Stats{} }

func (d *disk) Commit(b *store.Batch) error {
	time.Sleep(time.Second)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.changes = append(d.changes, b.Len())
	if len(d.changes) <= d.fails {
		return errors.New("disk error")
	}
	return nil
}

// commitsOf is the engine of a rig: commits go to its persister.
type commitsOf struct{ r *rig }

func (commitsOf) Do(*connector.Lane, func(int64)) bool { return false }

func (c commitsOf) Committed(upTo store.Position, err error) {
	c.r.send(toPersister, Committed, func(j *Job) {
		if j.ID = upTo.Token(); err != nil {
			j.Code = sms.SystemError
		}
	})
}

// persisting runs the persister with a disk. store sends it messages together.
func persisting(t *testing.T, f func(r *rig, d *disk, store func(texts ...string))) {
	synctest.Test(t, func(t *testing.T) {
		r, d := newRig(t, site{}, toPersister), &disk{}
		if err := r.gateway.Keep(d); err != nil {
			t.Fatal(err)
		}
		r.gateway.Keeper.Begin(commitsOf{r})
		f(r, d, func(texts ...string) {
			for _, text := range texts {
				m := r.gateway.Node.Messages.Get()
				m.Origin = r.share().Origin
				m.Set(sms.Address{}, sms.Address{}, []byte(text))
				r.send(toPersister, Store, func(j *Job) { j.Message, j.Share = m, r.share() })
			}
			synctest.Wait()
		})
		if err := r.gateway.Close(); err != nil {
			t.Error(err)
		}
		r.close()
	})
}

// stored returns the messages that came back to the builder, with their codes.
func (r *rig) stored() (all []string) {
	synctest.Wait()
	r.mu.Lock()
	for _, j := range r.seen[toBuilder] {
		all = append(all, fmt.Sprintf("%s %s", j.Message.Text(), j.Code))
		j.Message.Release()
		j.Message = nil
	}
	r.mu.Unlock()
	r.take(toBuilder)
	return all
}

// Messages come back when they are committed, in their order; those that come while a
// commit is under way share the next one.
func TestPersister(t *testing.T) {
	persisting(t, func(r *rig, d *disk, store func(...string)) {
		store("a")
		store("b", "c")
		store("d")
		if got := r.stored(); got != nil {
			t.Errorf("%q come back before a commit", got)
		}
		time.Sleep(time.Second)
		if got, want := r.stored(), []string{"a ok"}; !slices.Equal(got, want) {
			t.Errorf("after the first commit %q, want %q", got, want)
		}
		time.Sleep(time.Second)
		if got, want := r.stored(), []string{"b ok", "c ok", "d ok"}; !slices.Equal(got, want) {
			t.Errorf("after the second commit %q, want %q", got, want)
		}
		d.mu.Lock()
		defer d.mu.Unlock()
		if want := []int{1, 3}; !slices.Equal(d.changes, want) {
			t.Errorf("commits of %v changes, want %v", d.changes, want)
		}
		for _, s := range r.take(toDispatcher) {
			if s.Kind != Committed {
				t.Errorf("the dispatcher is sent %s", s.Kind)
			}
		}
	})
}

// The messages of a commit that fails come back with an error, those of the next do not.
func TestPersisterFails(t *testing.T) {
	persisting(t, func(r *rig, d *disk, store func(...string)) {
		d.fails = 1
		store("a")
		store("b")
		time.Sleep(time.Second)
		if got, want := r.stored(), []string{"a system_error"}; !slices.Equal(got, want) {
			t.Errorf("after the first commit %q, want %q", got, want)
		}
		time.Sleep(2 * time.Second) // a commit that failed is followed by a pause
		if got, want := r.stored(), []string{"b ok"}; !slices.Equal(got, want) {
			t.Errorf("after the second commit %q, want %q", got, want)
		}
	})
}

// What comes together is given to the journal in pieces, because that divides none, and each message waits for its own.
func TestPersisterPieces(t *testing.T) {
	persisting(t, func(r *rig, d *disk, _ func(...string)) {
		p := &persister{Deps: &Deps{Gateway: r.gateway}}
		const messages = 100
		for range messages {
			m := r.gateway.Node.Messages.Get()
			m.Origin = r.share().Origin
			m.Set(sms.Address{}, sms.Address{}, make([]byte, 1000))
			p.Work(nil, &Job{Kind: Store, Message: m, Share: r.share()})
			if n := p.batch.Size(); n >= mostCollected {
				t.Fatalf("%d octets are collected", n)
			}
		}
		if left := len(p.waiting) - p.placed; left == 0 || left > messages/3 {
			t.Errorf("%d of %d wait for the end of the batch", left, messages)
		}
		p.Flush(nil)
		for _, s := range p.waiting {
			if s.at.IsZero() {
				t.Error("a message waits for no commit")
			}
			s.job.Message.Release()
		}
		time.Sleep(time.Second)
		synctest.Wait()
		d.mu.Lock()
		defer d.mu.Unlock()
		if want := []int{messages}; !slices.Equal(d.changes, want) {
			t.Errorf("commits of %v changes, want %v", d.changes, want)
		}
	})
}
