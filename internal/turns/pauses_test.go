package turns

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// An owner whose work has taken long pauses, and others do not; those that come together take turns. Nothing is remembered of
// pauses that are over.
func TestPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPauses(2, 32)
		work := func(owner string, lasts time.Duration) bool {
			ctx, end := context.WithTimeout(t.Context(), 10*time.Second)
			defer end()
			done := p.Begin(owner, ctx.Done())
			if done == nil {
				return false
			}
			time.Sleep(lasts)
			done()
			return true
		}
		for range 3 {
			if !work("short", shortTime) {
				t.Error("a short one pauses")
			}
		}
		if !work("long", time.Second) || work("long", 0) || !work("other", 0) {
			t.Error("the wrong one pauses")
		}
		time.Sleep(pauseFactor*time.Second + 1)
		if !work("long", 0) || len(p.after) != 0 {
			t.Errorf("it pauses for ever, or is remembered: %v", p.after)
		}
		for _, owner := range []string{"a", "b"} { // they take all places
			go work(owner, 5*time.Second)
		}
		synctest.Wait()
		if !work("third", 0) {
			t.Error("a third one gets no place")
		}
		synctest.Wait()
	})
}
