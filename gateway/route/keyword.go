package route

import (
	"encoding/binary"
	"slices"
	"sync"
	"sync/atomic"

	"pmg/internal/smstext"
	"pmg/sms"
	"pmg/store"
)

// keywords has the parts of a long message take the route of the word that the whole text begins
// with:
//
//	first part ──► its keyword is noted ──► lane
//	another one ──► lane, by the keyword that was noted
//	     └─► none was, and it would decide ──► put aside ──► lane, when the first part comes
//
// What no first part comes for within limits.join_timeout stays aside for an operator, because a
// guess might give it to another customer. It is safe for concurrent use.
type keywords struct {
	done sync.WaitGroup
	n    atomic.Int64 // length of line

	mu      sync.Mutex
	of      map[string]firstPart   // by what the parts have in common
	order   []string               // of of, the oldest first
	waiting map[string][]firstless // parts that are put aside
	line    []firstless            // the same and those that have gone, the oldest first
	again   map[uint64]string      // parts whose first part has come, and its keyword
	running bool
	ended   bool
}

// A firstless is a part whose first part has not come.
type firstless struct {
	key string
	id  uint64
	at  int64 // when it came, by the wall clock
}

// A firstPart is the keyword of a first part, and when that came.
type firstPart struct {
	keyword string
	at      int64 // by the wall clock
}

const (
	// keywordsName is the name under which the store keeps the keywords of first parts, for parts that come after
	// a restart. A value is when the first part came, in 8 octets, and the keyword.
	keywordsName = ".keywords"
	maxKeywords  = 20_000 // in memory; the oldest make room
	maxFirstless = 10_000 // parts that may wait for their first part
)

// keywordOf returns the word by which a message is routed. It reports false for a part of a long
// message whose first part is not known.
func (t *Table) keywordOf(m *sms.Message) (keyword string, known bool) {
	key, first := t.firstOf(m)
	if key != "" && !first {
		return t.keywords.find(m.ID, key, t.Clock.Wall(m.Arrived), int64(t.Config().Limits.JoinTimeout))
	}
	begin := m.Text()
	text, _ := smstext.Decode(m.Alphabet, m.Flags&sms.HasHeader != 0, begin[:min(len(begin), keywordOctets)])
	return keywordIn(text), true
}

// firstOf returns what the parts of a long message have in common, and whether a message is the
// first one; "" for a message that is whole.
func (t *Table) firstOf(m *sms.Message) (key string, first bool) {
	if m.Parts > 1 {
		if m.ID == 0 {
			return "", true // its parts are not made yet
		}
		return string(binary.BigEndian.AppendUint64(nil, m.WholeID())), m.Part == 0
	}
	p, _, ok := t.PartOf(m)
	if !ok || p.Total < 2 {
		return "", true
	}
	b := append(append([]byte("part "), m.Origin.Account...), 0) // longer than the others
	b = append(append(b, m.Origin.Connector...), 0)
	for _, a := range [...]sms.Address{m.Source(), m.Dest()} {
		b = append(append(b, a.Addr...), 0)
	}
	return string(append(b, byte(p.Reference>>8), byte(p.Reference), p.Total)), p.Number == 1
}

// find returns the keyword of the first part of a message of which another part came at a time. The
// references of parts that clients and mobiles make repeat, so it must have come shortly
// before or after that; those of the gateway's own parts do not.
func (k *keywords) find(id uint64, key string, at, timeout int64) (keyword string, known bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if keyword, known = k.again[id]; known {
		return keyword, true
	}
	n, ok := k.of[key]
	return n.keyword, ok && (len(key) == 8 || n.isNear(at, timeout))
}

func (n firstPart) isNear(at, timeout int64) bool { return at-n.at <= timeout && n.at-at <= timeout }

// NoteKeyword notes the keyword of a first part, and takes up the parts that wait for it.
func (t *Table) NoteKeyword(m *sms.Message) {
	if !t.routes.Load().table.keywords || m.Kind == sms.Receipt {
		return
	}
	key, first := t.firstOf(m)
	if key == "" || !first {
		return
	}
	keyword, _ := t.keywordOf(m)
	n := firstPart{keyword, t.Clock.Wall(m.Arrived)}
	if t.Store != nil && len(key) > 8 {
		value := binary.BigEndian.AppendUint64(nil, uint64(n.at))
		t.Committer.Begin().Map(store.DayOf(n.at), keywordsName, []byte(key), append(value, keyword...))
		t.Committer.End()
	}
	k := &t.keywords
	k.mu.Lock()
	defer k.mu.Unlock()
	k.put(key, n)
	k.takeUp(t, key, n)
}

// put notes a keyword. The caller holds the lock.
func (k *keywords) put(key string, n firstPart) {
	if k.of == nil {
		k.of = map[string]firstPart{}
	}
	if _, ok := k.of[key]; !ok {
		for len(k.order) >= maxKeywords {
			delete(k.of, k.order[0])
			k.order = k.order[1:]
		}
		k.order = append(k.order, key)
	}
	k.of[key] = n
}

