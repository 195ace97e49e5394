package simulation

import (
	"flag"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pmg/config"
	"pmg/internal/testkit/testutil"
	"pmg/protocols"
	"pmg/store"
	"pmg/store/journal/journaltest"
)

var (
	seeds   = flag.Uint64("seeds", 200, "how many histories there are")
	first   = flag.Uint64("first", 1, "the seed of the first one")
	replays = flag.Uint64("replays", 40, "how many histories are played twice; see testutil.Histories")
	talks   = flag.Int("conversations", 0, "the only number of conversations; 0: 1, and fewer histories with 2 and 4")
	oneSeed = flag.Uint64("seed", 0, "the only history; -v prints it")
)

const yaml = `
pdulog: {enabled: false}
limits: {pdu_timeout: 5s, join_timeout: 3s}
accounts:
  - {system_id: one, password: secret, receives: ["1"]}
  - {system_id: two, password: secret, receives: ["2"]}
connectors:
  - {name: clients, direction: in, address: "127.0.0.1:0", window: 5, response_timeout: 5s, retry: [1s, 2s, 4s, 8s, 16s, 32s, repeat], throttle_pause: 500ms}
  - {name: a, direction: out, address: "127.0.0.1:1", instances: %d, window: %d, system_id: pmg, password: secret, max_queue: %d, queue_wait: 5s, %s,
     response_timeout: 5s, enquire_interval: 10s, bind_timeout: 5s, reconnect_delay: 1s, retry: [%s], throttle_pause: 500ms, failover_after: 5s, failover_attempts: %d}
  - {name: b, direction: out, address: "127.0.0.1:2", instances: 1, window: 4, system_id: pmg, password: secret, static: %t, bind: %s, %s,
     response_timeout: 5s, enquire_interval: 10s, bind_timeout: 5s, reconnect_delay: 1s, retry: [%s], throttle_pause: 500ms, failover_after: 5s, failover_attempts: %d}
routes:
%s  - {to: [%s]}
`

// newPlan chooses how faulty a history is.
func (w *world) newPlan() (p plan) {
	pick := func(all ...float64) float64 { return all[w.rng.IntN(len(all))] }
	p.crash, p.disk, p.slow = pick(0, 0.0005, 0.002), pick(0, 0, 0.02, 0.1), pick(0, 0.05)
	p.rude, p.faulty = pick(0, 0.03), pick(0, 0.1, 0.3)
	p.scheduled, p.validity = pick(0, 0.2), pick(0, 0.2)
	p.messages, p.breaks = 20+w.rng.IntN(60), w.chance(0.3)
	p.keep = int64(pick(0, 0, 1, 5000))
	p.away, p.recipients = pick(0, 0.01), int(pick(1, 4, 1000))
	p.asks = [][]byte{{0}, {1}, {1}, {0, 1, 2, 0x11}, {2}, {1, 0x11}}[w.rng.IntN(6)]
	p.long, p.cut, p.changes, p.commands = pick(0, 0, 0.2), pick(0, 0, 0.2), pick(0, 0, 0.05), w.chance(0.3)
	instances, window, queue := 1+w.rng.IntN(3), 1+w.rng.IntN(6), int(pick(5, 30, 1000))
	pauses := []string{"1s, 2s, 4s, 8s, 16s, 32s, repeat", "1s, 2s, 4s, 8s, 16s, 32s, 64s"}[int(pick(0, 0, 1))]
	static, failover := w.chance(0.5), int(pick(0, 1, 3))
	bind := []string{"transceiver", "transmitter"}[w.rng.IntN(2)]
	a, b := w.station("a"), w.station("b")
	a.receives, b.receives = true, bind == "transceiver"
	if w.chance(0.5) {
		w.smscs = []*smsc{w.newSMSC(a, b)}
	} else {
		w.smscs = []*smsc{w.newSMSC(a), w.newSMSC(b)}
	}
	options := func(s *station) string {
		long := []string{"pass", "split8", "split16", "sar", "payload", "join"}[w.rng.IntN(6)]
		receipts := []string{"ask", "ask", "force"}[w.rng.IntN(3)]
		return fmt.Sprintf("operator: %s, receipt_ids: %s, long_messages: %s, receipts: %s", s.smsc.stations[0].name, s.smsc.option(), long, receipts)
	}
	ofA, ofB := options(a), options(b)
	mo := "  - {to: clients, from: a}\n  - {to: clients, from: b}\n"
	if w.chance(0.3) {
		mo, p.noMO = "", true
	}
	parse := func(to string) *config.Config {
		text := fmt.Sprintf(yaml, instances, window, queue, ofA, pauses, failover, static, bind, ofB, pauses, failover, mo, to)
		cfg, _, err := config.Parse([]byte(text), config.Options{Protocols: []string{"smpp"}})
		if err != nil {
			panic(err)
		}
		return cfg
	}
	p.cfg, p.other = parse("a, b"), parse("b, a")
	if w.chance(0.3) {
		p.other = parse("b")
	}
	for _, s := range w.stations {
		if s.client {
			s.left = p.messages
		} else if !p.noMO {
			s.left = p.messages / 4
		}
	}
	known := p
	known.cfg, known.other = nil, nil
	w.note("plan: %+v", known)
	for _, c := range w.smscs {
		w.note("smsc of %s: ids %s from %d, told %t, in parameters %t, unasked %t, forges %.1f", c.stations[0].name, c.spelling.name, c.last+1, c.told, c.named, c.unasked, c.forges)
	}
	return p
}

