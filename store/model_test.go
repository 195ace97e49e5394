package store

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// A model is what a store must hold: messages with their states, mappings and events.
type model struct {
	messages map[uint64]string // as textOf describes them
	mapped   map[string]string
	events   map[uint64]string
	day      uint32
	id       uint64 // the last that was given
	gaps     []uint64
	number   uint64 // of the last event
}

func newModel() *model {
	return &model{messages: map[uint64]string{}, mapped: map[string]string{}, events: map[uint64]string{}, day: 100, id: 1000}
}

func (m *model) clone() *model {
	c := *m
	c.messages, c.mapped, c.events = maps.Clone(m.messages), maps.Clone(m.mapped), maps.Clone(m.events)
	c.gaps = slices.Clone(m.gaps)
	return &c
}

// change fills a batch with what a gateway may do, and does the same to the model.
func (m *model) change(r *rand.Rand, b *Batch) {
	for range r.IntN(6) {
		gap := m.id + 1 // its message may come later, and never does so twice
		m.id += 1 + r.Uint64N(3)
		if m.put(b, m.id, 1+r.IntN(300)); gap < m.id {
			m.gaps = append(m.gaps, gap)
		}
	}
	if len(m.gaps) > 0 && r.IntN(4) == 0 {
		m.put(b, m.gaps[0], 5)
		m.gaps = m.gaps[1:]
	}
	for _, id := range slices.Sorted(maps.Keys(m.messages)) {
		switch r.IntN(14) {
		case 0:
			m.keep(b, id, fmt.Sprint("reason ", r.IntN(100)))
		case 1, 2:
			m.sent(b, id)
		case 3:
			m.replace(b, id, 1+r.IntN(20))
		case 4:
			b.Delete(id, 500) // as orphans are given
			m.put(b, id, 7)
		}
	}
	switch r.IntN(20) {
	case 0:
		m.day++
		b.ForgetBefore(m.day - 1)
		maps.DeleteFunc(m.mapped, func(_, v string) bool { return dayIn(v) < m.day-1 })
	case 1:
		upTo := m.number - min(m.number, r.Uint64N(5))
		b.DropEvents(upTo)
		maps.DeleteFunc(m.events, func(n uint64, _ string) bool { return n <= upTo })
	case 2, 3, 4:
		m.another(r, b)
	}
}

// another replaces a mapping by another of its day, or erases it.
func (m *model) another(r *rand.Rand, b *Batch) {
	all := slices.Sorted(maps.Keys(m.mapped))
	if len(all) == 0 {
		return
	}
	peer := all[r.IntN(len(all))]
	day := dayIn(m.mapped[peer])
	if r.IntN(2) == 0 {
		b.Erase("north", []byte(peer), day)
		delete(m.mapped, peer)
		return
	}
	m.mapped[peer] = fmt.Sprint(day, " another ", r.IntN(100))
	b.Note("north", []byte(peer), []byte(m.mapped[peer]), day)
}

func (m *model) put(b *Batch, id uint64, words int) {
	text := strings.Repeat(fmt.Sprint(id, " "), words)
	b.Put(sample(id, text), sampleLane)
	m.messages[id] = fmt.Sprint(id, " ", text)
}

// replace stores another text of a message, which keeps its state.
func (m *model) replace(b *Batch, id uint64, words int) {
	_, state, kept := strings.Cut(m.messages[id], " (")
	text := strings.Repeat(fmt.Sprint("another ", id, " "), words)
	b.Replace(sample(id, text), sampleLane)
	if m.messages[id] = fmt.Sprint(id, " ", text); kept {
		m.messages[id] += " (" + state
	}
}

func (m *model) keep(b *Batch, id uint64, reason string) {
	text, _, _ := strings.Cut(m.messages[id], " (")
	m.messages[id] = fmt.Sprintf("%s (%s)", text, reason)
	b.Keep(sample(id, "only the state of this is stored"), State{Aside: Quarantined, Reason: reason})
}

// sent is what happens when a peer has taken a message: all in one batch.
func (m *model) sent(b *Batch, id uint64) {
	peer, value := fmt.Sprint("peer ", id), fmt.Sprint(m.day, " ", id)
	m.number++
	b.Delete(id, 500)
	b.Note("north", []byte(peer), []byte(value), m.day)
	b.Event(m.number, []byte(value))
	delete(m.messages, id)
	m.mapped[peer], m.events[m.number] = value, value
}

// dayIn returns the day that a mapping's value begins with.
func dayIn(value string) (day uint32) {
	fmt.Sscan(value, &day)
	return day
}

