package connector

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"testing"

	"pmg/connector/queue"
	"pmg/internal/testkit/testutil"
	"pmg/sms"
)

// Whatever happens to messages of which some are on disk alone, each leaves once, or
// ends, and those of a share leave in their order. The model is a list of all.
func TestPagingRandom(t *testing.T) {
	t.Parallel()
	for seed := range testutil.Histories(80) {
		runPaging(t, seed)
	}
}

// A world is two lanes with a disk, of which the first goes up and down, and what the
// test knows of their messages.
type world struct {
	t        *testing.T
	seed     uint64
	random   *rand.Rand
	desks    [2]*desk
	all      map[uint64]*known
	old      []*known // to be restored, in the order of their ids
	sessions []*Link
	late     []lateSlot
}

// known is what the test knows of a message.
type known struct {
	message sms.Message
	account string
	desk    *desk // where it waits; nil: nowhere
	under   bool
	ended   bool
}

func runPaging(t *testing.T, seed uint64) {
	random := rand.New(rand.NewPCG(seed, 3))
	from, to := twoDesks(t, fmt.Sprintf("instances: 2, window: %d, failover_after: 3s", 1+seed%4))
	w := &world{t: t, seed: seed, random: random, desks: [2]*desk{from, to}, all: map[uint64]*known{}}
	to.disk = from.addDisk([]int64{1, 5000, 0}[seed%3])
	for _, d := range w.desks {
		d.Queues.paging.limits = pagingLimits{behind: 3, octets: random.Int64N(2000), after: second, ahead: 4, least: 2, all: 8, reads: 1 + random.IntN(6)}
		d.onEnd = w.end
		d.writes, d.noted = seed%2 == 0, seed%5
	}
	if seed%4 == 0 {
		from.stays = func(m *sms.Message) bool { return m.ID%3 == 0 }
	}
	for range random.IntN(200) {
		w.old = append(w.old, w.fresh(start-1000+int64(from.lastID)/2+int64(random.IntN(40)/38*random.IntN(9))))
	}
	for range 600 {
		w.pass(random.Int64N(second / 4))
		w.step()
		w.check()
	}
	w.finish()
}

func (w *world) pass(time int64) {
	for _, d := range w.desks {
		d.now += time
	}
}

// fresh makes a message and writes it to the disk.
func (w *world) fresh(arrived int64) *known {
	d, random := w.desks[0], w.random
	d.lastID++
	k := &known{account: string(rune('a' + random.IntN(2)))}
	m := &k.message
	m.ID, m.Origin, m.Arrived = d.lastID, d.share(k.account).Origin, arrived
	m.Priority = uint8(random.IntN(8) / 4 * random.IntN(3))
	if random.IntN(5) == 0 {
		m.Expires = d.now + random.Int64N(20*second)
	}
	if random.IntN(6) == 0 {
		m.DeliverAt = d.now + random.Int64N(9*second) - second
	}
	w.all[m.ID] = k
	if random.IntN(30) > 0 {
		d.disk.write(m)
	}
	return k
}

func (w *world) step() {
	d, random := w.desks[0], w.random
	switch n := random.IntN(14); n {
	case 0, 1:
		for range random.IntN(12) {
			k := w.fresh(d.now)
			s, m := d.accept(k.account, func(m *sms.Message) {
				id := d.lastID - 1 // accept counted it again
				d.lastID = id
				copyMessage(m, &k.message)
			})
			k.desk = d
			d.Queues.Push(d.now, s, m)
		}
	case 2, 3:
		for range random.IntN(20) {
			w.restore()
		}
	case 4, 5, 6:
		w.read(w.desks[random.IntN(2)])
	case 7:
		for len(d.dialed) > 0 && (d.stays == nil || random.IntN(4) == 0) {
			w.sessions = append(w.sessions, d.connect())
		}
	case 8:
		if len(w.sessions) > 0 && (d.stays != nil || random.IntN(3) == 0) {
			w.lose(random.IntN(len(w.sessions)))
		}
	case 9:
		for _, d := range w.desks {
			d.Tick(d.now)
		}
		w.move()
	case 10:
		w.remove(1 + random.Uint64N(d.lastID+1))
	case 11:
		if len(w.late) > 0 {
			w.answerLate()
		}
	default:
		codes := []sms.Code{sms.OK, sms.OK, sms.OK, sms.Throttled, sms.TemporaryFailure, sms.Timeout, sms.Rejected}
		d := w.desks[random.IntN(2)]
		for n := random.IntN(6); n > 0 && len(d.under) > 0; n-- {
			w.answer(d, random.IntN(len(d.under)), codes[random.IntN(len(codes))])
		}
	}
	for _, d := range w.desks {
		w.leave(d)
	}
}