// play plays the history of a seed with a number of conversations, and returns what is wrong with it.
func play(seed uint64, conversations int, mutation string, print func(string)) (w *world) {
	w = &world{rng: newRand(seed), print: print, mutation: mutation, conversations: conversations}
	w.disk = &disk{
		w: w, journal: journaltest.New(nil), noted: map[uint64]*store.Batch{}, messages: map[uint64]*stored{}, mapped: map[string]mapping{},
	}
	w.oracle = newOracle(w)
	for _, name := range []string{"one", "two", "a", "b"} {
		w.stations = append(w.stations, &station{w: w, name: name, client: len(name) > 1, receives: len(name) > 1})
	}
	w.plan = w.newPlan()
	for _, s := range w.stations {
		w.after(0, s.work)
	}
	w.after(0, w.start)
	w.after(w.between(0, 20*time.Second), w.reload)
	w.after(w.between(0, 20*time.Second), w.setClock)
	w.after(w.between(5*time.Second, 90*time.Second), w.restart)
	w.after(w.between(time.Second, 10*time.Second), w.command)
	w.run(w.now()+int64(60*time.Second), func() bool { return false })
	w.heal()
	patience := 20 * time.Minute
	if w.plan.scheduled > 0 {
		patience = 3 * time.Hour // delivery times are the wall clock's, which may have gone back by two hours
	}
	w.run(w.now()+int64(patience), w.oracle.settled)
	if w.problem == "" {
		w.probe()
		w.run(w.now()+int64(patience), w.oracle.settled)
		w.run(w.now()+int64(5*time.Second), func() bool { return false }) // the gateway counts now and then what receipts without messages take
		w.run(w.now()+int64(patience), w.oracle.settled)                  // a commit of what it forgets may be under way
		w.oracle.check()
	}
	w.note("%d events, %d lives, %d messages", w.done, w.lives, len(w.oracle.all))
	if w.node != nil {
		w.node.kill(false)
		w.node.end()
	}
	time.Sleep(2 * time.Minute) // for operations of processes that have ended: a change that was under way waits for its lane
	synctest.Wait()
	return w
}

// reload changes the routes.
func (w *world) reload() {
	if w.healed {
		return
	}
	w.after(w.between(time.Second, 20*time.Second), w.reload)
	if w.node == nil {
		return
	}
	w.plan.cfg, w.plan.other = w.plan.other, w.plan.cfg
	w.note("node: reload")
	if _, err := w.node.g.Reload(w.plan.cfg, w.node); err != nil {
		w.fail("cannot reload: %v", err)
	}
}

// restart stops the node as an operator does.
func (w *world) restart() {
	if w.healed {
		return
	}
	w.after(w.between(5*time.Second, 60*time.Second), w.restart)
	if w.node != nil && !w.node.g.Node.Draining() {
		w.node.drain()
	}
}

// setClock steps the wall clock.
func (w *world) setClock() {
	if w.healed {
		return
	}
	w.after(w.between(5*time.Second, 60*time.Second), w.setClock)
	w.step = w.between(-time.Hour, time.Hour)
	w.note("wall clock: %s ahead", w.step)
}

