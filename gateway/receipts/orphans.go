package receipts

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"pmg/config"
	"pmg/events"
	"pmg/gateway/keep"
	"pmg/sms"
	"pmg/sms/peerid"
	"pmg/store"
)

// Orphans are the receipts in the store whose messages are not known. An answer of an SMSC
// that comes later finds them here. It is safe for concurrent use.
type Orphans struct {
	matcher *Matcher
	done    sync.WaitGroup
	n       atomic.Int64
	counted atomic.Int64 // octets of memory that are counted for the orphans

	mu      sync.Mutex
	all     []orphan            // orphans, the oldest first
	known   map[uint64]bool     // ids of the orphans
	by      map[string][]uint64 // ids of orphans, by SMSC and key
	again   []uint64            // ids of receipts whose messages must be looked up again
	drop    []uint64            // ids of receipts to drop
	running bool
	ended   bool
}

// An orphan is a receipt whose message is not known.
type orphan struct {
	id       uint64
	operator string
	arrived  int64    // time of arrival by the wall clock
	keys     []string // keys in by
}

// maxOrphans is the maximum number of orphans. The oldest are dropped.
const maxOrphans = 100_000

// orphansTogether is how many receipts are handled before an operator's change may be made.
const orphansTogether = 200

// ErrUnknown is the error if the message of a receipt is not known.
var ErrUnknown = errors.New(keep.AsideReasons[store.Orphan])

// orphanKeys returns the keys by which the message of a receipt would be found, whatever form
// the SMSC writes ids in.
func orphanKeys(operator string, m *sms.Message) (keys []string) {
	r, _ := m.Report()
	for _, id := range [...][]byte{r.ID, r.TextID} {
		for _, relation := range peerid.Relations() {
			if key, ok := peerid.AppendKey(append([]byte(operator), 0), id, relation); ok && !slices.Contains(keys, string(key)) {
				keys = append(keys, string(key))
			}
		}
	}
	return keys
}

// Keep adds a receipt that was stored and whose message is not known. The message may have become
// known meanwhile.
func (o *Orphans) Keep(m *sms.Message) {
	one := orphan{id: m.ID, operator: o.matcher.operatorOf(m), arrived: o.matcher.node.Clock.Wall(m.Arrived)}
	one.keys = orphanKeys(one.operator, m)
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.by == nil {
		o.by, o.known = map[string][]uint64{}, map[uint64]bool{}
	}
	o.all = append(o.all, one)
	o.known[one.id] = true
	for _, key := range one.keys {
		o.by[key] = append(o.by[key], one.id)
	}
	if len(o.all) > maxOrphans {
		o.drop = append(o.drop, o.all[0].id)
		o.forget(0)
	}
	o.n.Store(int64(len(o.all)))
	o.again = append(o.again, one.id)
	o.run()
}

// operatorOf returns the name of the SMSC that a message came from.
func (d *Matcher) operatorOf(m *sms.Message) string {
	if c := d.table.Connector(m.Origin.Connector); c != nil {
		return c.Config().OperatorName()
	}
	return m.Origin.Connector
}

// forget removes a receipt. The caller holds the lock.
func (o *Orphans) forget(i int) {
	one := o.all[i]
	for _, key := range one.keys {
		ids := o.by[key]
		if ids = slices.DeleteFunc(ids, func(id uint64) bool { return id == one.id }); len(ids) == 0 {
			delete(o.by, key)
		} else {
			o.by[key] = ids
		}
	}
	delete(o.known, one.id)
	if i == 0 {
		o.all[0], o.all = orphan{}, o.all[1:]
	} else {
		o.all = slices.Delete(o.all, i, i+1)
	}
	o.n.Store(int64(len(o.all)))
}

// remove removes a receipt that is no orphan any more.
func (o *Orphans) remove(id uint64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if i := slices.IndexFunc(o.all, func(one orphan) bool { return one.id == id }); i >= 0 {
		o.forget(i)
	}
}

