package cluster

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	leasememory "pmg/cluster/lease/memory"
	"pmg/journal"
	"pmg/journal/memory"
)

// A world is three nodes, the engine between them, an SMSC and clients, on a virtual clock.
type world struct {
	mutant  mutant
	journal *memory.Journal
	cell    *leasememory.Cell
	late    sync.WaitGroup // records on their way

	mu       sync.Mutex
	random   *rand.Rand
	calm     bool            // nothing goes wrong any more
	cut      map[string]bool // nodes that reach nobody
	number   uint64          // of messages
	accepted map[uint64]bool // the client has got its answer
	sent     map[uint64]int
	epoch    uint64 // of the last message that was sent
	changes  int
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
	if epoch > w.epoch {
		w.changes++
	}
	w.epoch = max(w.epoch, epoch)
	w.sent[id]++
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
	twice := 0
	for _, n := range w.sent {
		twice += n - 1
	}
	if most := w.changes * simWindow; twice > most {
		w.wrong = append(w.wrong, fmt.Sprintf("%d messages were sent twice in %d changes of the owner", twice, w.changes))
	}
	for id := range w.accepted {
		if w.sent[id] == 0 {
			w.wrong = append(w.wrong, fmt.Sprintf("message %d was accepted, and never sent", id))
		}
	}
	return w.wrong
}
