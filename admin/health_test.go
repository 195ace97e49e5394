package admin

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pmg/stages/flow"
)

func TestStalledStage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewProgress()
		check := func(why string, depth int, batches int64, want ...string) {
			t.Helper()
			if got := p.Stalled([]flow.Stats{{Name: "builder", Depth: depth, Batches: batches}}); !slices.Equal(got, want) {
				t.Errorf("%s: got %q, want %q", why, got, want)
			}
		}
		check("nothing to do", 0, 7)
		time.Sleep(time.Hour)
		check("jobs have just come", 3, 7)
		time.Sleep(time.Second)
		check("a batch may take a while", 3, 7)
		time.Sleep(5 * time.Second)
		check("no batch done", 4, 7, "stage builder has made no progress for 6s with 4 jobs in its inbox")
		check("it goes on", 4, 8)
		time.Sleep(time.Minute)
		check("always jobs, always progress", 4, 900)
		check("inbox empty", 0, 900)
		time.Sleep(time.Minute)
		check("the wait before counts no more", 1, 900)
	})
}
