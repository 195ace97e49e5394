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

// orphans are the receipts in the store whose messages are not known. An answer of an SMSC
// that comes later finds them here. It is safe for concurrent use.
type orphans struct {
	done sync.WaitGroup
	n    atomic.Int64

	mu      sync.Mutex
	all     []orphan            // the oldest first
	known   map[uint64]bool     // by their ids
	by      map[string][]uint64 // ids of receipts, by operator and key
	again   []uint64            // receipts whose messages to look for again
	drop    []uint64            // receipts to forget
	running bool
	ended   bool
}

// An orphan is a receipt whose message is not known.
type orphan struct {
	id       uint64
	operator string
	arrived  int64    // by the wall clock
	keys     []string // in by
}

// maxOrphans is how many are kept; the oldest make room.
const maxOrphans = 100_000

// orphansTogether is how many receipts are looked at before an operator's change may be made.
const orphansTogether = 200

// ErrUnknown says that the message of a receipt is not known.
var ErrUnknown = errors.New(keep.AsideReasons[store.Orphan])

// orphanKeys returns the keys by which the message of a receipt would be found, whatever form
// the operator writes ids in.
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

// KeepOrphan notes that a receipt was kept whose message is not known. Its message may have become
// known meanwhile.
func (d *Desk) KeepOrphan(m *sms.Message) {
	o := &d.orphans
	one := orphan{id: m.ID, operator: d.operatorOf(m), arrived: d.Clock.Wall(m.Arrived)}
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
	o.run(d)
}

// operatorOf returns the name of the operator that a message came from.
func (d *Desk) operatorOf(m *sms.Message) string {
	if c := d.Connector(m.Origin.Connector); c != nil {
		return c.Config().OperatorName()
	}
	return m.Origin.Connector
}

// forget removes a receipt. The caller holds the lock.
func (o *orphans) forget(i int) {
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
func (o *orphans) remove(id uint64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if i := slices.IndexFunc(o.all, func(one orphan) bool { return one.id == id }); i >= 0 {
		o.forget(i)
	}
}

// answered looks for the receipts of a message that an SMSC has accepted.
func (o *orphans) answered(d *Desk, operator string, key []byte) {
	if o.n.Load() == 0 {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	var room [128]byte
	if ids := o.by[string(append(append(append(room[:0], operator...), 0), key...))]; len(ids) > 0 {
		o.again = append(o.again, ids...)
		o.run(d)
	}
}

// waits reports whether a receipt that came earlier waits for the message of a key.
func (o *orphans) waits(operator string, key []byte) bool {
	if o.n.Load() == 0 {
		return false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	var room [128]byte
	return len(o.by[string(append(append(append(room[:0], operator...), 0), key...))]) > 0
}

// lookAgain looks for the messages of all receipts of an operator, in their order.
func (o *orphans) lookAgain(d *Desk, operator string) {
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
	o.run(d)
}

// run starts the goroutine that works on receipts, because it reads the store. The caller
// holds the lock.
func (o *orphans) run(d *Desk) {
	if !o.running && !o.ended && len(o.again)+len(o.drop) > 0 {
		o.running = true
		o.done.Go(func() { o.loop(d) })
	}
}

// end waits until nothing is worked on any more.
func (o *orphans) end() {
	o.mu.Lock()
	o.ended = true
	o.mu.Unlock()
	o.done.Wait()
}

func (o *orphans) loop(d *Desk) {
	d.Pass("orphans")
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
		slices.Sort(again) // the older receipts of a message first
		again = slices.Compact(again)
		d.eachOrphan(drop, d.dropOrphan)
		d.eachOrphan(again, func(m *sms.Message, size int) error {
			if !o.has(m.ID) {
				m.Release() // its message was found a moment ago
				return nil
			}
			err := d.Adopt(m, size)
			if errors.Is(err, ErrUnknown) {
				err = nil
			}
			return err
		})
	}
}

// eachOrphan calls f with receipts that are still kept. Between some and the next, operators may
// change what is stored.
func (d *Desk) eachOrphan(ids []uint64, f func(m *sms.Message, size int) error) {
	for some := range slices.Chunk(ids, orphansTogether) {
		d.Changing.Lock()
		for _, id := range some {
			d.Orphan(id, f)
		}
		if err := d.Committer.Sync(); err != nil { // so that nobody finds them in the store any more
			d.LogLookup(err)
		}
		d.Changing.Unlock()
	}
}

// has reports whether a receipt is an orphan still.
func (o *orphans) has(id uint64) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.known[id]
}

// Orphan calls f with a receipt that is still kept, and the size of its record.
func (d *Desk) Orphan(id uint64, f func(m *sms.Message, size int) error) {
	var e store.Entry
	ok, err := d.Store.Get(id, &e)
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
		m, _, err = d.Decode(&e)
	}
	if err == nil {
		err = f(m, len(e.Record))
	}
	if err != nil {
		d.LogLookup(err)
	}
}

// Adopt gives a receipt to its client, if its message is known by now, and releases m.
func (d *Desk) Adopt(m *sms.Message, size int) error {
	var f Match
	c := &config.Connector{Name: d.operatorOf(m)}
	if from := d.Connector(m.Origin.Connector); from != nil {
		c = from.Config()
	}
	o := d.Of(c)
	found, err := d.LookUp(o, m, &f)
	if err != nil || !found {
		m.Release()
		if err == nil {
			err = ErrUnknown
		}
		return err
	}
	id, now := m.ID, d.Clock.Now()
	share, v := d.Direct(now, m, &f)
	if v == Unread {
		if err := d.LoadParts(&f); err != nil {
			m.Release()
			return err
		}
		share, v = d.Direct(now, m, &f)
	}
	b := d.Committer.Begin()
	b.Delete(id, size)
	switch v {
	case passOn:
		m.ID = id
		d.send(b, m, share)
		for _, other := range f.More {
			other.ID = d.IDs.Add(1)
			d.send(b, other, share)
		}
	default:
		m.Release()
	}
	d.Committer.End()
	d.Counts.Adopted.Add(1)
	d.NoOrphan(id)
	return nil
}

// NoOrphan notes that a receipt is no orphan any more.
func (d *Desk) NoOrphan(id uint64) {
	d.CountAside(nil, store.Orphan, -1)
	d.orphans.remove(id)
}

// dropOrphan ends a receipt whose message was not found in time, and releases m.
func (d *Desk) dropOrphan(m *sms.Message, _ int) error {
	d.Ends(m, keep.Ending{State: events.Expired, Answer: sms.Answer{Code: sms.Expired, At: d.Clock.Now()}, Aside: true})
	d.NoOrphan(m.ID)
	m.Origin.Tally.Expired.Add(1)
	m.Release()
	return nil
}

// dropBefore has those dropped that have been kept for long enough.
func (o *orphans) dropBefore(d *Desk, before int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.all) > 0 && o.all[0].arrived < before {
		o.drop = append(o.drop, o.all[0].id)
		o.forget(0)
	}
	o.run(d)
}

// FindOrphan keeps an orphan of an earlier run, which it reads from an entry of the store.
func (d *Desk) FindOrphan(e *store.Entry) {
	m, _, err := d.Decode(e)
	if err != nil {
		d.LogUnreadable(e.ID, err)
		return
	}
	d.KeepOrphan(m)
	m.Release()
}
