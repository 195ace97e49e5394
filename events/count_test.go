package events

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// A tally is a Counter that saves once in ten seconds.
type tally struct {
	counted, saved uint64
	lastSave       time.Time
	fail           bool
}

func (c *tally) Begin(uint64) error { return nil }
func (c *tally) Counted() uint64    { return c.counted }

func (c *tally) Count(lines []byte) error {
	for _, b := range lines {
		if b == '\n' {
			c.counted++
		}
	}
	return nil
}

func (c *tally) Save(now bool) (time.Time, error) {
	at := c.lastSave.Add(10 * time.Second)
	if !now && time.Now().Before(at) {
		return at, nil
	}
	if c.lastSave = time.Now(); c.fail {
		return c.lastSave.Add(10 * time.Second), errors.New("the disk is full")
	}
	c.saved = c.counted
	return time.Time{}, nil
}

// What was counted is saved although no further event comes, and again when that has failed.
func TestCountsAreSaved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &tally{}
		r := newRig(t, Options{Counter: c})
		go r.run()
		synctest.Wait()
		for n, step := range []struct {
			events int
			wait   time.Duration
			fail   bool
			saved  uint64
		}{
			{1, 2 * time.Second, false, 0}, // what the start had was saved then
			{2, 7 * time.Second, false, 0},
			{0, time.Second, false, 3},
			{0, time.Hour, false, 3},
			{1, 2 * time.Second, false, 4}, // it is long ago
			{1, 2 * time.Second, true, 4},
			{0, 8 * time.Second, true, 4},
			{0, 10 * time.Second, false, 5},
		} {
			c.fail = step.fail
			if r.wake(step.events, step.wait); c.saved != step.saved {
				t.Errorf("step %d: %+v, want %d to be saved", n, c, step.saved)
			}
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		r.Writer = nil
	})
}
