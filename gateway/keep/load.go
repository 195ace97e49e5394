package keep

import (
	"errors"
	"slices"
	"sync"
	"time"

	"pmg/connector"
	"pmg/sms"
	"pmg/store"
)

// Loads reads messages that are on disk only, on a goroutine of its own, so that no lane waits for
// the disk. The goroutine ends when there is nothing to read.
type Loads struct {
	keeper *Keeper
	done   sync.WaitGroup

	mu      sync.Mutex
	do      Do // nil: Begin was not called, or End was
	running bool
	wanted  []load
}

// A load is a request of a lane for messages.
type load struct {
	lane  *connector.Lane
	ids   []uint64
	tries int // how often reading has failed
}

// The limits of reading messages.
const (
	LoadAtATime = 512
	loadPause   = 10 * time.Millisecond // pause before messages are read again; it doubles with each try
	loadPauses  = time.Second           // longest pause
	LoadTries   = 64                    // maximum number of tries, which take about a minute
)

// Load implements connector.Bodies.
func (k *Keeper) Load(l *connector.Lane, ids []uint64) {
	k.Loads.mu.Lock()
	defer k.Loads.mu.Unlock()
	k.Loads.wanted = append(k.Loads.wanted, load{lane: l, ids: slices.Clone(ids)})
	k.Loads.run()
}

// Begin allows loads to pass messages to lanes.
func (ls *Loads) Begin(do Do) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	ls.do = do
	ls.run()
}

// End waits until no messages are being read.
func (ls *Loads) End() {
	ls.mu.Lock()
	ls.do, ls.wanted = nil, nil
	ls.mu.Unlock()
	ls.done.Wait()
}

// run starts the goroutine if there is work for it. The caller holds the lock.
func (ls *Loads) run() {
	if ls.do != nil && !ls.running && len(ls.wanted) > 0 {
		ls.running = true
		ls.done.Go(ls.loop)
	}
}

func (ls *Loads) loop() {
	ls.keeper.node.Pass("loads")
	for {
		ls.mu.Lock()
		if len(ls.wanted) == 0 {
			ls.running = false
			ls.mu.Unlock()
			return
		}
		w, do := ls.wanted[0], ls.do
		ls.wanted = ls.wanted[1:]
		if len(w.ids) > LoadAtATime { // reads of other lanes come in between
			ls.wanted = append(ls.wanted, load{w.lane, w.ids[LoadAtATime:], w.tries})
			w.ids = w.ids[:LoadAtATime]
		}
		ls.mu.Unlock()
		messages, missing, failed := ls.keeper.Read(w.ids, w.tries)
		do(w.lane, func(now int64) { w.lane.Queues.Loaded(now, messages, missing) })
		if len(failed) > 0 {
			ls.later(load{w.lane, failed, w.tries + 1})
		}
	}
}

// later reads messages again after a pause, during which the lane waits for them.
func (ls *Loads) later(w load) {
	time.AfterFunc(min(loadPause<<min(w.tries, 10), loadPauses), func() {
		ls.mu.Lock()
		defer ls.mu.Unlock()
		if ls.do != nil {
			ls.wanted = append(ls.wanted, w)
			ls.run()
		}
	})
}

// Read reads messages. tries is how often reading them has failed. missing are the ids of messages
// that are not in the store or are damaged.
// failed are the ids of messages that may still be readable later: for example, too many open files
// are no reason to drop a message.
func (k *Keeper) Read(ids []uint64, tries int) (messages []*sms.Message, missing, failed []uint64) {
	var e store.Entry
	for _, id := range ids {
		ok, err := k.Index.Get(id, &e)
		if err != nil && !errors.Is(err, store.ErrDamaged) && tries < LoadTries {
			failed = append(failed, id)
			if k.node.Repeats.First("unread") {
				k.node.Log.Error().Err(err).Str("id", sms.FormatID(id)).Msg(
					"cannot read a stored message that is due; trying again",
				)
			}
			continue
		}
		var m *sms.Message
		if err == nil && ok {
			m, _, err = k.Decode(&e)
		}
		if err != nil {
			k.LogUnreadable(id, err)
		}
		if m == nil {
			missing = append(missing, id)
			continue
		}
		messages = append(messages, m)
	}
	return messages, missing, failed
}
