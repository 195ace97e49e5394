package receipts

import (
	"encoding/binary"
	"errors"
	"sync/atomic"

	"pmg/gateway/node"
	"pmg/store"
)

// waits sends clients what is known of long messages when some of their parts have an outcome, and
// others have had none for receipts.parts_wait. The store knows which wait, in the order in which
// they began to, so that the receipts are sent after a restart as well. It is safe for concurrent
// use.
type waits struct {
	matcher *Matcher
	node.Single
	next  atomic.Int64 // time of the next search, by the engine's clock
	swept atomic.Int64 // messages that began to wait before this time of the wall clock have got their receipts
}

const (
	// sweptKey is the key of swept among the notes of the messages that wait (store.KindWait). Any other key is the
	// time at which a message began to, and what the ids of its parts have in common; the value is the
	// store.Mapping of one of its parts.
	sweptKey = "swept"
	// waitsEvery is the interval of the searches for messages that have waited long enough.
	waitsEvery = int64(60e9)
	// waitsAtATime is how many waiting messages are read from the store at a time.
	waitsAtATime = 1000
)

// add records that a message waits for the outcomes of its other parts.
func (w *waits) add(f *store.Mapping) {
	since := max(w.matcher.node.Clock.Wall(w.matcher.node.Clock.Now()), w.swept.Load())
	key := binary.BigEndian.AppendUint64(nil, uint64(since))
	w.write(since, binary.BigEndian.AppendUint64(key, f.WholeID()), f.Append(nil))
}

func (w *waits) write(at int64, key, value []byte) {
	w.matcher.keep.Batches.Write(func(b *store.Batch) { b.Note(store.KindWait, key, value, store.DayOf(at)) })
}

// check looks, about once a minute, for messages that have waited for long enough.
func (w *waits) check(now int64) {
	if next := w.next.Load(); now >= next && w.matcher.keep.Recovered() && w.next.CompareAndSwap(next, now+waitsEvery) {
		w.Begin(func() {
			w.matcher.node.Pass("waits")
			if err := w.tell(); err != nil {
				w.matcher.keep.LogLookup(err)
			}
		})
	}
}

// errEnough stops the reading of the store.
var errEnough = errors.New("enough was read")

// tell sends clients what is known of the messages that have waited for long enough.
func (w *waits) tell() error {
	if w.swept.Load() == 0 { // first call: the value of earlier runs must be read
		value, ok, err := w.matcher.keep.Index.Lookup(store.KindWait, []byte(sweptKey))
		if err != nil {
			return err
		}
		if ok && len(value) == 8 {
			w.swept.Store(int64(binary.BigEndian.Uint64(value)))
		}
	}
	wall := w.matcher.node.Clock.Wall(w.matcher.node.Clock.Now())
	until := wall - int64(w.matcher.node.Config().Receipts.PartsWait)
	from := binary.BigEndian.AppendUint64(nil, uint64(w.swept.Load()))
	for {
		var due []Match
		err := w.matcher.keep.Index.Notes(store.KindWait, from, waitsAtATime, func(key, value []byte) error {
			if len(key) != 16 {
				return nil
			}
			if int64(binary.BigEndian.Uint64(key)) >= until {
				return errEnough
			}
			from = append(append(from[:0], key...), 0)
			var f Match
			if err := f.Set(value); err != nil {
				return err
			}
			due = append(due, f)
			return nil
		})
		for i := range due {
			if err := w.tellOne(&due[i]); err != nil {
				return err
			}
		}
		if err != nil && !errors.Is(err, errEnough) {
			return err
		}
		if err != nil || len(due) == 0 {
			break
		}
	}
	if until > w.swept.Load() {
		w.swept.Store(until)
		w.write(wall, []byte(sweptKey), binary.BigEndian.AppendUint64(nil, uint64(until)))
	}
	return nil
}

// tellOne sends a client what is known of a message, unless it has got a receipt.
func (w *waits) tellOne(f *Match) error {
	if err := w.matcher.Parts.Load(f); err != nil {
		return err
	}
	r, ok := w.matcher.Parts.giveUp(f.Mapping.WholeID(), f.Mapping.Parts)
	if !ok {
		return nil
	}
	w.matcher.Parts.recordTold(f.Mapping.WholeID(), toldForNow, noPart)
	w.matcher.recordReport(w.matcher.node.Clock.Now(), &f.Mapping, &r)
	w.matcher.sendOwn(&f.Mapping, &r)
	return nil
}
