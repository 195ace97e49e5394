package keep_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pmg/connector"
	"pmg/gateway/keep"
	"pmg/gateway/roomtest"
	"pmg/sms"
	"pmg/store"
	"pmg/store/journal"
)

var errDisk = errors.New("input/output error")

// The engine is informed how a commit has ended. What follows for peers depends on whether nothing was stored, or nobody knows.
func TestCommitFails(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		code sms.Code
		then string // in the log
	}{
		{nil, sms.OK, ""},
		{fmt.Errorf("cannot commit: %w", journal.ErrFull), sms.SystemError, "they are refused until the store works again"},
		{journal.ErrTooLarge, sms.SystemError, "they are refused until the store works again"},
		{errDisk, sms.Undecided, "whether these are stored, the next start finds out"},
	} {
		p := newRig(t)
		type end struct {
			at  store.Position
			err error
		}
		ends := make(chan end, 100)
		p.Keeper.Begin(committed{func(at store.Position, err error) { ends <- end{at, err} }})
		for range 2 {
			p.disk.fail(c.err)
			at := p.Keeper.Put(keep.Accepted{Message: p.message()}, nil)
			p.Keeper.Commit()
			if e := <-ends; e.at != at || !errors.Is(e.err, c.err) || keep.CodeOf(e.err) != c.code {
				t.Errorf("%v: the commit ends at %v, not %v, with %v", c.err, e.at, at, e.err)
			}
		}
		p.disk.fail(nil)
		if log := p.log.String(); strings.Count(log, "cannot store messages; "+c.then) != min(len(c.then), 1) {
			t.Errorf("%v: the log says %s", c.err, log)
		}
	}
}

// committed is an engine that is informed of commits.
type committed struct{ f func(store.Position, error) }

func (committed) Do(*connector.Lane, func(int64)) bool       { return false }
func (c committed) Committed(upTo store.Position, err error) { c.f(upTo, err) }

// Nothing is dispatched before there is an engine, and after it has ended.
func TestDo(t *testing.T) {
	t.Parallel()
	p := newRig(t)
	ran := 0
	f := func(int64) { ran++ }
	if p.Keeper.Do(p.share().Lane, f) || ran != 0 {
		t.Error("it runs without an engine")
	}
	open := true
	p.Keeper.Begin(roomtest.Engine(func(_ *connector.Lane, f func(int64)) bool {
		if open {
			f(1)
		}
		return open
	}))
	if !p.Keeper.Do(p.share().Lane, f) || ran != 1 {
		t.Error("it does not run")
	}
	if open = false; p.Keeper.Do(p.share().Lane, f) || ran != 1 {
		t.Error("it runs after the end")
	}
}

// Messages that wait for their notes leave when these are safe: the end of messages is committed immediately where one does.
func TestGoOn(t *testing.T) {
	t.Parallel()
	p := newRig(t)
	p.Keeper.Begin(committed{func(store.Position, error) {}})
	if p.Keeper.GoOn() {
		t.Error("they go on before one has left")
	}
	m := p.message()
	p.Keeper.Put(keep.Accepted{Message: m, Share: p.share()}, nil)
	p.Keeper.Leaves(p.share().Lane, m)
	p.disk.fail(errDisk)
	if err := p.Keeper.Batches.Sync(); err == nil {
		t.Fatal("it is stored")
	}
	token := p.Keeper.Leaves(p.share().Lane, m)
	p.Keeper.GoOn()
	if p.Keeper.IsStored(token) {
		t.Error("an intent is safe whose commit has failed")
	}
	p.disk.fail(nil)
	p.sync()
	if !p.Keeper.GoOn() {
		t.Error("they do not go on when the note is safe")
	}
	if p.Keeper.GoOn() {
		t.Error("they go on twice")
	}
}

// Messages of earlier runs are read before balances and such are sure; in memory there are none.
func TestRecovered(t *testing.T) {
	t.Parallel()
	p := newRig(t)
	if p.Keeper.Recovered() || p.Keeper.StoreStatus().Recovered {
		t.Error("before they are read")
	}
	if p.Keeper.SetRecovered(); !p.Keeper.Recovered() || !p.Keeper.StoreStatus().Recovered {
		t.Error("after that")
	}
}

