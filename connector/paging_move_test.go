package connector

import (
	"slices"
	"testing"

	"pmg/connector/queue"
	"pmg/sms"
)

// moveAll moves what there is to be moved, reading bodies part by part, and returns the
// ids in the order in which they move, how many bodies were in memory at most, and for
// how long it rested until the last one moved.
func (d *desk) moveAll(to *desk) (ids []uint64, most int, rested int64) {
	begin := d.now
	for rest := 0; rest < 200; rest++ {
		for more := true; more; {
			more = d.Move(d.now, func(s *Share, m *sms.Message) {
				ids = append(ids, m.ID)
				rest, rested = 0, d.now-begin
				to.Queues.Push(d.now, s, m)
			})
			inMemory := len(d.disk.wanted[d.Lane])
			d.Queues.Shares(func(s *Share) { inMemory += s.queue.Len() - s.queue.Absent() })
			most = max(most, inMemory)
		}
		if d.read(1000) == 0 {
			d.now += second
			to.now = d.now
		}
	}
	return ids, most, rested
}

// Messages on disk move in their order when their lane is down, part by part, and those
// for which there is no other route are read again when they leave.
func TestMoveFromDisk(t *testing.T) {
	t.Parallel()
	for name, stays := range map[string]func(*sms.Message) bool{
		"all": nil, "every third stays": func(m *sms.Message) bool { return m.ID%3 == 0 },
		"the last move": func(m *sms.Message) bool { return m.ID < 8_000 },
	} {
		d, to := twoDesks(t, "instances: 1, window: 10, failover_after: 30s")
		to.disk = d.addDisk(1)
		d.stays = stays
		const many = 12_000
		d.restore("a", many, nil)
		d.wait(40)
		ids, most, rested := d.moveAll(to)
		var want []uint64
		for id := range uint64(many) {
			if stays == nil || !stays(&sms.Message{ID: id + 1}) {
				want = append(want, id+1)
			}
		}
		if !slices.Equal(ids, want) {
			t.Errorf("%s: %d messages move, want %d in their order", name, len(ids), len(want))
		}
		if most > 2*moveAtATime {
			t.Errorf("%s: %d bodies were in memory", name, most)
		}
		if stays == nil && rested > 0 {
			t.Errorf("%s: rested %d s although bodies were read", name, rested/second)
		}
		inMemory := 0
		to.Queues.Shares(func(s *Share) { inMemory += s.queue.Len() - s.queue.Absent() })
		if limit := to.Queues.paging.limits.behind; inMemory > limit {
			t.Errorf("%s: %d bodies are in memory where they have moved to", name, inMemory)
		}
		if n := len(to.readAll()); n != len(want) {
			t.Errorf("%s: %d are sent there", name, n)
		}
		d.connect()
		if n := len(d.readAll()); n != many-len(want) {
			t.Errorf("%s: %d are sent by the first lane", name, n)
		}
		to.Publish()
		d.wantEmpty()
	}
}

// A lane that leaves gives away its scheduled messages, and the last client's lane all,
// also where their bodies are on disk.
func TestLeaveFromDisk(t *testing.T) {
	t.Parallel()
	for _, hopeless := range []bool{false, true} {
		d, to := twoDesks(t, "instances: 1, window: 10, failover_after: 0s")
		to.disk = d.addDisk(0)
		if hopeless {
			d.Account = "client" // no session of it is there
		}
		const many = 10_000
		d.restore("a", many, func(m *sms.Message) { m.DeliverAt = d.now + 3600*second })
		d.restore("a", 100, nil)
		d.restore("a", 100, func(m *sms.Message) { m.NotBefore = d.now + 3600*second })
		delete(d.disk.bodies, 50)
		d.Leave()
		d.Tick(d.now)
		ids, most, _ := d.moveAll(to)
		slices.Sort(ids)
		want := rising(1, many)
		if hopeless {
			want = rising(1, many+200)
		}
		want = slices.Delete(want, 49, 50)
		if !slices.Equal(ids, want) {
			t.Errorf("hopeless %t: %d messages move, want %d", hopeless, len(ids), len(want))
		}
		if most > 2*moveAtATime+200 {
			t.Errorf("hopeless %t: %d bodies were in memory", hopeless, most)
		}
		if gone := d.Publish(); gone != hopeless {
			t.Errorf("hopeless %t: gone %t", hopeless, gone)
		}
		if !hopeless {
			d.connect()
			d.readAll()
			d.now += 3600 * second
			d.readAll()
		}
		to.now += 3600 * second
		to.readAll()
		to.Publish()
		d.wantEmpty()
		if n := to.Stats.Sent.Load() + d.Stats.Sent.Load(); n != many+199 {
			t.Errorf("hopeless %t: %d sent", hopeless, n)
		}
	}
}

