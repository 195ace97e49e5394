package connector

import (
	"fmt"
	"runtime"
	"slices"
	"testing"

	"pmg/connector/queue"
	"pmg/sms"
)

// restore puts messages on the disk and restores them.
func (d *desk) restore(account string, n int, fill func(*sms.Message)) {
	for range n {
		s := d.share(account)
		d.lastID++
		m := sms.Message{ID: d.lastID, Origin: s.Origin, Arrived: d.now}
		if fill != nil {
			fill(&m)
		}
		d.disk.write(&m)
		d.Queues.Restore(d.now, s, waitingOf(&m))
	}
}

// readAll reads whatever is asked for, and sends and answers what may leave, until
// nothing does. It returns the ids in their order.
func (d *desk) readAll() (ids []uint64) {
	for {
		n, _, _ := d.send()
		for len(d.under) > 0 {
			ids = append(ids, d.under[0].Message.ID)
			d.answer(sms.OK)
		}
		if n+d.read(100) == 0 {
			return ids
		}
	}
}

// rising returns the ids from first to last.
func rising(first, last uint64) (ids []uint64) {
	for id := first; id <= last; id++ {
		ids = append(ids, id)
	}
	return ids
}

// Messages restored in the order of their ids leave before newer ones which were pushed
// meanwhile, in their order, and none of them waits in a tree.
func TestRestore(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "instances: 1, window: 10, static: true, max_queue: 100")
	d.addDisk(0)
	const old = 5000
	d.lastID = old
	d.now += old
	var restored uint64
	for range old / 10 {
		d.submit("a", 1, nil)
		for range 10 { // the desk's lastID is that of the newest
			restored++
			m := sms.Message{ID: restored, Origin: d.share("a").Origin, Arrived: start + int64(restored)}
			d.disk.write(&m)
			d.Queues.Restore(d.now, d.share("a"), waitingOf(&m))
		}
	}
	if q := d.Queued.Load(); q != old+old/10 {
		t.Errorf("%d queued", q)
	}
	d.connect()
	if ids := d.readAll(); !slices.Equal(ids, rising(1, d.lastID)) {
		t.Errorf("%d messages leave, not in their order", len(ids))
	}
	d.wantEmpty()
}

// A share waits for the body of its first message; others do not, and Next does not
// spin. Bodies are asked for ahead, once each, and when half of them have left.
func TestReadAhead(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "instances: 1, window: 10, static: true")
	k := d.addDisk(0)
	d.restore("a", 2000, nil)
	d.submit("a", 1, nil)
	d.submit("b", 3, nil)
	d.connect()
	d.want("others go on", 3, 0, 0)
	ahead := d.Queues.paging.limits.ahead
	if k.reads != ahead {
		t.Errorf("%d bodies are asked for, want %d", k.reads, ahead)
	}
	d.want("nothing was read", 0, 0, 0)
	d.submit("a", 1, func(m *sms.Message) { m.Priority = 1 })
	d.want("a higher priority does not wait", 1, 0, 0)
	for len(d.under) > 0 {
		d.answer(sms.OK)
	}
	d.read(1)
	d.want("one was read", 1, 0, 0)
	d.answer(sms.OK)
	for n := range ahead/2 - 2 {
		d.read(1)
		d.want("the next", 1, 0, 0)
		d.answer(sms.OK)
		if k.reads > ahead {
			t.Fatalf("asked again after %d", n)
		}
	}
	d.read(4)
	d.want("half of them have left", 4, 0, 0)
	if k.reads < ahead+ahead/2 || k.reads > ahead+ahead/2+10 {
		t.Errorf("%d bodies were asked for when half of the first have left", k.reads)
	}
	for len(d.under) > 0 {
		d.answer(sms.OK)
	}
	if n := len(d.readAll()); n != 2001-ahead/2-3 {
		t.Errorf("%d leave", n)
	}
	d.wantEmpty()
}

// A message which comes when memory is short is released where it stands behind many,
// or waits for long. Others are not, nor is any without a disk.
func TestPageOut(t *testing.T) {
	t.Parallel()
	behind := defaultPaging().behind
	for _, durable := range []bool{true, false} {
		d := newDesk(t, "instances: 1, window: 10, static: true")
		k := d.addDisk(1)
		if !durable {
			d.disk = nil
		}
		write := func(m *sms.Message) { k.write(m) }
		later := func(m *sms.Message) { m.DeliverAt = d.now + 3600*second; k.write(m) }
		d.submit("a", behind, write)
		d.submit("a", 100, write)
		d.submit("b", 10, write)
		d.submit("c", 10, later)
		d.submit("d", 10, func(m *sms.Message) { m.DeliverAt = d.now + second; k.write(m) })
		absent := map[string]int{}
		d.Queues.Shares(func(s *Share) { absent[s.Origin.Account] = s.queue.Absent() })
		want := map[string]int{"a": 100, "b": 0, "c": 10, "d": 0}
		if !durable {
			want["a"], want["c"] = 0, 0
		}
		if fmt.Sprint(absent) != fmt.Sprint(want) {
			t.Errorf("durable %t: on disk %v, want %v", durable, absent, want)
		}
		size := (&sms.Message{}).Size()
		if used := d.used.Used(); durable && used != int64(behind+20)*size+110*queue.EntrySize {
			t.Errorf("%d octets are counted", used)
		}
		if !durable {
			continue
		}
		d.connect()
		if ids := d.readAll(); len(ids) != behind+110 {
			t.Errorf("%d leave", len(ids))
		}
		d.now += 3600 * second
		if ids := d.readAll(); len(ids) != 20 {
			t.Errorf("%d leave later", len(ids))
		}
		d.wantEmpty()
	}
}

