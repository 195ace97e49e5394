package queue

import (
	"math/rand/v2"
	"testing"

	"pmg/sms"
)

// The places of restored messages are before newer ones that were pushed. None of them waits in a
// tree.
func TestRestoreOrder(t *testing.T) {
	t.Parallel()
	q := newQueue()
	const old = 5000
	for id := range uint64(old) {
		q.Push(&sms.Message{ID: old + id, Arrived: int64(old + id)}, 2*old)
		q.Restore(Waiting{ID: id, Arrived: int64(id)}, 2*old)
	}
	if n := q.back.Len(); n > 0 {
		t.Errorf("%d messages wait in the tree", n)
	}
	for range old {
		q.ReadAhead(1, func(e *Entry) bool { return true })
		e := *q.first().first()
		q.Load(&e, &sms.Message{ID: e.ID})
		if m, _ := q.Pop(2 * old); m == nil || m.ID != e.ID || m.ID >= old {
			t.Fatalf("%+v leaves in the place of %d", m, e.ID)
		}
	}
}

// Whatever happens to messages whose bodies are on disk, the queue's counts are those of its
// entries.
func TestAbsentRandom(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		random := rand.New(rand.NewPCG(seed, 6))
		q, now := newQueue(), int64(1000)
		var asked, all []Entry
		ask := func(e *Entry) bool {
			if random.IntN(5) == 0 {
				return false
			}
			asked = append(asked, *e)
			return true
		}
		some := func(list []Entry) *Entry {
			if len(list) == 0 {
				return &Entry{}
			}
			return &list[random.IntN(len(list))]
		}
		take := func(*Entry) Verdict { return Verdict(random.IntN(2)) }
		unload := func(e *Entry) Verdict {
			if e.IsLoaded() {
				e.Unload()
			}
			return Stays
		}
		for id := range uint64(500) {
			m := &sms.Message{ID: id, Arrived: now - random.Int64N(9), Priority: uint8(random.IntN(2))}
			if random.IntN(4) == 0 {
				m.NotBefore = now + random.Int64N(9)
			}
			if random.IntN(4) == 0 {
				m.Expires = now + random.Int64N(30)
			}
			key := EntryOf(m)
			switch left := random.IntN(9); random.IntN(12) {
			case 0:
				q.Push(m, now)
			case 1:
				m.NotBefore = 0
				q.PushOnDisk(m, now)
			case 2, 3:
				q.Restore(Waiting{ID: m.ID, Priority: m.Priority, Arrived: m.Arrived, NotBefore: m.NotBefore, Expires: m.Expires}, now)
			case 4:
				q.PushBack(m, now)
			case 5:
				q.ReadAhead(random.IntN(20), ask)
			case 6:
				e := some(asked)
				q.Load(e, &sms.Message{ID: e.ID, Expires: e.Expires})
			case 7:
				q.Remove(some(all), func(*Entry) bool { return random.IntN(3) == 0 })
			case 8:
				q.Change(some(all), func(e *Entry) bool { return e.Message != nil && e.Unload() != nil })
			case 9:
				if random.IntN(2) == 0 {
					q.TakeDue(now, &left, &Taker{Ask: ask, Take: take})
				} else {
					q.TakeDue(now, &left, &Taker{Ask: ask, Take: unload})
				}
			case 10:
				q.TakeLater(&left, func(*Entry) bool { return random.IntN(2) == 0 }, &Taker{Ask: ask, Take: take})
			default:
				q.Expired(now, func(*Entry) {})
				q.Pop(now)
				now += random.Int64N(5)
			}
			all = append(all, key)
			checkCounts(t, seed, q)
		}
	}
}

// checkCounts compares what the queue counts with what it holds.
func checkCounts(t *testing.T, seed uint64, q *Queue) {
	t.Helper()
	n, absent, back, ahead := 0, 0, 0, 0
	q.Each(func(e *Entry) {
		n++
		absent += e.absent()
	})
	q.back.Scan(func(e Entry) bool {
		switch e.state {
		case onDisk:
			back++
		case beingRead, loaded:
			ahead++
		}
		return true
	})
	if n != q.Len() || absent != q.Absent() || back != q.backOnDisk || ahead != q.backAhead {
		t.Fatalf("seed %d: %d entries, counted %d; absent %d, %d; back %d, %d; ahead %d, %d",
			seed, n, q.Len(), absent, q.Absent(), back, q.backOnDisk, ahead, q.backAhead)
	}
}