// restore restores the oldest message that was not yet.
func (w *world) restore() {
	if len(w.old) == 0 {
		return
	}
	if n := len(w.old); n > 1 && w.random.IntN(20) == 0 {
		w.old[0], w.old[1] = w.old[1], w.old[0]
	}
	d, k := w.desks[0], w.old[0]
	w.old = w.old[1:]
	k.desk = d
	d.Queues.Restore(d.now, d.share(k.account), waitingOf(&k.message))
}

// read reads some of the bodies that were asked for, in any order.
func (w *world) read(d *desk) {
	ids := d.disk.wanted[d.Lane]
	w.random.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	before := len(d.disk.unreadable)
	d.read(w.random.IntN(8))
	for _, id := range d.disk.unreadable[before:] {
		if _, ok := d.disk.bodies[id]; ok {
			w.t.Fatalf("seed %d: message %d is on the disk, and unreadable", w.seed, id)
		}
		w.end(id)
	}
}

// end records that a message has ended.
func (w *world) end(id uint64) {
	w.t.Helper()
	k := w.all[id]
	if k == nil || k.ended {
		w.t.Fatalf("seed %d: message %d ends twice", w.seed, id)
	}
	k.ended, k.desk = true, nil
}

// leave takes the messages that may leave. It checks that they may, and that none of the same share
// should have come before.
func (w *world) leave(d *desk) {
	w.t.Helper()
	for {
		slot, _ := d.Next(d.now)
		if slot == nil {
			return
		}
		if slot.Outlet == nil {
			d.dialed = append(d.dialed, slot.Instance)
			continue
		}
		d.under = append(d.under, slot)
		m := slot.Message
		k := w.all[m.ID]
		if k.ended || k.under || k.desk != d || m.Attempts != k.message.Attempts || m.Due() > d.now || m.Expires != 0 && m.Expires < d.now {
			w.t.Fatalf("seed %d: message %d leaves: %+v", w.seed, m.ID, k)
		}
		k.under = true
		if m.Losses >= suspectAfter {
			continue // it is sent when a session is free for it
		}
		for _, other := range w.all {
			o := &other.message
			if other.desk == d && !other.under && !other.ended && other.account == k.account && o.Due() <= d.now &&
				o.Losses < suspectAfter && (o.Expires == 0 || o.Expires >= d.now) && comesBefore(o, &k.message) {
				w.t.Fatalf("seed %d: message %d leaves before %d", w.seed, m.ID, o.ID)
			}
		}
	}
}

func (w *world) answer(d *desk, i int, code sms.Code) {
	slot := d.under[i]
	m, link := slot.Message, slot.Link
	k := w.all[m.ID]
	d.answerSlot(i, code)
	k.under = false
	if k.ended { // by an answer that was late, or because it failed
		return
	}
	if code == sms.OK {
		w.end(m.ID)
		return
	}
	if code == sms.Timeout && d == w.desks[0] {
		w.late = append(w.late, lateSlot{link, m.ID})
	}
	k.message.NotBefore, k.message.Losses, k.message.Attempts = m.NotBefore, m.Losses, m.Attempts
}

func (w *world) lose(i int) {
	d, l := w.desks[0], w.sessions[i]
	w.sessions = append(w.sessions[:i], w.sessions[i+1:]...)
	w.late = nil
	d.Window.Over(&l.Outlet)
	for i := 0; i < len(d.under); {
		if d.under[i].Link == l {
			w.answer(d, i, sms.Lost)
		} else {
			i++
		}
	}
	if d.Window.Closed(d.now, l) {
		d.dialed = append(d.dialed, l.Instance)
	}
}

func (w *world) answerLate() {
	d, late := w.desks[0], w.late[0]
	w.late = w.late[1:]
	k := w.all[late.id]
	_, known := d.Queues.unknown[late.id]
	d.AnsweredLate(late.link, Unanswered{ID: late.id}, sms.Answer{Code: sms.OK, At: d.now})
	if known && !k.ended {
		k.ended = true
	}
}

// move moves what may be moved to the second lane.
func (w *world) move() {
	from, to := w.desks[0], w.desks[1]
	for more := true; more; {
		more = from.Move(from.now, func(s *Share, m *sms.Message) {
			k := w.all[m.ID]
			if k.under || k.ended || k.desk != from {
				w.t.Fatalf("seed %d: message %d moves: %+v", w.seed, m.ID, k)
			}
			k.desk = to
			to.Queues.Push(to.now, s, m)
		})
	}
}