// A message that waits can be taken out wherever it is, and not when it is under way or
// its outcome is known.
func TestRemove(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "instances: 1, window: 10, static: true")
	k := d.addDisk(0)
	s := d.share("a")
	d.restore("a", 2, nil)
	d.submit("a", 2, nil)
	d.submit("a", 1, func(m *sms.Message) { m.DeliverAt = d.now + second })
	d.restore("a", 1, func(m *sms.Message) { m.DeliverAt = d.now + second })
	arrived := func(id uint64) queue.Waiting { return queue.Waiting{ID: id, Arrived: d.now} }
	scheduled := func(id uint64) queue.Waiting { return queue.Waiting{ID: id, Arrived: d.now, DeliverAt: d.now + second} }
	for _, want := range []struct {
		w               queue.Waiting
		found, inMemory bool
	}{
		{arrived(2), true, false}, {arrived(2), false, false}, {arrived(4), true, true}, {arrived(5), false, false},
		{scheduled(5), true, true}, {scheduled(6), true, false}, {arrived(77), false, false},
	} {
		m, found := d.Queues.Remove(d.now, s, want.w)
		if found != want.found || (m != nil) != want.inMemory || m != nil && m.ID != want.w.ID {
			t.Errorf("%+v: found %t, %+v", want, found, m)
		}
		if m != nil {
			m.Release()
		}
	}
	if q, n := d.Queued.Load(), s.Origin.Tally.Scheduled.Load(); q != 2 || n != 0 {
		t.Errorf("%d queued, %d scheduled", q, n)
	}
	d.connect()
	d.want("its body is being read", 0, 0, 0)
	if _, found := d.Queues.Remove(d.now, s, arrived(1)); !found {
		t.Error("a message whose body is being read is not found")
	}
	d.want("the one behind it", 1, 0, 0)
	if _, found := d.Queues.Remove(d.now, s, arrived(3)); found {
		t.Error("a message is found that is under way")
	}
	d.read(1)
	link, id := d.under[0].Link, d.under[0].Message.ID
	d.answer(sms.Timeout)
	d.AnsweredLate(link, Unanswered{ID: id}, sms.Answer{Code: sms.OK})
	if _, found := d.Queues.Remove(d.now, s, arrived(3)); found {
		t.Error("a message is found whose outcome is known")
	}
	d.readAll()
	if k.reads != 1 {
		t.Errorf("%d bodies were read", k.reads)
	}
	d.wantEmpty()
}

// A message that is to be sent alone waits as well.
func TestRemoveSuspect(t *testing.T) {
	t.Parallel()
	d, _ := suspected(t, "instances: 1, window: 10, static: true")
	for _, waiting := range slices.Clone(d.Queues.suspects) {
		m, found := d.Queues.Remove(d.now, waiting.share, waitingOf(waiting.message))
		if !found || m != waiting.message {
			t.Errorf("suspect %d: found %t", waiting.message.ID, found)
		}
	}
	if n := len(d.Queues.suspects); n > 0 {
		t.Errorf("%d suspects are left", n)
	}
}

// A lane that is down moves what is on disk as fast as it is read, and not a part in each second.
func TestMoveGoesOn(t *testing.T) {
	t.Parallel()
	d, to := twoDesks(t, "instances: 1, window: 10, failover_after: 30s")
	to.disk = d.addDisk(1)
	const many = 5 * moveAtATime
	d.restore("a", many, nil)
	d.wait(40)
	moved := 0
	for rounds := 0; rounds == 0 || d.MovesOn(); rounds++ {
		for d.Move(d.now, func(s *Share, m *sms.Message) { moved++; to.Queues.Push(to.now, s, m) }) {
		}
		for d.read(1000) != 0 {
		}
	}
	if moved != many {
		t.Errorf("%d of %d messages have moved without a pause", moved, many)
	}
}