// differs says in what a store is not the model, which has the mappings of all peers that ever
// were; empty if in nothing.
func (m *model) differs(s Store) string {
	got := newModel()
	for next := uint64(0); ; {
		var err error
		if next, err = s.Scan(next, 7, func(e *Entry) (err error) {
			got.messages[e.ID], err = textOf(e)
			return err
		}); err != nil {
			return err.Error()
		}
		if next == 0 {
			break
		}
	}
	if d := differ("message", m.messages, got.messages); d != "" {
		return d
	}
	for id := uint64(1000); id <= m.id; id++ {
		peer := fmt.Sprint("peer ", id)
		value, ok, err := s.Lookup("north", []byte(peer))
		if err != nil {
			return err.Error()
		}
		if ok {
			got.mapped[peer] = string(value)
		}
	}
	if d := differ("mapping", m.mapped, got.mapped); d != "" {
		return d
	}
	if _, err := s.Events(0, 1<<30, func(n uint64, line []byte) error {
		got.events[n] = string(line)
		return nil
	}); err != nil {
		return err.Error()
	}
	if d := differ("event", m.events, got.events); d != "" {
		return d
	}
	if st := s.Stats(); st.Messages != int64(len(m.messages)) {
		return fmt.Sprintf("it counts %d messages, not %d", st.Messages, len(m.messages))
	}
	return ""
}

func differ[K comparable](what string, want, got map[K]string) string {
	for k, v := range want {
		if g, ok := got[k]; !ok {
			return fmt.Sprintf("%s %v is lost", what, k)
		} else if g != v {
			return fmt.Sprintf("%s %v is %.60q, not %.60q", what, k, g, v)
		}
	}
	for k := range got {
		if _, ok := want[k]; !ok {
			return fmt.Sprintf("%s %v came back", what, k)
		}
	}
	return ""
}

// A history is a store in use, and what it must hold.
type history struct {
	t      *testing.T
	seed   uint64
	rand   *rand.Rand
	fs     *memFS
	store  Store
	model  *model // what was confirmed
	before *model // without the batch that is under way
	batch  Batch
}

func newHistory(t *testing.T, seed uint64, o Options) *history {
	h := &history{t: t, seed: seed, rand: rand.New(rand.NewPCG(seed, 0)), fs: newMemFS(), model: newModel()}
	h.open(o)
	return h
}

func (h *history) open(o Options) {
	o.FS, o.memTable = h.fs, 32<<10
	var err error
	if h.store, err = Open("data", o); err != nil {
		h.t.Fatalf("seed %d: %v", h.seed, err)
	}
}

// begin fills the next batch.
func (h *history) begin() {
	h.batch.Reset()
	h.before = h.model.clone()
	h.model.change(h.rand, &h.batch)
}

// step commits a batch, and does now and then what else a gateway does.
func (h *history) step() {
	h.begin()
	if err := h.store.Commit(&h.batch); err != nil {
		h.t.Fatalf("seed %d: %v", h.seed, err)
	}
	if h.rand.IntN(4) == 0 {
		h.tidy()
	}
}

// tidy does what a gateway does now and then, and sometimes what it does seldom.
func (h *history) tidy() {
	h.store.Tidy()
	if h.rand.IntN(2) == 0 {
		_ = h.store.(*durable).tidier.shrink() // where it fails, the next batch does too
	}
}

// crash cuts the power while a batch is committed. What was not synced survives with a probability
// of percent. It returns the error of the commit.
func (h *history) crash(percent int) {
	h.begin()
	done, shrink := make(chan error, 1), h.rand.IntN(4) == 0
	go func() {
		if shrink {
			_ = h.store.(*durable).tidier.shrink()
		}
		done <- h.store.Commit(&h.batch)
	}()
	for range h.rand.IntN(200) { // some of the time the commit is under way
		select {
		case err := <-done:
			done <- err
		default:
		}
	}
	crashed := h.fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: percent, RNG: h.rand})
	if err := <-done; err != nil {
		h.t.Fatalf("seed %d: %v", h.seed, err)
	}
	if err := h.store.Close(); err != nil {
		h.t.Fatalf("seed %d: %v", h.seed, err)
	}
	h.fs = crashed
}

// settle compares a store that was opened after a crash with what it may hold: everything that
// was confirmed, and the batch that was under way, or not. It says what else it holds.
func (h *history) settle() string {
	with := h.model.differs(h.store)
	if with == "" {
		return ""
	}
	without := h.before.differs(h.store)
	if without == "" {
		h.model = h.before
		return ""
	}
	return fmt.Sprintf("seed %d: %s; without the last batch: %s", h.seed, with, without)
}
