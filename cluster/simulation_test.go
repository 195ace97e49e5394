package cluster

import (
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pmg/cluster/lease"
	"pmg/cluster/lease/leasetest"
	"pmg/internal/testkit/testutil"
	"pmg/store/journal"
	"pmg/store/journal/journaltest"
	"pmg/store/journal/shared"
)

var histories = flag.Uint64("histories", 0, "how many histories TestSimulation has; 0: a few")

// A mutant is a node that breaks a rule, in a way that the oracles must find.
type mutant string

const (
	sound        mutant = ""
	noFence      mutant = "what a deposed owner has appended counts"
	noLook       mutant = "an owner does not look what stands in front of its record"
	getBelieved  mutant = "a node that reads its name in the cell sends"
	early        mutant = "an owner sends beyond its lease, when another may take over"
	noBarrier    mutant = "an owner does not follow past its epoch"
	noHalt       mutant = "an owner goes on to send while an append is late"
	simLease            = time.Second
	simDead             = 1200 * time.Millisecond
	simBeat             = 50 * time.Millisecond
	simWindow           = 5
	simLate             = 100 * time.Millisecond
	simTrouble          = 30 * time.Second // of each history, then all is well
	simQuiet            = 15 * time.Second
	attemptWait         = 200 * time.Millisecond
	followEvery         = 10 * time.Millisecond
	simNodes            = 3
	longestCut          = 4 * time.Second
	longestDelay        = 30 * time.Millisecond
)

// A disk is what is left of a node when its process has ended.
type disk struct {
	at      journal.Seq
	id      journal.ID
	waiting map[uint64]bool
	sum     uint64
}

// A simNode is a process of a node.
type simNode struct {
	w      *world
	name   string
	number uint32
	disk   *disk

	ctx    context.Context
	link   *link
	shared *shared.Journal
	holder *lease.Holder
	sum    uint64
	since  atomic.Int64 // when the append under way began; 0: there is none
	stands atomic.Int64 // until when the process stands still

	mu      sync.Mutex
	waiting map[uint64]bool
	sending map[uint64]bool // sent, and not answered
	ended   map[uint64]bool // answered, and the end is not stored
}

// live is the life of one process.
func (n *simNode) live(ctx context.Context) {
	o := lease.Options{Node: n.name, Lease: simLease, Dead: simDead, Beat: simBeat, Eligible: true}
	var cancel context.CancelFunc
	n.ctx, cancel = context.WithCancel(ctx)
	n.link = &link{n.w.journal, n.w, n.name, n.ctx}
	n.shared = shared.New(n.link, n.number)
	n.waiting, n.sum, n.sending = maps.Clone(n.disk.waiting), n.disk.sum, map[uint64]bool{}
	n.ended = map[uint64]bool{}
	if n.disk.at > 0 {
		n.shared.Seed(n.disk.at, n.disk.id)
	}
	n.holder, _ = lease.New(n.w.cell.Of(n.name), o)
	var running sync.WaitGroup
	running.Go(func() { n.holder.Run(n.ctx) })
	if epoch, ok := n.standBy(); ok {
		n.work(epoch)
	}
	cancel()
	running.Wait()
}

// apply carries a record out.
func (n *simNode) apply(at journal.Seq, id journal.ID, record []byte) {
	h := fnv.New64a()
	_ = binary.Write(h, binary.BigEndian, n.sum) // a hash takes all
	_, _ = h.Write(record)
	n.sum = h.Sum64()
	n.mu.Lock()
	defer n.mu.Unlock()
	for ; len(record) >= 9; record = record[9:] {
		m := binary.BigEndian.Uint64(record[1:])
		if record[0] == 'p' {
			n.waiting[m] = true
		} else {
			delete(n.waiting, m)
			delete(n.ended, m)
		}
	}
	n.w.applied(n.name, at, n.sum)
	if n.w.draw(20) == 0 {
		*n.disk = disk{at, id, maps.Clone(n.waiting), n.sum}
	}
}

// followOnce applies what there is.
func (n *simNode) followOnce() error {
	return n.link.Follow(n.shared.Last(), func(at journal.Seq, id journal.ID, record []byte) error {
		epoch := n.shared.Epoch()
		counts, err := n.shared.Judge(at, id)
		if counts || n.w.mutant == noFence && id.Run < epoch {
			n.apply(at, id, record)
		}
		return err
	})
}