// answered looks for orphans of a message that an SMSC has just accepted.
func (o *Orphans) answered(operator string, key []byte) {
	if o.n.Load() == 0 {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	var room [128]byte
	if ids := o.by[string(append(append(append(room[:0], operator...), 0), key...))]; len(ids) > 0 {
		o.again = append(o.again, ids...)
		o.run()
	}
}

// waits reports whether an orphan waits for the message with a key.
func (o *Orphans) waits(operator string, key []byte) bool {
	if o.n.Load() == 0 {
		return false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	var room [128]byte
	return len(o.by[string(append(append(append(room[:0], operator...), 0), key...))]) > 0
}

// lookAgain requests another search for the messages of all orphans of an SMSC, in their order.
func (o *Orphans) lookAgain(operator string) {
	if o.n.Load() == 0 {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for i := range o.all {
		if o.all[i].operator == operator {
			o.again = append(o.again, o.all[i].id)
		}
	}
	o.run()
}

// run starts the goroutine that handles orphans, because it reads the store. The caller holds the
// lock.
func (o *Orphans) run() {
	if !o.running && !o.ended && len(o.again)+len(o.drop) > 0 {
		o.running = true
		o.done.Go(func() { o.loop() })
	}
}

// end waits until no orphan is being handled.
func (o *Orphans) end() {
	o.mu.Lock()
	o.ended = true
	o.mu.Unlock()
	o.done.Wait()
}

func (o *Orphans) loop() {
	o.matcher.node.Pass("orphans")
	for {
		o.mu.Lock()
		again, drop := o.again, o.drop
		o.again, o.drop = nil, nil
		if o.ended || len(again)+len(drop) == 0 {
			o.running = false
			o.mu.Unlock()
			return
		}
		o.mu.Unlock()
		slices.Sort(again) // older receipts of a message come first
		again = slices.Compact(again)
		o.each(drop, o.expire)
		if len(again) > 0 { // a message that has just ended may be in the open batch only
			if err := o.matcher.keep.Batches.SyncSoon(); err != nil {
				o.matcher.keep.LogLookup(err)
			}
		}
		o.each(again, func(m *sms.Message, size int) error {
			if !o.has(m.ID) {
				m.Release() // the message of the receipt was just found
				return nil
			}
			err := o.Adopt(m, size)
			if errors.Is(err, ErrUnknown) {
				err = nil
			}
			return err
		})
	}
}

// each calls f with those receipts that are still orphans. It pauses regularly, so that operators
// can change stored messages.
func (o *Orphans) each(ids []uint64, f func(m *sms.Message, size int) error) {
	for some := range slices.Chunk(ids, orphansTogether) {
		o.matcher.keep.Changing.Lock()
		for _, id := range some {
			o.Read(id, f)
		}
		if err := o.matcher.keep.Batches.Sync(); err != nil { // so that nobody finds them in the store any more
			o.matcher.keep.LogLookup(err)
		}
		o.matcher.keep.Changing.Unlock()
	}
}

// has reports whether a receipt is still an orphan.
func (o *Orphans) has(id uint64) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.known[id]
}

// Read calls f with a receipt that is still kept, and the size of its record.
func (o *Orphans) Read(id uint64, f func(m *sms.Message, size int) error) {
	var e store.Entry
	ok, err := o.matcher.keep.Index.Get(id, &e)
	if err == nil && !ok {
		return
	}
	var s store.State
	if err == nil && e.State != nil {
		s, err = store.DecodeState(e.State)
	}
	if err == nil && s.Aside != store.Orphan {
		return
	}
	var m *sms.Message
	if err == nil {
		m, _, err = o.matcher.keep.Decode(&e)
	}
	if err == nil {
		err = f(m, len(e.Record))
	}
	if err != nil {
		o.matcher.keep.LogLookup(err)
	}
}

// Adopt gives a receipt to its client, if its message is known now, and releases m. Older receipts
// of the message are given first, because the message may have become known after they were
// checked.
func (o *Orphans) Adopt(m *sms.Message, size int) error {
	var f Match
	if err := o.seek(m, &f); err != nil {
		return err
	}
	for _, id := range o.older(m) {
		o.Read(id, func(m *sms.Message, size int) error {
			var f Match
			if err := o.seek(m, &f); errors.Is(err, ErrUnknown) {
				return nil
			} else if err != nil {
				return err
			}
			return o.give(m, size, &f)
		})
	}
	return o.give(m, size, &f)
}

// older returns the older receipts that may be about the same message, in their order.
func (o *Orphans) older(m *sms.Message) (ids []uint64) {
	keys := orphanKeys(o.matcher.operatorOf(m), m)
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, key := range keys {
		for _, id := range o.by[key] {
			if id < m.ID {
				ids = append(ids, id)
			}
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// seek finds the message of a receipt. If it returns an error, such as ErrUnknown, it has released
// m.
func (o *Orphans) seek(m *sms.Message, f *Match) error {
	c := &config.Connector{Name: o.matcher.operatorOf(m)}
	if from := o.matcher.table.Connector(m.Origin.Connector); from != nil {
		c = from.Config()
	}
	found, err := o.matcher.LookUp(o.matcher.Of(c), m, f)
	if err == nil && !found {
		err = ErrUnknown
	}
	if err != nil {
		m.Release()
	}
	return err
}

// give gives a receipt to the client of its message.
func (o *Orphans) give(m *sms.Message, size int, f *Match) error {
	id, now := m.ID, o.matcher.node.Clock.Now()
	share, v := o.matcher.Direct(now, m, f)
	if v == Unread {
		if err := o.matcher.Parts.Load(f); err != nil {
			m.Release()
			return err
		}
		share, v = o.matcher.Direct(now, m, f)
	}
	o.matcher.keep.Batches.Write(func(b *store.Batch) {
		b.Delete(id, size)
		if v != passOn {
			m.Release()
			return
		}
		m.ID = id
		o.matcher.send(b, m, share)
		for _, other := range f.More {
			other.ID = o.matcher.keep.IDs.Add(1)
			o.matcher.send(b, other, share)
		}
	})
	o.matcher.Counts.Adopted.Add(1)
	o.Left(id)
	return nil
}

// Left records that a receipt is not an orphan any more.
func (o *Orphans) Left(id uint64) {
	o.matcher.keep.CountAside(nil, store.Orphan, -1)
	o.remove(id)
}

// expire ends a receipt whose message was not found in time, and releases m.
func (o *Orphans) expire(m *sms.Message, _ int) error {
	o.matcher.end(
		m,
		keep.Ending{State: events.Expired, Answer: sms.Answer{Code: sms.Expired, At: o.matcher.node.Clock.Now()}, Aside: true},
	)
	o.Left(m.ID)
	m.Origin.Tally.Expired.Add(1)
	m.Release()
	return nil
}

// dropBefore drops the orphans that arrived before a time.
func (o *Orphans) dropBefore(before int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.all) > 0 && o.all[0].arrived < before {
		o.drop = append(o.drop, o.all[0].id)
		o.forget(0)
	}
	o.run()
}

// Find keeps an orphan of an earlier run, which it reads from an entry of the store.
func (o *Orphans) Find(e *store.Entry) {
	m, _, err := o.matcher.keep.Decode(e)
	if err != nil {
		o.matcher.keep.LogUnreadable(e.ID, err)
		return
	}
	o.Keep(m)
	m.Release()
}

// orphanSize is about how many octets the keys of an orphan take in memory.
const orphanSize = 1300

// count updates the memory counter with the size of the orphans' keys.
func (o *Orphans) count() {
	size := o.n.Load() * orphanSize
	o.matcher.node.Memory.Add(size - o.counted.Swap(size))
}