// heal ends all faults.
func (w *world) heal() {
	w.healed = true
	w.note("healed")
	for _, s := range w.stations {
		s.down, s.mood = false, 0
		if s.name == "b" && !w.mayAlwaysSubmit() {
			s.left = 0
		}
		for _, p := range slices.Clone(s.peers) {
			if w.node == nil || p.end.closed || p.leaving {
				p.over()
			}
		}
	}
	if w.disk.broken && w.node != nil {
		w.crash()
	}
}

// mayAlwaysSubmit reports whether b always has a session on which it may submit: the gateway is logged in as a
// transceiver, and not only while it has messages for b.
func (w *world) mayAlwaysSubmit() bool {
	b := &w.plan.cfg.Connectors[2]
	return b.BindType() != protocols.Transmitter && b.IsStatic()
}

// probe submits more from every station than all windows hold, to see whether slots were lost.
func (w *world) probe() {
	w.note("probe")
	for _, s := range w.stations {
		s.left = 40
		if s.name == "b" && !w.mayAlwaysSubmit() || !s.client && (w.plan.noMO || !slices.ContainsFunc(s.peers, func(p *peer) bool { return p.session.Bound().CanReceive() })) {
			s.left = 0
		}
	}
}

func TestSimulation(t *testing.T) {
	t.Parallel()
	if *oneSeed != 0 {
		synctest.Test(t, func(t *testing.T) {
			print := func(line string) {}
			if testing.Verbose() {
				print = func(line string) { fmt.Println(line) }
			}
			if w := play(*oneSeed, max(*talks, 1), "", print); w.problem != "" {
				t.Errorf("seed %d: %s", *oneSeed, w.problem)
			}
		})
		return
	}
	for _, of := range []struct {
		conversations int
		seeds         uint64
	}{{1, *seeds}, {2, *seeds / fewer}, {4, *seeds / fewer}} {
		if *talks != 0 && *talks != of.conversations {
			continue
		}
		if *talks != 0 {
			of.seeds = *seeds
		}
		each(t, testutil.Histories(of.seeds), of.conversations, "", func(seed uint64, w *world) bool {
			if w.problem != "" {
				t.Errorf("seed %d, %d conversations: %s\nreplay: go test -v -run TestSimulation ./internal/simulation -args -seed %d -conversations %d",
					seed, of.conversations, w.problem, seed, of.conversations)
			}
			return false
		})
	}
}

// fewer is by how much there are fewer histories of several conversations.
const fewer = 10

// each plays the histories of many seeds, until f reports true.
func each(t *testing.T, seeds uint64, conversations int, mutation string, f func(seed uint64, w *world) bool) {
	var next atomic.Uint64
	var stop atomic.Bool
	var mu sync.Mutex
	var players sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		players.Go(func() {
			for n := next.Add(1); n <= seeds && !stop.Load(); n = next.Add(1) {
				seed := *first + n - 1
				synctest.Test(t, func(*testing.T) {
					w := play(seed, conversations, mutation, nil)
					mu.Lock()
					defer mu.Unlock()
					if !stop.Load() && f(seed, w) {
						stop.Store(true)
					}
				})
			}
		})
	}
	players.Wait()
}

// A seed has one history.
func TestReplays(t *testing.T) {
	t.Parallel()
	for seed := range testutil.Histories(*replays) {
		seed += *first
		conversations := []int{1, 1, 1, 4}[seed%4]
		one, other := history(t, seed, conversations), history(t, seed, conversations)
		at := 0
		for at < min(len(one), len(other)) && one[at] == other[at] {
			at++
		}
		if at < max(len(one), len(other)) {
			t.Errorf("seed %d has two histories, from line %d on:\n%s\nand\n%s", seed, at, around(one, at), around(other, at))
		}
	}
}

func around(lines []string, at int) string {
	return strings.Join(lines[max(at-5, 0):min(at+5, len(lines))], "\n")
}

// history returns the lines of the history of a seed.
func history(t *testing.T, seed uint64, conversations int) (lines []string) {
	synctest.Test(t, func(*testing.T) {
		play(seed, conversations, "", func(line string) {
			if !strings.HasPrefix(line, logged) {
				lines = append(lines, line)
			}
		})
	})
	return lines
}