// standBy follows until this node owns the work and has all that there was before.
func (n *simNode) standBy() (epoch uint32, ok bool) {
	for n.ctx.Err() == nil {
		if err := n.followOnce(); err != nil {
			n.broke(err)
			return 0, false
		}
		switch s := n.holder.Status(); {
		case s.State.Ended():
			return 0, false
		case s.State == lease.Owner:
			return n.begin(uint32(s.Epoch))
		}
		time.Sleep(followEvery)
	}
	return 0, false
}

// broke records an error that is none of a process that ends.
func (n *simNode) broke(err error) {
	if !errors.Is(err, journal.ErrClosed) && !errors.Is(err, shared.ErrDeposed) {
		n.w.fail("node %s: %v", n.name, err)
	}
}

func (n *simNode) begin(epoch uint32) (uint32, bool) {
	at, err := n.shared.Begin(epoch, []byte("epoch"))
	if err != nil {
		return 0, false
	}
	if n.w.mutant == noBarrier {
		n.shared.Seed(at, journal.ID{Node: n.number, Run: epoch, Number: 1})
	}
	for n.shared.Last() < at {
		if err := n.followOnce(); err != nil {
			n.broke(err)
			return 0, false
		}
	}
	return epoch, n.shared.Own(epoch) == nil
}

// holds reports whether this node may send.
func (n *simNode) holds() bool {
	switch n.w.mutant {
	case getBelieved:
	case early:
		return n.holder.Status().State == lease.Owner
	default:
		return n.holder.Holds()
	}
	octets, _, err := n.w.cell.Of(n.name).Read(n.ctx)
	v, wrong := lease.Decode(octets)
	return err == nil && wrong == nil && v.Node == n.name && !v.Vacant
}

// work accepts messages, sends them and stores that they have ended, until this node does not own the work any more.
func (n *simNode) work(epoch uint32) {
	ctx, cancel := context.WithCancel(n.ctx)
	var sender sync.WaitGroup
	sender.Go(func() {
		for ; ctx.Err() == nil; n.pause() {
			n.send(epoch)
		}
	})
	for ; n.ctx.Err() == nil; n.pause() {
		s := n.holder.Status()
		if n.w.mutant != getBelieved && (s.State != lease.Owner || !s.Holding && n.w.mutant != early) {
			break
		}
		if !n.step() {
			break
		}
	}
	cancel()
	sender.Wait()
}

// pause passes some time. Now and then it is long, as that of a process that stands still.
func (n *simNode) pause() {
	time.Sleep(n.w.delay())
	if n.w.goesWrong(100) {
		until := time.Now().UnixNano() + int64(n.w.draw(int(longestCut)))
		before := n.stands.Load()
		for until > before && !n.stands.CompareAndSwap(before, until) { // as a whole: nothing goes on before the rest
			before = n.stands.Load()
		}
	}
	for time.Now().UnixNano() < n.stands.Load() {
		time.Sleep(time.Duration(n.stands.Load() - time.Now().UnixNano()))
	}
}

// isLate reports whether the append under way takes too long for more to be sent.
func (n *simNode) isLate() bool {
	since := n.since.Load()
	return since != 0 && time.Now().UnixNano()-since > int64(simLate) && n.w.mutant != noHalt
}

// send sends a message that waits.
func (n *simNode) send(epoch uint32) {
	if n.isLate() || !n.holds() {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(n.waiting)) {
		if !n.sending[id] && !n.ended[id] && len(n.sending) < simWindow {
			n.sending[id] = true
			n.w.send(n.name, uint64(epoch), id)
			sending, ended := n.sending, n.ended // of this process
			n.w.late.Go(func() {
				time.Sleep(n.w.delay())
				n.mu.Lock()
				defer n.mu.Unlock()
				delete(sending, id)
				ended[id] = true
			})
			return
		}
	}
}

// step takes messages of clients, and stores what has ended; ok is false when nothing can be stored any more.
func (n *simNode) step() (ok bool) {
	var taken []uint64
	for range n.w.submits() {
		taken = append(taken, n.w.next())
	}
	n.mu.Lock()
	ended := slices.Sorted(maps.Keys(n.ended))
	n.mu.Unlock()
	if len(taken)+len(ended) == 0 {
		return true
	}
	if !n.store(taken, ended) {
		return false
	}
	for _, id := range taken {
		if n.holds() {
			n.w.accept(id)
		}
	}
	return true
}

// store appends a record, and carries it out.
func (n *simNode) store(taken, ended []uint64) bool {
	var record []byte
	for _, id := range taken {
		record = binary.BigEndian.AppendUint64(append(record, 'p'), id)
	}
	for _, id := range ended {
		record = binary.BigEndian.AppendUint64(append(record, 'e'), id)
	}
	n.since.Store(time.Now().UnixNano())
	defer n.since.Store(0)
	at, err := n.append(record)
	if err != nil {
		n.broke(err)
		return false
	}
	n.apply(at, journal.ID{Node: n.number, Run: n.shared.Epoch(), Number: n.shared.Number()}, record)
	return true
}

