package store

import (
	"github.com/cockroachdb/pebble/v2"

	"pmg/store/journal"
)

// A moving says which part of the young messages is moved to pebble.
type moving uint8

const (
	aLittle  moving = iota // some of the messages that leave
	newRound               // the same, but first a new round begins if no message leaves any more
	everything
)

// leaveAtOnce is how many messages and states are moved together while commits wait, which takes
// about a millisecond.
const leaveAtOnce = 500

// A boundary is the state of the store at the end of a round.
type boundary struct {
	at    journal.Seq
	id    uint64 // highest id that was ever put
	event uint64
}

// A mover is the writer's state of moving young messages to pebble.
type mover struct {
	old    boundary // state at the end of the previous round
	leaves boundary // state at the end of the round before the previous one
	busy   bool     // some messages up to leaves have not been moved yet
	atOnce uint32   // leaveAtOnce, or less in tests
}

// moveSome moves a part of the young messages to pebble.
func (w *writer) moveSome(how moving) error {
	if how == everything || w.young.isLarge() {
		return w.moveAll()
	}
	if how == newRound && !w.moves.busy {
		w.beginRound()
	}
	if !w.moves.busy {
		return nil
	}
	return w.leave()
}

// leaveRest moves all messages that leave, a few at a time.
func (w *writer) leaveRest() error {
	for {
		w.writing.Lock()
		if !w.moves.busy {
			w.writing.Unlock()
			return nil
		}
		err := w.ask(request{})
		w.writing.Unlock()
		if err != nil {
			return err
		}
	}
}

// beginRound begins a round.
func (w *writer) beginRound() {
	m, event := w.summary.get(), w.summary.lastEvent()
	now := boundary{m.applied, m.last, event}
	if now == w.moves.old && w.moves.old.at == m.moved {
		return // nothing has changed since the last round
	}
	w.young.mu.Lock()
	w.young.beginRound(w.moves.old.id)
	w.young.mu.Unlock()
	w.moves.old, w.moves.leaves, w.moves.busy = now, w.moves.old, true
	w.growth.round.Store(0)
}

// leave moves a few of the messages that leave. With the last ones it also moves the events of
// their round.
func (w *writer) leave() error {
	y := w.young
	w.newBatch()
	m, n := w.summary.get(), 0
	for ; n < len(y.leaving) && w.batch.Count() < w.moves.atOnce; n++ {
		if err := w.addMessage(y.leaving[n]); err != nil {
			return err
		}
	}
	last := n == len(y.leaving)
	lowest, event := noID, uint64(0)
	if n > 0 {
		lowest, m.movedID = y.leaving[0], max(m.movedID, y.leaving[n-1])
	}
	if last {
		var err error
		if event, err = w.addEvents(w.moves.leaves.event); err != nil {
			return err
		}
		m.moved, m.movedID = w.moves.leaves.at, max(m.movedID, w.moves.leaves.id)
	}
	if err := w.applyMoved(m, lowest, event); err != nil {
		return err
	}
	y.mu.Lock()
	defer y.mu.Unlock()
	for _, id := range y.leaving[:n] {
		y.remove(id)
	}
	y.leaving = y.leaving[n:]
	if last {
		y.dropEvents(w.moves.leaves.event)
		y.left.clear()
		y.upTo, w.moves.busy = 0, false
	}
	return nil
}

// moveAll moves all young messages and events, in one batch with the new marks.
func (w *writer) moveAll() error {
	m := w.summary.get()
	if m.moved == m.applied {
		return nil
	}
	y := w.young
	w.newBatch()
	for m := range y.messages.all() {
		if err := w.addMessage(m.id); err != nil {
			return err
		}
	}
	event, err := w.addEvents(noID)
	if err != nil {
		return err
	}
	m.moved, m.movedID = m.applied, m.last
	if err := w.applyMoved(m, y.lowest, event); err != nil {
		return err
	}
	y.mu.Lock()
	defer y.mu.Unlock()
	y.clear()
	w.moves.old, w.moves.busy = boundary{m.applied, m.last, w.summary.lastEvent()}, false
	return nil
}

// applyMoved carries out pebble's batch, which contains the marks m. lowest is the lowest id of the
// moved messages. event is the number of the last moved event.
func (w *writer) applyMoved(m marks, lowest, event uint64) error {
	if err := w.setMarks(m); err != nil {
		return err
	}
	if err := w.db.Apply(w.batch, pebble.NoSync); err != nil {
		return err
	}
	w.summary.move(m, lowest, event)
	return nil
}

// addMessage adds a young message to pebble's batch, if it exists.
func (w *writer) addMessage(id uint64) error {
	m, ok := w.young.messages.get(id)
	if !ok {
		return nil
	}
	w.key = appendKey(w.key[:0], keyMessage, id)
	if err := w.batch.Set(w.key, m.record, nil); err != nil || m.state == nil {
		return err
	}
	w.summary.states.add(id)
	w.key[0] = keyState
	return w.batch.Set(w.key, m.state, nil)
}

// addEvents adds the young events up to a number to pebble's batch. last is the number of the last
// one.
func (w *writer) addEvents(upTo uint64) (last uint64, err error) {
	for _, e := range w.young.events {
		if e.number > upTo {
			break
		}
		w.key = appendKey(w.key[:0], keyEvent, e.number)
		if err := w.batch.Set(w.key, e.line, nil); err != nil {
			return 0, err
		}
		last = e.number
	}
	return last, nil
}
