package route

import (
	"encoding/binary"
	"sync"
	"time"

	"pmg/internal/smstext"
	"pmg/sms"
	"pmg/store"
)

// keywords sends the parts of a long message on the route of the word that the whole text begins
// with:
//
//	first part ──► its keyword is stored ──► lane
//	another one ──► lane, by the keyword that was stored
//	     └─► none was, and it would decide ──► refused for now, because a guess might give it to another customer
//
// It is safe for concurrent use.
type keywords struct {
	mu    sync.Mutex
	of    map[string]firstPart // first parts by the key that all parts share
	order []string             // keys of of, the oldest first
}

// A firstPart is the keyword of a first part, and the time of its arrival.
type firstPart struct {
	keyword string
	at      int64 // time of arrival, by the wall clock
}

const (
	// maxKeywords is how many keywords are in memory; the oldest are dropped. The store has the keywords of first parts
	// (store.KindKeyword) for parts that come after a restart: when the first part came, in 8 octets, and the keyword.
	maxKeywords = 20_000

	// firstPartKnown is how long a first part is known. What is refused for now comes again in minutes, and the references of
	// parts that clients and mobiles make repeat.
	firstPartKnown = int64(time.Hour)
)

// keywordOf returns the word by which a message is routed. It reports false for a part of a long
// message whose first part is not known.
func (t *Table) keywordOf(m *sms.Message) (keyword string, known bool) {
	key, first := t.firstOf(m)
	if key != "" && !first {
		return t.keywords.find(key, t.node.Clock.Wall(m.Arrived))
	}
	return smstext.FirstWord(smstext.Typed(m.Alphabet, m.Flags&sms.HasHeader != 0, m.Text())), true
}

// firstOf returns what the parts of a long message have in common, and whether a message is the
// first one; "" for a message that is whole.
func (t *Table) firstOf(m *sms.Message) (key string, first bool) {
	if m.Parts > 1 {
		if m.ID == 0 {
			return "", true // the message is not cut into parts yet
		}
		return string(binary.BigEndian.AppendUint64(nil, m.WholeID())), m.Part == 0
	}
	p, _, ok := t.PartOf(m)
	if !ok || p.Total < 2 {
		return "", true
	}
	b := append(append([]byte("part "), m.Origin.Account...), 0) // longer than other keys
	b = append(append(b, m.Origin.Connector...), 0)
	for _, a := range [...]sms.Address{m.Source(), m.Dest()} {
		b = append(append(b, a.Addr...), 0)
	}
	return string(append(b, byte(p.Reference>>8), byte(p.Reference), p.Total)), p.Number == 1
}

// find returns the keyword of the first part of a message, of which another part came at the time at. The
// references of clients and mobiles repeat, so the first part must have come shortly before or after at.
// References of the gateway's own parts do not repeat.
func (k *keywords) find(key string, at int64) (keyword string, known bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	n, ok := k.of[key]
	return n.keyword, ok && (len(key) == 8 || n.isNear(at))
}

func (n firstPart) isNear(at int64) bool {
	return at-n.at <= firstPartKnown && n.at-at <= firstPartKnown
}

// RememberKeyword records the keyword of a first part.
func (t *Table) RememberKeyword(m *sms.Message) {
	if !t.routes.Load().table.keywords || m.Kind == sms.Receipt {
		return
	}
	key, first := t.firstOf(m)
	if key == "" || !first {
		return
	}
	keyword, _ := t.keywordOf(m)
	n := firstPart{keyword, t.node.Clock.Wall(m.Arrived)}
	if len(key) > 8 {
		value := binary.BigEndian.AppendUint64(nil, uint64(n.at))
		value = append(value, keyword...)
		t.keep.Batches.Write(func(b *store.Batch) { b.Note(store.KindKeyword, []byte(key), value, store.DayOf(n.at)) })
	}
	t.keywords.put(key, n, true)
}

// put records a keyword. With newest false it stands behind one that is known already.
func (k *keywords) put(key string, n firstPart, newest bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.of == nil {
		k.of = map[string]firstPart{}
	}
	_, ok := k.of[key]
	switch {
	case ok && !newest:
		return
	case !ok:
		for len(k.order) >= maxKeywords {
			delete(k.of, k.order[0])
			k.order = k.order[1:]
		}
		k.order = append(k.order, key)
	}
	k.of[key] = n
}

// HasKeywords reports whether a route asks for a keyword.
func (t *Table) HasKeywords() bool { return t.routes.Load().table.keywords }

// LacksFirst reports whether a message is a part whose route is not known, because its first part
// is not.
func (t *Table) LacksFirst(m *sms.Message) bool {
	table := t.routes.Load().table
	if !table.keywords || m.Kind == sms.Receipt ||
		!table.DependsOnKeyword(traitsOf(m)) {
		return false
	}
	_, known := t.keywordOf(m)
	return !known
}

// FindFirst looks in the store for the keyword of the first part of a message, which has come in an
// earlier run. It may wait for the disk.
func (t *Table) FindFirst(m *sms.Message) {
	key, _ := t.firstOf(m)
	value, ok, err := t.keep.Index.Lookup(store.KindKeyword, []byte(key))
	if err != nil {
		t.keep.LogLookup(err)
	}
	if ok && len(value) >= 8 {
		t.keywords.put(key, firstPart{string(value[8:]), int64(binary.BigEndian.Uint64(value))}, false)
	}
}
