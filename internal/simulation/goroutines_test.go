package simulation

import (
	"cmp"
	"slices"
	"testing/synctest"
	"time"
)

// A held is a goroutine of the gateway that waits until it may go on.
type held struct {
	goroutine string
	pass      chan struct{}
}

// pass holds a goroutine of the gateway until letGo, so that it does not run beside anything else.
func (n *node) pass(goroutine string) {
	n.mu.Lock()
	if n.free {
		n.mu.Unlock()
		return
	}
	h := &held{goroutine, make(chan struct{})}
	n.held = append(n.held, h)
	n.mu.Unlock()
	<-h.pass
}

// letGo resumes the goroutines that are held, one at a time, each until it waits for an event. The
// committer is the last one, so that the changes of the others are in its batch.
func (n *node) letGo() {
	for {
		synctest.Wait()
		next := n.next()
		if next == nil {
			return
		}
		n.w.trace("%s goes on", next.goroutine)
		close(next.pass)
	}
}

// next returns which of the goroutines that are held goes on next; nil: none is held.
func (n *node) next() *held {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.held) == 0 {
		return nil
	}
	slices.SortStableFunc(n.held, func(a, b *held) int { return cmp.Compare(a.place(), b.place()) })
	next := n.held[0]
	n.held = n.held[1:]
	return next
}

func (h *held) place() string {
	if h.goroutine == "committer" {
		return "~" // behind all names
	}
	return h.goroutine
}

// A hasRun is what follows what has run on another goroutine.
type hasRun struct {
	number int
	then   func()
}

// run calls f on another goroutine, and has then called when f has returned.
func (n *node) run(f, then func()) {
	n.runs++
	number := n.runs
	go func() {
		f()
		n.mu.Lock()
		defer n.mu.Unlock()
		n.ran = append(n.ran, hasRun{number, then})
	}()
}

// collect plans what the gateway's goroutines have left.
func (n *node) collect() {
	n.view.collect()
	n.mu.Lock()
	commits, calls, ran := n.commits, n.calls, n.ran
	n.commits, n.calls, n.ran = nil, nil, nil
	n.mu.Unlock()
	for _, c := range commits {
		n.after(0, func() { n.committed(c) })
	}
	slices.SortFunc(ran, func(a, b hasRun) int { return cmp.Compare(a.number, b.number) }) // they have ended in any order, and so
	for _, r := range ran {
		n.w.trace("%d has run", r.number)
		r.then()
	}
	slices.SortStableFunc(calls, func(a, b laneCall) int { return cmp.Compare(nameOf(a.lane), nameOf(b.lane)) })
	for _, c := range calls {
		n.w.trace("call for %s", nameOf(c.lane))
		n.after(n.w.between(0, time.Millisecond), func() {
			c.f(n.w.now())
			n.touch(c.lane)
		})
	}
}

// finish ends goroutines of the gateway, one after the other.
func (n *node) finish() {
	n.letGo()
	for n.view.endRead(nil) {
		n.letGo()
	}
	n.view.gate(false)
	if c := n.view.commit; c != nil {
		n.view.committed(c)
	}
	n.letGo()
}

// kill ends all that the gateway's goroutines wait for: nothing that they do is on the disk.
func (n *node) kill(power bool) {
	n.view.crash(power)
	for ok := true; ok; ok = n.view.endRead(errDisk) {
		n.letGo()
	}
}

// closed closes the gateway. Its goroutines go on meanwhile.
func (n *node) closed() (err error) {
	done := make(chan struct{})
	go func() {
		err = n.g.Close()
		close(done)
	}()
	for {
		n.letGo()
		select {
		case <-done:
			return err
		case <-time.After(time.Millisecond):
		}
	}
}

func (n *node) setFree(free bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.free = free
}
