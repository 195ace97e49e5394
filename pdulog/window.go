package pdulog

import (
	"cmp"
	"container/heap"

	"pmg/internal/logfile"
)

// windowOctets limits the lines that a window holds. It is more than 100 MB per second with the default of pdulog.flush.
const windowOctets = 16 << 20

// A window puts lines in the order of their times that are up to logfile.Overlap out of it, because several goroutines have
// written them. It holds each line until no earlier one can come. Lines of the same time keep their order. If a line is
// earlier than that, the clock was set back: the window becomes empty, so that the line stays where it was written.
type window struct {
	held    []heldLine // lines that were not earlier than the lines before them
	earlier heldHeap   // the others
	latest  int64      // time of the latest line, in microseconds
	octets  int
	added   int
	free    [][]byte
}

// A heldLine is a line in a window.
type heldLine struct {
	at   int64 // its time in microseconds
	n    int   // how many lines were added before it
	text []byte
}

func (l *heldLine) compare(o *heldLine) int {
	return cmp.Or(cmp.Compare(l.at, o.at), cmp.Compare(l.n, o.n))
}

// add adds a line, and visits the lines before which no other can come.
func (w *window) add(e *Entry, visit func(*Entry) error) error {
	const overlap = int64(logfile.Overlap / 1e3)
	at := e.Time.UnixMicro()
	if at < w.latest-overlap {
		if err := w.empty(visit); err != nil {
			return err
		}
		w.latest = at
	}
	one := heldLine{at: at, n: w.added}
	if n := len(w.free); n > 0 {
		one.text, w.free = w.free[n-1][:0], w.free[:n-1]
	}
	one.text = append(one.text, e.Line...)
	w.added++
	w.octets += len(one.text)
	if at >= w.latest {
		w.latest = at
		w.held = append(w.held, one)
	} else {
		heap.Push(&w.earlier, one)
	}
	for w.octets > windowOctets || w.first() <= w.latest-overlap {
		if err := w.visitFirst(visit); err != nil {
			return err
		}
	}
	return nil
}

// empty visits all lines.
func (w *window) empty(visit func(*Entry) error) error {
	for w.octets > 0 {
		if err := w.visitFirst(visit); err != nil {
			return err
		}
	}
	return nil
}

// isHeldFirst reports whether the earliest line is in held. The window is not empty.
func (w *window) isHeldFirst() bool {
	return len(w.earlier) == 0 || len(w.held) > 0 && w.held[0].compare(&w.earlier[0]) < 0
}

// first returns the time of the earliest line. The window is not empty.
func (w *window) first() int64 {
	if w.isHeldFirst() {
		return w.held[0].at
	}
	return w.earlier[0].at
}

func (w *window) visitFirst(visit func(*Entry) error) error {
	var one heldLine
	if w.isHeldFirst() {
		one, w.held = w.held[0], w.held[1:]
	} else {
		one = heap.Pop(&w.earlier).(heldLine)
	}
	w.octets -= len(one.text)
	e, err := Parse(one.text) // it was read before
	if err == nil {
		err = visit(&e)
	}
	w.free = append(w.free, one.text)
	return err
}

// A heldHeap has the earliest line first.
type heldHeap []heldLine

func (h heldHeap) Len() int           { return len(h) }
func (h heldHeap) Less(i, j int) bool { return h[i].compare(&h[j]) < 0 }
func (h heldHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *heldHeap) Push(x any)        { *h = append(*h, x.(heldLine)) }

func (h *heldHeap) Pop() any {
	last := len(*h) - 1
	one := (*h)[last]
	*h = (*h)[:last]
	return one
}
