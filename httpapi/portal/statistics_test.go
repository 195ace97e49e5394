package portal

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// An account that has read statistics for long pauses, and others do not; those that come together take turns.
func TestReadings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReadings()
		read := func(account string, lasts time.Duration) bool {
			ctx, end := context.WithTimeout(t.Context(), readingTime)
			defer end()
			done := r.begin(ctx, account)
			if done == nil {
				return false
			}
			time.Sleep(lasts)
			done()
			return true
		}
		for range 3 {
			if !read("short", shortTime) {
				t.Error("a short one pauses")
			}
		}
		if !read("long", time.Second) || read("long", 0) || !read("other", 0) {
			t.Error("the wrong one pauses")
		}
		time.Sleep(pauseFactor*time.Second + 1)
		if !read("long", 0) {
			t.Error("it pauses for ever")
		}
		for _, account := range []string{"a", "b"} { // they take all places
			go read(account, 5*time.Second)
		}
		synctest.Wait()
		if !read("third", 0) {
			t.Error("a third one gets no place")
		}
		synctest.Wait()
	})
}
