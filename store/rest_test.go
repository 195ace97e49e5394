package store

import (
	"testing"
	"testing/synctest"
	"time"
)

func (e *ended) count() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.all)
}

// Behind a large commit the next one waits for as many changes as were in that and have come meanwhile, and for a moment at most.
// Behind a small one it waits for nothing.
func TestCommitterRests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		s, e := &laggard{takes: time.Second}, &ended{}
		c := NewCommitter(s, running{}, e.note)
		next := uint64(0)
		write := func(n int) {
			for range n {
				next++
				put(c, next)
			}
			c.Commit()
			synctest.Wait()
		}
		at := func(why string, want time.Duration) {
			t.Helper()
			for n := e.count(); e.count() == n; {
				time.Sleep(time.Millisecond / 4)
				synctest.Wait()
			}
			if got := time.Since(began).Truncate(time.Millisecond / 4); got != want {
				t.Errorf("%s: after %v, want %v", why, got, want)
			}
		}
		write(largeBatch)
		write(10)
		at("the first", time.Second)
		write(largeBatch - 1)
		time.Sleep(time.Millisecond)
		write(1) // now it has enough
		at("the second, which had enough", 2*time.Second+time.Millisecond)
		write(20)
		at("the third, which has not", 3*time.Second+4*time.Millisecond)
		write(20)
		at("the fourth, behind a small one", 4*time.Second+4*time.Millisecond)
		c.Close()
		for i, want := range []int{largeBatch, largeBatch + 10, 20, 20} {
			if got := len(s.batches[i]); got != want {
				t.Errorf("batch %d has %d changes, want %d", i, got, want)
			}
		}
	})
}