// takeUp has the parts routed that wait for a first part. The caller holds the lock.
func (k *keywords) takeUp(t *Table, key string, first firstPart) {
	timeout := int64(t.Config().Limits.JoinTimeout)
	for _, p := range k.waiting[key] {
		if first.isNear(p.at, timeout) {
			if k.again == nil {
				k.again = map[uint64]string{}
			}
			k.again[p.id] = first.keyword
		}
	}
	delete(k.waiting, key)
	k.run(t)
}

// run starts the goroutine that routes parts, if there is work for it. What is read of earlier runs
// is routed when all of that is in its lanes. The caller holds the lock.
func (k *keywords) run(t *Table) {
	if len(k.again) > 0 && !k.running && !k.ended && t.Recovered() {
		k.running = true
		k.done.Go(func() { k.loop(t) })
	}
}

// recovered begins to route parts of earlier runs.
func (k *keywords) recovered(t *Table) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.run(t)
}

// expire forgets the parts for which no first part will come any more: they stay aside. The caller
// holds the lock.
func (k *keywords) expire(before int64) {
	for len(k.line) > 0 && k.line[0].at < before {
		p := k.line[0]
		k.line = k.line[1:]
		rest := slices.DeleteFunc(k.waiting[p.key], func(other firstless) bool { return other.id == p.id })
		if len(rest) == 0 {
			delete(k.waiting, p.key)
		} else {
			k.waiting[p.key] = rest
		}
	}
	k.n.Store(int64(len(k.line)))
}

// WaitsForFirst reports whether a message that no route was found for is a part that is put aside
// until its first part comes.
func (t *Table) WaitsForFirst(m *sms.Message) bool {
	if t.Store == nil || !t.LacksFirst(m) {
		return false
	}
	k := &t.keywords
	if k.n.Load() >= maxFirstless {
		k.mu.Lock()
		k.expire(t.Clock.Wall(t.Clock.Now()) - int64(t.Config().Limits.JoinTimeout))
		k.mu.Unlock()
	}
	return k.n.Load() < maxFirstless
}

// LacksFirst reports whether a message is a part whose route is not known, because its first part
// is not.
func (t *Table) LacksFirst(m *sms.Message) bool {
	table := t.routes.Load().table
	if !table.keywords || m.Kind == sms.Receipt || !table.DependsOnKeyword(m.Origin.Account, m.Origin.Connector, m.Dest().Addr, m.Source().Addr) {
		return false
	}
	_, known := t.keywordOf(m)
	return !known
}

// KeepFirstless notes that a part was put aside until its first part comes. That may have come
// meanwhile, or in an earlier run.
func (t *Table) KeepFirstless(m *sms.Message) {
	if m.Parts > 1 || !t.routes.Load().table.keywords {
		return
	}
	key, first := t.firstOf(m)
	if key == "" || first {
		return
	}
	at, timeout := t.Clock.Wall(m.Arrived), int64(t.Config().Limits.JoinTimeout)
	k := &t.keywords
	k.mu.Lock()
	defer k.mu.Unlock()
	k.expire(t.Clock.Wall(t.Clock.Now()) - timeout)
	if k.ended || len(k.line) >= 2*maxFirstless {
		return // it is in the store
	}
	if k.waiting == nil {
		k.waiting = map[string][]firstless{}
	}
	p := firstless{key, m.ID, at}
	k.waiting[key], k.line = append(k.waiting[key], p), append(k.line, p)
	k.n.Store(int64(len(k.line)))
	if n, ok := k.of[key]; ok && n.isNear(at, timeout) {
		k.takeUp(t, key, n)
		return
	}
	k.done.Go(func() { t.findFirst(key, at, timeout) })
}

// findFirst looks in the store for the keyword of a first part.
func (t *Table) findFirst(key string, at, timeout int64) {
	t.Pass("first parts")
	value, ok, err := t.Store.Lookup(keywordsName, []byte(key))
	if err != nil {
		t.LogLookup(err)
	}
	if !ok || len(value) < 8 {
		return
	}
	n := firstPart{string(value[8:]), int64(binary.BigEndian.Uint64(value))}
	if !n.isNear(at, timeout) {
		return
	}
	k := &t.keywords
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, ok := k.of[key]; !ok {
		k.put(key, n)
	}
	k.takeUp(t, key, n)
}

// loop routes parts whose first part has come.
func (k *keywords) loop(t *Table) {
	t.Pass("keywords")
	for {
		k.mu.Lock()
		var ids []uint64
		for id := range k.again {
			ids = append(ids, id)
		}
		if len(ids) == 0 || k.ended {
			k.running = false
			k.mu.Unlock()
			return
		}
		k.mu.Unlock()
		slices.Sort(ids)
		if err := t.RouteAgain(ids); err != nil {
			t.LogLookup(err)
		}
		k.mu.Lock()
		for _, id := range ids {
			delete(k.again, id)
		}
		k.mu.Unlock()
	}
}

// end waits until nothing is routed any more. What waits is in the store.
func (k *keywords) end() {
	k.mu.Lock()
	k.ended = true
	k.mu.Unlock()
	k.done.Wait()
}

// FindFirstless does for a part of an earlier run what keepFirstless does.
func (t *Table) FindFirstless(e *store.Entry) {
	if !t.routes.Load().table.keywords {
		return
	}
	if m, _, err := t.Decode(e); err == nil {
		t.KeepFirstless(m)
		m.Release()
	}
}