func (n *simNode) append(record []byte) (journal.Seq, error) {
	if n.w.mutant != noLook {
		return n.shared.Append(journal.ID{}, record)
	}
	id := journal.ID{Node: n.number, Run: n.shared.Epoch(), Number: n.shared.Number() + 1}
	at, err := n.link.Append(id, record)
	if err == nil {
		n.shared.Seed(at, id)
	}
	return at, err
}

// fate is what happens to a node: its process is killed and started again, and it is cut off now and then.
func (w *world) fate(ctx context.Context, n *simNode) {
	for ctx.Err() == nil {
		life, kill := context.WithCancel(ctx)
		var lives sync.WaitGroup
		lives.Go(func() { n.live(life) })
		for life.Err() == nil {
			pause := time.Duration(w.draw(int(5 * time.Second)))
			if w.isQuiet() {
				pause = time.Hour
			}
			ended := make(chan struct{})
			go func() { lives.Wait(); close(ended) }()
			select {
			case <-ended:
				kill()
			case <-time.After(pause):
				if w.draw(2) == 0 {
					kill()
				} else {
					w.setCut(n.name, true)
					time.Sleep(time.Duration(w.draw(int(longestCut))))
					w.setCut(n.name, false)
				}
			case <-ctx.Done():
				kill()
			}
			<-orDone(ended, life)
		}
		kill()
		lives.Wait()
		time.Sleep(time.Duration(w.draw(int(time.Second))))
	}
}

// orDone returns a closed channel unless a context has ended: then it is closed later.
func orDone(ended <-chan struct{}, ctx context.Context) <-chan struct{} {
	if ctx.Err() != nil {
		return ended
	}
	now := make(chan struct{})
	close(now)
	return now
}

// simulate runs a history, and returns what went wrong.
func simulate(t *testing.T, seed uint64, m mutant) (wrong []string) {
	synctest.Test(t, func(*testing.T) {
		w := &world{
			mutant: m, random: rand.New(rand.NewPCG(seed, 36)), cut: map[string]bool{}, accepted: map[uint64]bool{},
			sent: map[uint64][]uint64{}, times: map[uint64][]time.Time{}, sums: map[journal.Seq]uint64{},
		}
		w.journal = journaltest.New(nil)
		w.cell = leasetest.New(func(string, bool) leasetest.Fault {
			f := leasetest.Fault{Request: w.delay(), Answer: w.delay(), Lost: w.goesWrong(50), Silent: w.goesWrong(50)}
			if w.goesWrong(5) {
				f.Stale = uint64(w.draw(30))
			}
			return f
		})
		ctx, end := context.WithCancel(context.Background())
		var all sync.WaitGroup
		var nodes []*simNode
		for i := range simNodes {
			n := &simNode{w: w, name: string(rune('a' + i)), number: uint32(i + 1), disk: &disk{waiting: map[uint64]bool{}}}
			nodes = append(nodes, n)
			all.Go(func() { w.fate(ctx, n) })
		}
		time.Sleep(simTrouble)
		w.mu.Lock()
		w.calm = true
		w.mu.Unlock()
		for _, n := range nodes {
			w.cell.Cut(n.name, false)
		}
		time.Sleep(simQuiet)
		end()
		all.Wait()
		w.late.Wait()
		wrong = w.judge()
	})
	return wrong
}

// Three nodes with a lossy network, processes that are killed and stand still: nothing that was accepted is lost, one owner
// sends, copies are equal, and no more is sent twice than the window at each change of the owner, and what ends while two appends
// become late.
func TestSimulation(t *testing.T) {
	n := *histories
	if n == 0 {
		n = testutil.Histories(100)
	}
	for seed := range n {
		if wrong := simulate(t, seed, sound); len(wrong) > 0 {
			t.Fatalf("history %d: %q", seed, wrong)
		}
	}
}

// Each rule that a node breaks is found.
func TestSimulationFinds(t *testing.T) {
	testutil.Long(t)
	for _, m := range []mutant{noFence, noLook, getBelieved, early, noBarrier, noHalt} {
		t.Run(string(m), func(t *testing.T) {
			for seed := range uint64(500) {
				if wrong := simulate(t, seed, m); len(wrong) > 0 {
					t.Logf("history %d: %.200q", seed, wrong[0])
					return
				}
			}
			t.Error("it is not found")
		})
	}
}
