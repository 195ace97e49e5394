package e2e

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"pmg/gateway/operate"
	"pmg/internal/testkit/testutil"
)

// A hangingDisk does not return from syncs while it hangs.
type hangingDisk struct {
	hangs atomic.Pointer[chan struct{}]
	waits atomic.Int64
}

func (d *hangingDisk) String() string { return "hanging disk" }

func (d *hangingDisk) MaybeError(op errorfs.Op) error {
	switch op.Kind {
	case errorfs.OpFileSync, errorfs.OpFileSyncData, errorfs.OpFileSyncTo:
		if until := d.hangs.Load(); until != nil {
			d.waits.Add(1)
			<-*until
		}
	}
	return nil
}

// hang makes syncs wait until the returned function is called.
func (d *hangingDisk) hang() (release func()) {
	until := make(chan struct{})
	d.hangs.Store(&until)
	return sync.OnceFunc(func() {
		d.hangs.Store(nil)
		close(until)
	})
}

// T6: while the disk hangs no message is confirmed, keep-alives are answered, clients log in,
// and only so many messages wait; nothing is lost afterwards.
func TestHangingDisk(t *testing.T) {
	parallel(t)
	const jobs, many = 1000, 900
	operator, disk := newSMSC(t), &hangingDisk{}
	g := start(t, site{
		operator: operator, store: errorfs.Wrap(vfs.NewMem(), disk),
		limits: fmt.Sprint("max_jobs: ", jobs), clients: "window: 1000", out: "window: 1000",
	})
	s, c := operator.session(), g.bind("transmitter")
	g.online("operator", 1)
	c.put(1, 1)
	s.serve(1, 1)

	release := disk.hang()
	t.Cleanup(release)
	c.submit(2, 2+many-1)
	refused := 0
	c.send("enquire_link seq=999999")
	c.until(func(line string) bool { // no message is accepted before the keep-alive is answered
		if containsAll(line, []string{"submit_sm_resp", "status=0x14(ESME_RMSGQFUL)"}) {
			refused++
		} else if !containsAll(line, []string{"enquire_link_resp", "seq=999999"}) {
			t.Fatalf("while the disk hangs: %s", line)
		} else {
			return true
		}
		return false
	})
	if refused < many-jobs/2 || refused == many {
		t.Errorf("%d of %d messages were refused", refused, many)
	}
	testutil.Eventually(t, "the disk hangs", func() bool { return disk.waits.Load() > 0 })
	g.bind("transmitter").fence()
	s.fence()
	testutil.Eventually(t, "the status says so", func() bool {
		st := g.Gateway.Keeper.StoreStatus()
		return st.CommitFor > 0 && st.Storing == int64(many-refused)
	})
	release()
	accepted := 0
	c.until(func(line string) bool {
		if !containsAll(line, []string{"submit_sm_resp", "status=0"}) {
			t.Fatalf("behind the hanging disk: %s", line)
		}
		accepted++
		return accepted == many-refused
	})
	sent := 0
	s.until(func(line string) bool {
		s.answer(0, field(line, "seq"))
		sent++
		return sent == accepted
	})
}

// T6: a stop while the disk hangs lasts for the time to drain. What was confirmed is in the store when
// the process has ended then, and nothing else is confirmed.
func TestHangingDiskStop(t *testing.T) {
	parallel(t)
	disk, fs := &hangingDisk{}, vfs.NewCrashableMem()
	down := site{more: downRow(t, "operator", ""), routes: "{to: operator}", store: errorfs.Wrap(fs, disk)}
	g := start(t, down)
	c := g.bind("transmitter")
	c.put(1, 2)
	release := disk.hang()
	t.Cleanup(release)
	c.submit(3, 3)
	testutil.Eventually(t, "a submit waits for its commit", func() bool { st := g.Gateway.Keeper.StoreStatus(); return st.Storing == 1 })

	ctx, end := context.WithCancel(t.Context())
	stopped, closed := make(chan error, 1), make(chan error, 1)
	g.once.Do(func() {
		go func() {
			g.engine.Drain(ctx)
			stopped <- g.engine.Close()
			closed <- g.Close()
		}()
	})
	testutil.Eventually(t, "it drains", g.Gateway.Node.Draining)
	end() // the time to drain is over
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	for line, err := c.next(); err == nil; line, err = c.next() {
		if containsAll(line, []string{"submit_sm_resp"}) {
			t.Errorf("answered although the disk hangs: %s", line)
		}
	}
	select {
	case err := <-closed:
		t.Errorf("closed although the disk hangs: %v", err)
	default:
	}
	down.store = fs.CrashClone(vfs.CrashCloneCfg{})
	again := start(t, down)
	equal(t, "messages wait after the next start, not 2", again.Pending(), 2)
	release()
	if err := <-closed; err != nil {
		t.Error(err)
	}
}