// A message is read with what is known of it, in its lane of now; one that is damaged is no message.
func TestDecode(t *testing.T) {
	t.Parallel()
	p := newRig(t)
	clock := int64(1000 * time.Second)
	p.Node.Clock.EngineClock = func() int64 { return clock }
	p.Node.Clock.SetAhead(int64(50 * time.Second))
	m := p.message()
	m.Arrived, m.NotBefore, m.Attempts = clock, clock+int64(7*time.Second), 2
	p.Keeper.Put(keep.Accepted{Message: m, Share: p.share()}, nil)
	p.Keeper.KeepState(p.share().Lane, m)
	p.sync()
	p.Node.Clock.SetAhead(int64(30 * time.Second)) // the wall clock went back, so that all of this is in the future
	got, _, _ := p.read(m.ID)
	if got.Arrived != clock || got.NotBefore != clock+int64(27*time.Second) || got.Attempts != 2 || got.Account() != "client" {
		t.Errorf("%+v", got)
	}
	var e store.Entry
	if _, err := p.Keeper.Index.Get(m.ID, &e); err != nil {
		t.Fatal(err)
	}
	for name, damaged := range map[string]store.Entry{
		"nothing":             {ID: m.ID},
		"another version":     {ID: m.ID, Record: append([]byte{255}, e.Record[1:]...)},
		"half a record":       {ID: m.ID, Record: e.Record[:len(e.Record)-1], State: e.State},
		"half a head":         {ID: m.ID, Record: e.Record[:10], State: e.State},
		"half a state":        {ID: m.ID, Record: e.Record, State: e.State[:len(e.State)-1]},
		"an empty state":      {ID: m.ID, Record: e.Record, State: []byte{}},
		"a state's version 0": {ID: m.ID, Record: e.Record, State: append([]byte{255}, e.State[1:]...)},
	} {
		if m, _, err := p.Keeper.Decode(&damaged); m != nil || err == nil {
			t.Errorf("%s: %+v, %v", name, m, err)
		}
	}
}

// A message that is sent again waits for no longer than the longest pause, whatever the wall clock does.
func TestNotBefore(t *testing.T) {
	t.Parallel()
	p := newRig(t)
	const now, ahead, longest = int64(1e12), int64(5e12), int64(2 * time.Hour)
	p.Node.Clock.EngineClock = func() int64 { return now }
	for _, c := range []struct{ wall, want int64 }{
		{0, 0}, {ahead + now - 1, now - 1}, {ahead + now + 5, now + 5}, {ahead + now + longest, now + longest},
		{ahead + now + longest + 1, now + longest}, {ahead + now + 1000*longest, now + longest},
	} {
		if got := p.Keeper.NotBefore(c.wall, ahead); got != c.want {
			t.Errorf("%d: %d, want %d", c.wall, got, c.want)
		}
	}
}

// What is found in the store is believed only if no commit failed before, or meanwhile.
func TestFind(t *testing.T) {
	t.Parallel()
	errFind := errors.New("not readable")
	for _, c := range []struct {
		name           string
		before, during error // of commits
		find           error
		want           string
		calls          int
	}{
		{name: "all well", calls: 1},
		{name: "find fails", find: errFind, want: errFind.Error(), calls: 1},
		{name: "a commit before", before: errDisk, want: errDisk.Error()},
		{name: "a commit meanwhile", during: errDisk, want: errDisk.Error(), calls: 1},
	} {
		p := newRig(t)
		p.disk.fail(c.before)
		p.Keeper.Put(keep.Accepted{Message: p.message()}, nil)
		calls := 0
		err := p.Keeper.Find(func() error {
			calls++
			p.disk.fail(c.during)
			p.Keeper.Put(keep.Accepted{Message: p.message()}, nil)
			return c.find
		})
		p.disk.fail(nil)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) || calls != c.calls {
			t.Errorf("%s: %v after %d calls", c.name, err, calls)
		}
	}
	p := newRig(t)
	err := p.Keeper.Find(func() error { // which fails and is over before the end
		p.disk.fail(errDisk)
		p.Keeper.Put(keep.Accepted{Message: p.message()}, nil)
		err := p.Keeper.Batches.Sync()
		p.disk.fail(nil)
		if err == nil {
			t.Error("it is stored")
		}
		return nil
	})
	if err == nil || !strings.Contains(err.Error(), "try again") {
		t.Error(err)
	}
}

// While the disk hangs, submits that wait for it take up to half of the jobs.
func TestMayStore(t *testing.T) {
	t.Parallel()
	p := newRig(t)
	half := int64(p.Node.Config().Limits.MaxJobs) / 2
	for storing, want := range map[int64]bool{0: true, half - 1: true, half: false, half + 1: false} {
		if p.Keeper.Storing.Store(storing); p.Keeper.MayStore() != want {
			t.Errorf("%d of %d wait: %v", storing, half, !want)
		}
	}
	for limit, want := range map[int]int{0: 4, 32: 4, 40: 5, 8000: 1000, 100_000: 1000} {
		if got := keep.StoreFiles(limit); got != want {
			t.Errorf("of %d descriptors the store has %d, want %d", limit, got, want)
		}
	}
}

// A lookup that fails is logged once a minute, and so is a store that is not closed properly, by its error.
func TestSaysWhy(t *testing.T) {
	t.Parallel()
	p := newRig(t)
	p.Keeper.LogLookup(errDisk)
	p.Keeper.LogLookup(errDisk)
	if n := strings.Count(p.log.String(), "cannot find out where a receipt belongs"); n != 1 {
		t.Errorf("logged %d times", n)
	}
	q := rigOn(t, &disk{Store: store.NewMemory(), close: errDisk})
	if err := q.Keeper.Close(); !errors.Is(err, errDisk) || !strings.Contains(err.Error(), "cannot close store: ") {
		t.Error(err)
	}
}