// remove takes a message out of whichever lane it is in.
func (w *world) remove(id uint64) {
	k := w.all[id]
	if k == nil {
		return
	}
	for _, d := range w.desks {
		s := d.Queues.Share(k.message.Origin, 100)
		m, found := d.Queues.Remove(d.now, s, waitingOf(&k.message))
		waits := k.desk == d && !k.under && !k.ended
		expired := k.message.Expires != 0 && k.message.Expires < d.now
		if found && !waits || waits && !expired && !found {
			w.t.Fatalf("seed %d: message %d is found: %t, but %+v", w.seed, id, found, k)
		}
		if m != nil {
			if m.ID != id {
				w.t.Fatalf("seed %d: removed %d instead of %d", w.seed, m.ID, id)
			}
			m.Release()
		}
		if found && m == nil && w.random.IntN(2) == 0 { // it comes back, while its body may be being read
			d.Queues.Restore(d.now, s, waitingOf(&k.message))
			continue
		}
		if found {
			w.end(id)
			if _, there := d.Queues.Remove(d.now, s, waitingOf(&k.message)); there {
				w.t.Fatalf("seed %d: message %d is there after it was removed", w.seed, id)
			}
		}
	}
}

// comesBefore reports whether of two messages of a share that are due the first leaves first.
func comesBefore(a, b *sms.Message) bool {
	place := func(m *sms.Message) int64 { return max(m.DeliverAt, m.Arrived) }
	return cmp.Or(cmp.Compare(min(b.Priority, 4), min(a.Priority, 4)), cmp.Compare(place(a), place(b)), cmp.Compare(a.ID, b.ID)) < 0
}

// check compares what is counted with what there is.
func (w *world) check() {
	w.t.Helper()
	var used, scheduled int64
	for _, d := range w.desks {
		d.Publish()
		var waiting int64
		d.Queues.Shares(func(s *Share) {
			q := &s.queue
			waiting += int64(q.Len())
			absent := 0
			q.Each(func(e *queue.Entry) {
				if e.Message == nil {
					absent++
					used += queue.EntrySize
				} else {
					used += e.Message.Size()
				}
			})
			if absent != q.Absent() {
				w.t.Fatalf("seed %d: absent %d, counted %d", w.seed, absent, q.Absent())
			}
		})
		for _, s := range d.Queues.suspects {
			used += s.message.Size()
		}
		for _, s := range d.under {
			used += s.Message.Size()
		}
		used += int64(d.Queues.paging.ending) * queue.EntrySize
		if len(d.Queues.paging.reads) > d.Queues.paging.limits.reads {
			w.t.Fatalf("seed %d: %d bodies are being read", w.seed, len(d.Queues.paging.reads))
		}
		waiting += int64(len(d.Queues.suspects) + d.Queues.paging.ending)
		if int64(d.Queues.Len()) != waiting {
			w.t.Fatalf("seed %d: %d wait, counted are %d", w.seed, waiting, d.Queues.Len())
		}
		scheduled += d.Queued.Load() - waiting - int64(len(d.under))
	}
	for _, o := range w.desks[0].origins {
		scheduled += o.Tally.Scheduled.Load()
	}
	if scheduled != 0 || used != w.desks[0].used.Used() {
		w.t.Fatalf("seed %d: the count of messages is wrong by %d; %d octets are in use, counted are %d", w.seed, scheduled, used, w.desks[0].used.Used())
	}
}

// finish ends everything, while the first lane is up or stays down.
func (w *world) finish() {
	for len(w.old) > 0 {
		w.restore()
	}
	up := w.seed%2 == 0 || w.desks[0].stays != nil
	for !up && len(w.sessions) > 0 {
		w.lose(0)
	}
	for n := 0; w.desks[0].Queues.Len()+len(w.desks[0].under)+w.desks[1].Queues.Len()+len(w.desks[1].under) > 0; n++ {
		for up && len(w.desks[0].dialed) > 0 {
			w.sessions = append(w.sessions, w.desks[0].connect())
		}
		for _, d := range w.desks {
			w.leave(d)
			for len(d.under) > 0 {
				w.answer(d, 0, sms.OK)
			}
			w.read(d)
		}
		if n%7 == 6 { // frozen windows do not thaw by themselves
			if len(w.sessions) > 0 {
				w.lose(0)
			}
		}
		w.pass(second / 3)
		for _, d := range w.desks {
			d.Tick(d.now)
		}
		w.move()
		w.check()
		if n > 20_000 {
			w.t.Fatalf("seed %d: %d and %d messages never leave", w.seed, w.desks[0].Queues.Len(), w.desks[1].Queues.Len())
		}
	}
	for id, k := range w.all {
		if !k.ended {
			w.t.Fatalf("seed %d: message %d was lost: %+v", w.seed, id, k)
		}
	}
	w.check()
}
