package keep_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"pmg/connector"
	"pmg/gateway/keep"
	"pmg/sms"
	"pmg/store"
)

// What may be in the store is read again; what is not there, or is damaged, is missing. After a minute of tries it is, too.
func TestRead(t *testing.T) {
	t.Parallel()
	p := newRig(t)
	ids := p.put(4)
	p.disk.reads = func(id uint64) error {
		switch id {
		case ids[1]:
			return errDisk
		case ids[2]:
			return fmt.Errorf("sector 7: %w", store.ErrDamaged)
		}
		return nil
	}
	for _, c := range []struct {
		tries           int
		missing, failed []uint64
	}{
		{0, []uint64{ids[2], 9}, ids[1:2]}, {keep.LoadTries - 1, []uint64{ids[2], 9}, ids[1:2]},
		{keep.LoadTries, []uint64{ids[1], ids[2], 9}, nil},
	} {
		messages, missing, failed := p.Keeper.Read(append(ids[:4:4], 9), c.tries)
		if len(messages) != 2 || messages[0].ID != ids[0] || messages[1].ID != ids[3] {
			t.Errorf("%d tries: %v", c.tries, messages)
		}
		if fmt.Sprint(missing) != fmt.Sprint(c.missing) || fmt.Sprint(failed) != fmt.Sprint(c.failed) {
			t.Errorf("%d tries: missing %v, failed %v", c.tries, missing, failed)
		}
	}
	log := p.log.String()
	for id, lines := range map[uint64]int{ids[0]: 0, ids[1]: 2, ids[2]: 3, 9: 0} { // the first try, the last one; each time
		if n := strings.Count(log, `"id":"`+sms.FormatID(id)+`"`); n != lines {
			t.Errorf("%d lines of message %d, want %d: %s", n, id, lines, log)
		}
	}
}

// Lanes get what they want in turns, of which one does not keep the others waiting; what could not be read is tried again, until
// the end.
func TestLoad(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := rigOn(t, &disk{Store: store.NewMemory()})
		defer func() { _ = p.Keeper.Close() }()
		reads := map[uint64]int{}
		var mu sync.Mutex
		seen := func() map[uint64]int {
			mu.Lock()
			defer mu.Unlock()
			return maps.Clone(reads)
		}
		p.disk.reads = func(id uint64) error {
			mu.Lock()
			defer mu.Unlock()
			reads[id]++
			if id == 1 && reads[id] < 4 {
				return errDisk
			}
			return nil
		}
		many := make([]uint64, 2*keep.LoadAtATime+1)
		for i := range many {
			many[i] = 10 + uint64(i)
		}
		long, short := p.share().Lane, p.Table.AccountLane(p.Node.Config(), "client")
		p.Keeper.Load(long, many)
		p.Keeper.Load(short, []uint64{1, 2})
		many[0] = 5 // the caller's again
		var turns []string
		p.Keeper.Loads.Begin(func(l *connector.Lane, _ func(int64)) bool {
			turns = append(turns, fmt.Sprint(l == short, " ", len(seen())))
			return true
		})
		synctest.Wait()
		if want := "[false 512 true 514 false 1026 false 1027]"; fmt.Sprint(turns) != want {
			t.Errorf("the turns are %v, want %s", turns, want)
		}
		for id, n := range seen() {
			if n != 1 || id == 5 {
				t.Errorf("message %d is read %d times", id, n)
			}
		}
		for tries, pause := range []int{20, 40, 80} { // milliseconds
			sleep(pause - 1)
			if seen()[1] != tries+1 {
				t.Errorf("after %d tries it is read in less than %d ms", tries, pause)
			}
			sleep(1)
			if n := seen(); n[1] != tries+2 || n[2] != 1 {
				t.Errorf("after %d tries it is read %d times, the one that was there %d", tries, n[1], n[2])
			}
		}
		sleep(10_000)
		if n := seen()[1]; n != 4 {
			t.Errorf("it is read %d times although it is found missing", n)
		}
		mu.Lock()
		reads[1] = 0
		mu.Unlock()
		p.Keeper.Load(short, []uint64{1})
		synctest.Wait()
		p.Keeper.Loads.End()
		p.Keeper.Load(short, []uint64{2})
		sleep(10_000)
		if n := seen(); n[1] != 1 || n[2] != 1 {
			t.Errorf("after the end: %d and %d", n[1], n[2])
		}
	})
}

// Notes of persons can be read, changed and purged where the store can remove single ones; and only what is committed is there.
func TestErasing(t *testing.T) {
	t.Parallel()
	p := newRig(t)
	each := func() (keys string, err error) {
		e := keep.NewErasing(p.Keeper)
		err = e.EachNote(t.Context(), func(n *store.Note) error {
			if ok, err := e.IsStill(n); !ok || err != nil {
				t.Error(ok, err)
			}
			keys += string(n.Key)
			return nil
		})
		return keys, err
	}
	p.Keeper.Open(p.disk.Store, func(store.Position, error) {})
	p.Keeper.Batches.Write(func(b *store.Batch) { b.Note(store.KindPaid, []byte("a"), nil, 7) })
	if keys, err := each(); keys != "a" || err != nil {
		t.Errorf("the notes are %q, %v", keys, err)
	}
	e := keep.NewErasing(p.Keeper)
	if err := e.Write(func(b *store.Batch) { b.Erase(store.KindPaid, []byte("a"), 7) }); err != nil {
		t.Error(err)
	}
	if keys, err := each(); keys != "" || err != nil {
		t.Errorf("the notes are %q, %v", keys, err)
	}
	purged := false
	if err := e.Purge(t.Context(), func() error { purged = true; return nil }); err != nil || !purged {
		t.Error(purged, err)
	}
	p.Keeper.Open(p.disk, func(store.Position, error) {}) // of which single notes cannot be removed
	if keys, err := each(); keys != "" || err != nil {
		t.Errorf("the notes are %q, %v", keys, err)
	}
	e = keep.NewErasing(p.Keeper)
	if still, err := e.IsStill(&store.Note{}); still || err != nil {
		t.Error(still, err)
	}
	if err := e.Purge(t.Context(), func() error { return errors.New("called") }); err != nil {
		t.Error(err)
	}
	p.disk.fail(errDisk)
	defer p.disk.fail(nil)
	if err := e.Write(func(b *store.Batch) { b.Note(store.KindPaid, []byte("b"), nil, 7) }); !errors.Is(err, errDisk) {
		t.Error(err)
	}
	if err := e.EachNote(context.Background(), nil); !errors.Is(err, errDisk) {
		t.Error(err)
	}
	if _, err := p.Keeper.BackUp("monday"); err == nil {
		t.Error("a copy is made of what is not committed")
	}
}
