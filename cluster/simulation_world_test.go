package cluster

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"pmg/cluster/lease/leasetest"
	"pmg/store/journal"
	"pmg/store/journal/journaltest"
)

// A world is three nodes, the engine between them, an SMSC and clients, on a virtual clock.
type world struct {
	mutant  mutant
	journal *journaltest.Journal
	cell    *leasetest.Cell
	late    sync.WaitGroup // records on their way

	mu       sync.Mutex
	random   *rand.Rand
	calm     bool                   // nothing goes wrong any more
	cut      map[string]bool        // nodes that reach nobody
	number   uint64                 // of messages
	accepted map[uint64]bool        // the client has got its answer
	sent     map[uint64][]uint64    // the epochs under which a message was sent
	times    map[uint64][]time.Time // when something was sent, by the epoch
	epoch    uint64                 // of the last message that was sent
	sums     map[journal.Seq]uint64 // what a copy has behind a record
	wrong    []string
}

func (w *world) fail(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wrong = append(w.wrong, fmt.Sprintf(format, args...))
}

// draw returns a random number below n.
func (w *world) draw(n int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.random.IntN(n)
}

// delay returns how long something takes on the network.
func (w *world) delay() time.Duration { return time.Duration(w.draw(int(longestDelay))) }

// goesWrong reports whether something goes wrong, once in n times.
func (w *world) goesWrong(n int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.calm && w.random.IntN(n) == 0
}

func (w *world) isCut(node string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.cut[node] && !w.calm
}

func (w *world) setCut(node string, cut bool) {
	w.mu.Lock()
	w.cut[node] = cut
	w.mu.Unlock()
	w.cell.Cut(node, cut)
}

// send is what the SMSC sees.
func (w *world) send(node string, epoch, id uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if epoch < w.epoch {
		w.wrong = append(w.wrong, fmt.Sprintf("node %s sends under epoch %d behind epoch %d", node, epoch, w.epoch))
	}
	w.epoch = max(w.epoch, epoch)
	w.sent[id] = append(w.sent[id], epoch)
	w.times[epoch] = append(w.times[epoch], time.Now())
}

// most returns how many messages an owner has sent at most in a time.
func (w *world) most(epoch uint64, within time.Duration) (most int) {
	first, all := 0, w.times[epoch]
	for i, at := range all {
		for at.Sub(all[first]) > within {
			first++
		}
		most = max(most, i-first+1)
	}
	return most
}

// applied compares what copies have behind the same record.
func (w *world) applied(node string, at journal.Seq, sum uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if before, ok := w.sums[at]; ok && before != sum {
		w.wrong = append(w.wrong, fmt.Sprintf("node %s has another copy behind record %d", node, at))
	}
	w.sums[at] = sum
}

// A link is the journal as a node reaches it: requests and answers are delayed and lost, and what was sent may arrive late.
type link struct {
	journal.Journal
	w    *world
	node string
	ctx  context.Context
}

func (l *link) Append(id journal.ID, record []byte) (journal.Seq, error) {
	record = slices.Clone(record)
	answers := make(chan journal.Seq, 100)
	for l.ctx.Err() == nil {
		l.w.late.Go(func() {
			time.Sleep(l.w.delay())
			switch {
			case l.w.goesWrong(20) || l.w.isCut(l.node) && l.w.draw(2) == 0:
				return
			case l.w.goesWrong(20) || l.w.isCut(l.node):
				time.Sleep(time.Duration(l.w.draw(int(longestCut))))
			}
			if l.w.goesWrong(20) { // somebody else writes there, too
				_, _ = l.Journal.Append(journal.ID{}, []byte("junk"))
			}
			at, err := l.Journal.Append(id, record)
			time.Sleep(l.w.delay())
			if err == nil && !l.w.goesWrong(20) && !l.w.isCut(l.node) {
				select {
				case answers <- at:
				default:
				}
			}
		})
		select {
		case at := <-answers:
			return at, nil
		case <-time.After(attemptWait):
		case <-l.ctx.Done():
		}
	}
	return 0, journal.ErrClosed
}

func (l *link) Follow(after journal.Seq, f func(journal.Seq, journal.ID, []byte) error) error {
	for l.w.isCut(l.node) && l.ctx.Err() == nil {
		time.Sleep(followEvery)
	}
	time.Sleep(l.w.delay())
	if l.ctx.Err() != nil {
		return journal.ErrClosed
	}
	return l.Journal.Follow(after, f)
}

func (w *world) isQuiet() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.calm
}

// submits returns how many messages clients submit together: a few, and now and then so many that they wait.
func (w *world) submits() int {
	switch {
	case w.isQuiet():
		return 0
	case w.draw(40) == 0:
		return 50
	}
	return w.draw(3)
}

func (w *world) next() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.number++
	return w.number
}

func (w *world) accept(id uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.accepted[id] = true
}

// judge says what is wrong at the end.
func (w *world) judge() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.accepted) == 0 {
		w.wrong = append(w.wrong, "nothing was accepted")
	}
	again := map[uint64]int{} // how many that were sent under an epoch were sent again later
	for _, epochs := range w.sent {
		for _, e := range epochs[:len(epochs)-1] {
			again[e]++
		}
	}
	for e, n := range again {
		// an append becomes late, and so does the next one, which has what ended meanwhile
		if most := simWindow + 2*w.most(e, simLate+longestDelay); n > most {
			w.wrong = append(w.wrong, fmt.Sprintf("%d messages of epoch %d were sent again, and at most %d may be", n, e, most))
		}
	}
	for id := range w.accepted {
		if len(w.sent[id]) == 0 {
			w.wrong = append(w.wrong, fmt.Sprintf("message %d was accepted, and never sent", id))
		}
	}
	return w.wrong
}
