package gateway

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"pmg/gateway/keep"
)

const (
	gib = int64(1 << 30)
)

// A file system that does not answer keeps nothing else from being done, and is asked again
// only when it has answered.
func TestSpaceHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := startRig(t)
		r.withDisk()
		asked, answer := 0, make(chan keep.Space)
		r.g.Keeper.WatchSpace(func() (keep.Space, error) {
			asked++
			return <-answer, nil
		})
		for s := range int64(5) {
			r.g.SeeClock(r.now + s*second)
		}
		synctest.Wait()
		if asked != 1 || r.g.Keeper.Trouble() != "" {
			t.Errorf("asked %d times, %q", asked, r.g.Keeper.Trouble())
		}
		answer <- keep.Space{Free: 1, Total: gib}
		synctest.Wait()
		if r.g.Keeper.Trouble() == "" {
			t.Error("the answer was not heard")
		}
		r.g.SeeClock(r.now + 10*second)
		answer <- keep.Space{Free: gib, Total: gib}
		synctest.Wait()
		if asked != 2 || r.g.Keeper.Trouble() != "" {
			t.Errorf("asked %d times, %q", asked, r.g.Keeper.Trouble())
		}
	})
}

// Between two looks only a part of the room is used, however much comes.
func TestSpaceFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := startRig(t)
		r.withDisk()
		answer := make(chan keep.Space, 1)
		answer <- keep.Space{Free: gib + 400, Total: 100 * gib}
		r.g.Keeper.WatchSpace(func() (keep.Space, error) { return <-answer, nil })
		r.g.Keeper.CheckSpace()
		r.g.Keeper.Spend(100)
		if !r.g.Keeper.MayStore() {
			t.Error("refused with room")
		}
		r.g.Keeper.Spend(1)
		if r.g.Keeper.MayStore() {
			t.Error("accepted although more came than there may be room for")
		}
		answer <- keep.Space{Free: 2 * gib, Total: 100 * gib}
		synctest.Wait()
		if !r.g.Keeper.MayStore() {
			t.Error("refused although there is room")
		}
	})
}

// A store that has failed makes the gateway not ready.
func TestStoreTrouble(t *testing.T) {
	t.Parallel()
	r := startRig(t)
	r.withDisk()
	if why := r.g.Keeper.Trouble(); why != "" {
		t.Errorf("%q", why)
	}
	r.g.Keeper.StoreFailed(errors.New("input/output error"))
	if s := r.g.Keeper.StoreStatus(); s.Failed != "input/output error" {
		t.Errorf("failed: %q", s.Failed)
	}
	if why := r.g.Keeper.Trouble(); !strings.HasSuffix(why, "the gateway must be restarted: input/output error") {
		t.Errorf("%q", why)
	}
}
