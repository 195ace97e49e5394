package gateway

import (
	"slices"
	"sync"

	"pmg/connector"
	"pmg/sms"
	"pmg/store"
)

// loads reads messages that are on disk only, on a goroutine of its own, so that no
// lane waits for the disk. The goroutine ends when nothing is wanted.
type loads struct {
	gateway *Gateway
	done    sync.WaitGroup

	mu      sync.Mutex
	engine  Engine // nil: not begun, or ended
	running bool
	wanted  []load
}

// A load is messages that a lane is to have.
type load struct {
	lane *connector.Lane
	ids  []uint64
}

// Load implements connector.Policy.
func (g *Gateway) Load(l *connector.Lane, ids []uint64) {
	g.loads.mu.Lock()
	defer g.loads.mu.Unlock()
	g.loads.wanted = append(g.loads.wanted, load{l, slices.Clone(ids)})
	g.loads.run()
}

// begin allows lanes to be given what they want by an engine.
func (ls *loads) begin(g *Gateway, e Engine) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	ls.gateway, ls.engine = g, e
	ls.run()
}

// end waits until nothing is read any more.
func (ls *loads) end() {
	ls.mu.Lock()
	ls.engine, ls.wanted = nil, nil
	ls.mu.Unlock()
	ls.done.Wait()
}

// run starts the goroutine if there is work for it. The caller holds the lock.
func (ls *loads) run() {
	if ls.engine != nil && !ls.running && len(ls.wanted) > 0 {
		ls.running = true
		ls.done.Go(ls.loop)
	}
}

func (ls *loads) loop() {
	for {
		ls.mu.Lock()
		if len(ls.wanted) == 0 {
			ls.running = false
			ls.mu.Unlock()
			return
		}
		w, e := ls.wanted[0], ls.engine
		ls.wanted = ls.wanted[1:]
		ls.mu.Unlock()
		messages, missing := ls.read(w.ids)
		e.Do(w.lane, func(now int64) { w.lane.Loaded(now, messages, missing) })
	}
}

// read reads messages, and returns the ids of those that cannot be read.
func (ls *loads) read(ids []uint64) (messages []*sms.Message, missing []uint64) {
	var e store.Entry
	for _, id := range ids {
		ok, err := ls.gateway.store.Get(id, &e)
		var m *sms.Message
		if err == nil && ok {
			m, _, err = ls.gateway.decode(&e)
		}
		if err != nil {
			ls.gateway.logUnreadable(id, err)
		}
		if m == nil {
			missing = append(missing, id)
			continue
		}
		messages = append(messages, m)
	}
	return messages, missing
}
