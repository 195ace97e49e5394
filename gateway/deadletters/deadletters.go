// Package deadletters keeps the events that webhooks did not take in time, until an operator
// decides or their own time ends.
//
// Dead letters stay in the store, put aside (store.Dead). Code that puts an event aside calls Add,
// and calls Left when the event is no dead letter any more.
//
// # Start reading
//
// deadletters.go: DeadLetters.Add, DeadLetters.LookAfter.
package deadletters

import (
	"cmp"
	"slices"
	"sync"

	"pmg/events"
	"pmg/gateway/keep"
	"pmg/gateway/node"
	"pmg/sms"
	"pmg/store"
)

// The limits of dead letters. The oldest are removed.
const (
	most         = 100_000
	mostInMemory = 16 << 20 // octets of letters in a store in memory, so that room for messages is left there
	together     = 200      // number of letters that end together, before an operator's change may be made
)

// DeadLetters are the events that webhooks did not take in time. It is safe for concurrent use.
type DeadLetters struct {
	node   *node.Node
	keep   *keep.Keeper
	forget func(m *sms.Message, e keep.Ending)

	work node.Single

	mu       sync.Mutex
	all      map[uint64]letter
	order    []letter // the oldest first; letters that are not in all do not count any more
	unsorted bool
	octets   int64
	of       map[string]int64 // number of dead letters by account
}

// A letter is an entry for one dead letter.
type letter struct {
	id      uint64
	account string // account whose server did not accept the event
	at      int64  // when the event was put aside, by the wall clock
	octets  int64
}

// New makes the dead letters of a gateway. forget ends a message.
func New(n *node.Node, k *keep.Keeper, forget func(m *sms.Message, e keep.Ending)) *DeadLetters {
	return &DeadLetters{node: n, keep: k, forget: forget, all: map[uint64]letter{}, of: map[string]int64{}}
}

// Add records that an event was put aside at a time of the wall clock. octets is the size of its message.
func (d *DeadLetters) Add(id uint64, account string, at, octets int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, known := d.all[id]; known {
		return
	}
	l := letter{id, account, at, octets}
	if n := len(d.order); n > 0 && d.order[n-1].at > at {
		d.unsorted = true
	}
	d.all[id], d.order = l, append(d.order, l)
	d.octets += octets
	d.of[account]++
}

// Left records that an event is not a dead letter any more.
func (d *DeadLetters) Left(id uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	l, known := d.all[id]
	if !known {
		return
	}
	delete(d.all, id)
	d.octets -= l.octets
	if d.of[l.account]--; d.of[l.account] == 0 {
		delete(d.of, l.account)
	}
	if len(d.order) > 2*len(d.all)+together {
		d.order = slices.DeleteFunc(d.order, func(l letter) bool { return !d.has(l) })
	}
}

// has reports whether a letter is still a dead letter. The caller holds the lock.
func (d *DeadLetters) has(l letter) bool {
	now, known := d.all[l.id]
	return known && now.at == l.at
}

// Counts returns the number of dead letters by account.
func (d *DeadLetters) Counts() map[string]int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	counts := make(map[string]int64, len(d.of))
	for account, n := range d.of {
		counts[account] = n
	}
	return counts
}

// Of returns the ids of an account's dead letters, the latest first, at most limit.
func (d *DeadLetters) Of(account string, limit int) (ids []uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, l := range slices.Backward(d.order) {
		if len(ids) == limit {
			break
		}
		if l.account == account && d.has(l) {
			ids = append(ids, l.id)
		}
	}
	return ids
}

// LookAfter ends the letters that are too old or too many. It is called about once a second.
func (d *DeadLetters) LookAfter() {
	if due := d.due(); len(due) > 0 && d.keep.Recovered() {
		d.work.Begin(func() {
			d.node.Pass("dead letters")
			for some := range slices.Chunk(due, together) {
				d.end(some)
			}
		})
	}
}

// End waits until no letters are being ended.
func (d *DeadLetters) End() { d.work.Wait() }

// due returns the ids of letters that must end, at most a limited number.
func (d *DeadLetters) due() (ids []uint64) {
	before := d.node.Clock.WallNow() - int64(d.node.Config().Receipts.DeadLetters)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.unsorted {
		slices.SortStableFunc(d.order, func(a, b letter) int { return cmp.Compare(a.at, b.at) })
		d.unsorted = false
	}
	n, octets := len(d.all), d.octets
	for _, l := range d.order {
		if !d.has(l) {
			continue
		}
		if l.at > before && n <= most && (octets <= mostInMemory || d.keep.Durable()) || len(ids) == 10*together {
			break
		}
		ids = append(ids, l.id)
		n--
		octets -= l.octets
	}
	return ids
}

// end ends the letters among ids that are still dead letters.
func (d *DeadLetters) end(ids []uint64) {
	d.keep.Changing.Lock()
	defer d.keep.Changing.Unlock()
	for _, id := range ids {
		if err := d.endOne(id); err != nil {
			d.keep.LogUnreadable(id, err)
		}
		d.Left(id)
	}
	// after the Sync no letter is found in the store any more
	if err := d.keep.Batches.Sync(); err != nil && d.node.Repeats.First("dead letters") {
		d.node.Log.Error().Err(err).Msg("cannot end dead letters; the next commit does")
	}
}

func (d *DeadLetters) endOne(id uint64) error {
	var e store.Entry
	ok, err := d.keep.Index.Get(id, &e)
	if err != nil || !ok || e.State == nil {
		return err
	}
	s, err := store.DecodeState(e.State)
	if err != nil || s.Aside != store.Dead {
		return err
	}
	m, _, err := d.keep.Decode(&e)
	if err != nil {
		return err
	}
	d.forget(
		m,
		keep.Ending{
			State: events.Expired, Lane: s.Lane, Answer: sms.Answer{Code: sms.Expired, At: d.node.Clock.Now()}, Aside: true,
		},
	)
	d.keep.CountAside(m.Origin, store.Dead, -1)
	m.Release()
	return nil
}