// A stop that is hurried waits for the commit under way all the same: submits that wait for it
// leave nothing behind, also those of a client that has gone, and none is refused that is stored.
func TestHurriedStop(t *testing.T) {
	parallel(t)
	for _, gone := range []bool{false, true} {
		disk, fs := &hangingDisk{}, vfs.NewCrashableMem()
		down := site{more: downRow(t, "operator", ""), routes: "{to: operator}", store: errorfs.Wrap(fs, disk)}
		g := start(t, down)
		c := g.bind("transmitter")
		release := disk.hang()
		t.Cleanup(release)
		c.submit(1, 1)
		testutil.Eventually(t, "a submit waits for its commit", func() bool { st := g.Gateway.Keeper.StoreStatus(); return st.Storing == 1 })
		if gone {
			c.conn.Close()
			g.bind("transmitter").fence() // what came before it was read
		}
		ctx, hurry := context.WithCancel(t.Context())
		hurry()
		stopped := make(chan error, 1)
		g.once.Do(func() {
			go func() {
				g.engine.Drain(ctx)
				err := g.engine.Close()
				stopped <- errors.Join(err, g.Close())
			}()
		})
		testutil.Eventually(t, "it drains", g.Gateway.Node.Draining)
		release()
		if err := <-stopped; err != nil {
			t.Error(err)
		}
		if n := g.engine.Counters().Jobs; n != 0 {
			t.Errorf("gone %v: %d jobs are left", gone, n)
		}
		if line, err := c.next(); err == nil && !containsAll(line, []string{"submit_sm_resp", "status=0"}) { // or the end came first
			t.Errorf("gone %v: %s", gone, line)
		}
		down.store = fs.CrashClone(vfs.CrashCloneCfg{})
		again := start(t, down)
		if n := again.Pending(); n != 1 {
			t.Errorf("gone %v: %d messages wait after the next start", gone, n)
		}
		again.stop()
	}
}

// A failingDisk fails one operation that changes it.
type failingDisk struct {
	armed atomic.Bool
	left  atomic.Int64 // operations until the one that fails
	what  atomic.Pointer[string]
}

func (d *failingDisk) String() string { return "failing disk" }

func (d *failingDisk) MaybeError(op errorfs.Op) error {
	switch op.Kind {
	case errorfs.OpCreate, errorfs.OpRename, errorfs.OpReuseForWrite, errorfs.OpFileWrite, errorfs.OpFileSync, errorfs.OpFileSyncData, errorfs.OpFileSyncTo:
	default:
		return nil
	}
	if !d.armed.Load() || d.left.Add(-1) != 0 {
		return nil
	}
	what := fmt.Sprint(op.Kind, " ", op.Path)
	d.what.Store(&what)
	return errors.New("input/output error")
}

// T2: whichever operation on the disk fails, every submit is answered, or its session ends, and each message
// that was accepted is in the store after a crash and the next start.
func TestFailingDisk(t *testing.T) {
	parallel(t)
	const lanes = 5
	for lane := range lanes {
		t.Run(fmt.Sprint("from ", lane+1), func(t *testing.T) {
			t.Parallel()
			for k := lane + 1; failsAt(t, int64(k)); k += lanes {
			}
		})
	}
}

// failsAt fails operation k on the disk. It reports false if there are not so many.
func failsAt(t *testing.T, k int64) bool {
	disk, fs := &failingDisk{}, vfs.NewCrashableMem()
	disk.left.Store(k)
	down := site{more: downRow(t, "operator", ""), routes: "{to: operator}", store: errorfs.Wrap(fs, disk)}
	g := start(t, down)
	g.broken = true
	c := g.bind("transmitter")
	disk.armed.Store(true)
	accepted := map[string]bool{}
	const many = 10
	for n := 1; n <= many; n++ {
		c.submit(n, n)
		line, err := c.next()
		if err != nil { // it is not known whether it was stored
			break
		}
		if !containsAll(line, []string{"submit_sm_resp", fmt.Sprint("seq=", n)}) {
			t.Fatal(line)
		}
		if field(line, "status") == "0" || field(line, "status") == "0(ESME_ROK)" {
			accepted[field(line, "message_id")] = true
		}
	}
	what := disk.what.Load()
	if st := g.Gateway.Keeper.StoreStatus(); what != nil && len(accepted) < many {
		testutil.Eventually(t, "the gateway knows that its store has failed", func() bool {
			st = g.Gateway.Keeper.StoreStatus()
			return st.Failed != ""
		})
	} else if len(accepted) != many {
		t.Errorf("%d messages were accepted on a disk that works", len(accepted))
	}
	disk.armed.Store(false)
	crashed := fs.CrashClone(vfs.CrashCloneCfg{})
	c.conn.Close()
	g.stop()
	down.store = crashed
	g = start(t, down)
	p, err := g.Operate.ListStored(operate.Selection{}, 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range p.Messages {
		delete(accepted, m.ID)
	}
	if len(accepted) > 0 {
		t.Errorf("%v fails: accepted and lost: %v", what, accepted)
	}
	g.stop()
	return what != nil
}