// What was tried may not be as it is on disk, and its answer may come late: it stays in
// memory.
func TestPageOutNot(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "instances: 1, window: 10, static: true")
	k := d.addDisk(0)
	d.connect()
	d.submit("a", 1, nil)
	d.send()
	behind := d.Queues.paging.limits.behind
	d.submit("a", behind, func(m *sms.Message) { k.write(m) })
	d.used.SetKeep(1)
	d.answer(sms.Timeout)
	s, m := d.accept("a", nil)
	m.Attempts = 1
	d.Queues.Push(d.now, s, m)
	if n := s.queue.Absent(); n != 0 {
		t.Errorf("%d messages are on disk alone", n)
	}
	if n := len(d.readAll()); n != behind+2 {
		t.Errorf("%d leave", n)
	}
}

// A message that cannot be read is dropped and counted, wherever it waits.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "instances: 1, window: 10, static: true")
	k := d.addDisk(0)
	d.restore("a", 10, nil)
	d.restore("a", 1, func(m *sms.Message) { m.DeliverAt = d.now + second })
	delete(k.bodies, 1)
	delete(k.bodies, 5)
	delete(k.bodies, 11)
	d.connect()
	if ids := d.readAll(); !slices.Equal(ids, []uint64{2, 3, 4, 6, 7, 8, 9, 10}) {
		t.Errorf("%d leave", ids)
	}
	d.now += second
	if ids := d.readAll(); len(ids) > 0 {
		t.Errorf("%d leave", ids)
	}
	if !slices.Equal(k.unreadable, []uint64{1, 5, 11}) || d.Stats.Failed.Load() != 3 {
		t.Errorf("unreadable: %d, %d failed", k.unreadable, d.Stats.Failed.Load())
	}
	d.wantEmpty()
}

// H11: expired messages free their places although their bodies are on disk and nobody
// can send them. They end as others do, and not all are read at the same time.
func TestExpireOnDisk(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "instances: 1, window: 10, static: true")
	k := d.addDisk(0)
	most := d.Queues.paging.limits.reads / 2
	many := 6*most + 100
	d.restore("a", many, func(m *sms.Message) {
		if m.ID > 5 {
			m.Expires = d.now + second
		}
	})
	d.restore("b", 10, func(m *sms.Message) { m.DeliverAt, m.Expires = d.now+9*second, d.now+second })
	delete(k.bodies, 77)
	d.now += 2 * second
	for d.Tick(d.now) { // D16: not all end together
	}
	d.Tick(d.now)
	if n := len(k.wanted[d.Lane]); n != most {
		t.Errorf("%d bodies are being read", n)
	}
	for d.read(1000) > 0 {
	}
	d.Publish()
	if n, q := d.Stats.Expired.Load(), d.Queued.Load(); n != int64(many-5-1+10) || q != 5 || d.Queues.Len() != 5 {
		t.Errorf("%d expired, %d queued, %d wait", n, q, d.Queues.Len())
	}
	if len(d.ended) != many-5-1+10 || len(k.unreadable) != 1 {
		t.Errorf("%d ended, %d unreadable", len(d.ended), len(k.unreadable))
	}
	d.connect()
	if ids := d.readAll(); !slices.Equal(ids, rising(1, 5)) {
		t.Errorf("%d leave", ids)
	}
	d.wantEmpty()
}

// A share does not wait for the body of a message that has expired meanwhile.
func TestExpireWhileRead(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "instances: 1, window: 10, static: true")
	d.addDisk(0)
	d.restore("a", 1, func(m *sms.Message) { m.Expires = d.now + second })
	d.submit("a", 1, nil)
	d.connect()
	d.want("the first is being read", 0, 0, 0)
	d.now += 2 * second
	d.Tick(d.now)
	d.want("the first has expired", 1, 0, 0)
	d.readAll()
	d.wantEmpty()
}

// Expired messages leave others room to be read.
func TestExpireOnDiskLeavesRoom(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "instances: 1, window: 10, static: true")
	k := d.addDisk(0)
	d.restore("a", 2*d.Queues.paging.limits.reads, func(m *sms.Message) { m.Expires = d.now + second })
	d.restore("b", 1, nil)
	d.now += 2 * second
	d.Tick(d.now)
	d.connect()
	d.send()
	if !slices.Contains(k.wanted[d.Lane], d.lastID) {
		t.Error("the message that is to leave is not read")
	}
}

// A million messages which were restored take at most 150 octets each, due or not.
func TestEntrySize(t *testing.T) { // alone: it looks at the whole heap
	const messages = 200_000
	for name, w := range map[string]queue.Waiting{
		"due": {}, "scheduled": {DeliverAt: start + 3600*second},
		"due by schedule": {DeliverAt: start - second},
	} {
		d := newDesk(t, "instances: 1, window: 10, static: true")
		d.addDisk(0)
		s := d.share("a")
		before := heap()
		for id := range uint64(messages) {
			w.ID, w.Arrived = id, start-3600*second+int64(id)
			d.Queues.Restore(d.now, s, w)
		}
		each := (heap() - before) / messages
		t.Logf("%s: %d octets", name, each)
		if each > queue.EntrySize+queue.EntrySize/10 {
			t.Errorf("%s: %d octets each", name, each)
		}
		runtime.KeepAlive(d)
	}
}

// BenchmarkRestore is one of many messages that are restored while new ones come.
func BenchmarkRestore(b *testing.B) {
	d := newDesk(b, "instances: 1, window: 10, static: true")
	d.addDisk(0)
	s := d.share("a")
	id := uint64(0)
	b.ReportAllocs()
	for b.Loop() {
		id++
		d.Queues.Restore(d.now, s, queue.Waiting{ID: id, Arrived: start - 3600*second + int64(id)})
	}
}
