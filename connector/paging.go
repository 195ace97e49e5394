package connector

import (
	"slices"

	"pmg/connector/queue"
	"pmg/sms"
)

// paging is what a lane knows of bodies that are on disk.
type paging struct {
	limits  pagingLimits
	reads   map[uint64]read // bodies that are being read, by id
	wanted  []uint64        // those of them that the policy was not asked for yet
	body    int64           // octets of a body that was read, on average; 0: none was
	tried   []tried         // messages that came back, in the order of their batches
	starved bool            // more are needed than may be read at the same time
	ending  int             // expired messages whose bodies are on disk
	overdue []overdue       // those of them whose bodies are not being read yet
}

// overdue is an expired message whose body must be read.
type overdue struct {
	share     *Share
	id        uint64
	scheduled bool
}

// A read is what a body is read for.
type read struct {
	share   *Share // nil: the message was taken out meanwhile
	entry   queue.Entry
	overdue bool // it has expired, and was taken out of the queue to end
}

// pagingLimits bound what is kept in memory of messages that are on disk.
type pagingLimits struct {
	behind int   // how many messages of its priority are before one that is paged out
	octets int64 // or the octets for bodies of waiting messages, which the shares with due messages divide among themselves
	after  int64 // or how long it waits for its time
	ahead  int   // how many entries of a ring bodies are read ahead for
	least  int   // and where many shares have messages that are due, or memory is full
	all    int   // what these divide among themselves
	reads  int   // how many bodies are read at the same time
}

// defaultPaging returns the limits of every lane. A few hundred bodies are read in about
// a millisecond, and are sent in several.
func defaultPaging() pagingLimits {
	return pagingLimits{behind: 4096, octets: 1 << 20, after: 10e9, ahead: 512, least: 16, all: 16 * 1024, reads: 4096}
}

// Restore takes in a message whose body is on disk. It comes to its place even if newer
// messages were pushed before it, and need not find room. Many are best restored in the
// order of their ids.
func (l *Lane) Restore(now int64, s *Share, w queue.Waiting) {
	s.enter(w.DeliverAt > now, queue.EntrySize)
	s.queue.Restore(w, now)
	l.waits(s, now)
}

// pageOut queues only the entry of a message if its body can be released, and reports whether it did.
// It does so where messages take so much memory that the body of one that will not leave soon is
// better read again. A message that was already tried differs from its stored record, so it is not
// paged out here (see pageTried).
func (l *Lane) pageOut(now int64, s *Share, m *sms.Message) bool {
	if m.Attempts|m.Losses|m.Throttles != 0 || m.NotBefore != 0 || m.Tried != 0 || l.unknown.has(m) ||
		!l.policy.Bodies.Durable() {
		return false
	}
	q, e, limits := &s.queue, queue.EntryOf(m), &l.paging.limits
	if q.InFront(e.Priority) < limits.behind && e.Wakes-now < limits.after && !l.isLarge(s, m) {
		return false
	}
	q.PushOnDisk(m, now)
	s.Use(queue.EntrySize - m.Size())
	m.Release()
	l.waits(s, now)
	return true
}

// isLarge reports whether the bodies of a share that are in memory would take more octets than
// they may if all were like m. So they take a few times as many, whichever m are among them.
func (l *Lane) isLarge(s *Share, m *sms.Message) bool {
	limits, inMemory := &l.paging.limits, s.queue.Len()-s.queue.Absent()
	return inMemory >= limits.least && int64(inMemory)*m.Size() > limits.octets/int64(max(len(l.rotation), 1))
}

// unload takes the body of a message out of memory that was read from disk.
func (l *Lane) unload(s *Share, e *queue.Entry) {
	m := e.Unload()
	s.Use(queue.EntrySize - m.Size())
	m.Release()
}

// ask begins to read the body of a message. It reports false if too many are being read.
func (l *Lane) ask(s *Share, e *queue.Entry) bool {
	return l.read(read{share: s, entry: *e})
}

func (l *Lane) read(r read) bool {
	p := &l.paging
	_, isRead := p.reads[r.entry.ID]
	switch {
	case isRead: // for an entry that was taken out, and is here again
	case len(p.reads) >= p.mayRead():
		p.starved = true
		return false
	default:
		p.wanted = append(p.wanted, r.entry.ID)
	}
	if p.reads == nil {
		p.reads = map[uint64]read{}
	}
	p.reads[r.entry.ID] = r
	return true
}

// mayRead returns how many bodies may be read at the same time.
func (p *paging) mayRead() int {
	return min(p.limits.reads, max(p.limits.least, p.fit(readOctets)))
}

// fit returns how many bodies are about so many octets.
func (p *paging) fit(octets int64) int {
	if p.body == 0 {
		return int(octets / usualBody)
	}
	return int(octets / p.body)
}

// The octets of bodies that are read at the same time, and those that are read ahead for a share,
// estimated from those that were read before.
const (
	readOctets  = int64(4 << 20)
	aheadOctets = int64(1 << 20)
	usualBody   = int64(1024)
)

// load passes the bodies that are needed to the policy.
func (l *Lane) load() {
	if p := &l.paging; len(p.wanted) > 0 {
		l.policy.Bodies.Load(l, p.wanted)
		p.wanted = p.wanted[:0]
	}
}

// readAhead asks for the bodies of the messages of a share that leave next.
func (l *Lane) readAhead(s *Share) {
	limits := &l.paging.limits
	window := max(limits.least, min(limits.ahead, limits.all/max(len(l.rotation), 1), l.paging.fit(aheadOctets)))
	if l.memory.Full() {
		window = limits.least
	}
	s.queue.ReadAhead(window, func(e *queue.Entry) bool { return l.ask(s, e) })
	l.load()
}

// Loaded takes the messages that Load was called for: those that were read, and the
// ids of those that are not on disk any more or cannot be read. Each id comes back once,
// in parts and in any order. Move may have something to do afterwards.
func (l *Lane) Loaded(now int64, messages []*sms.Message, missing []uint64) {
	for _, m := range messages {
		r, ok := l.paging.reads[m.ID]
		delete(l.paging.reads, m.ID)
		if !ok || r.share == nil {
			m.Release() // it was taken out of the queue meanwhile
			continue
		}
		l.loaded(now, r, m)
	}
	for _, id := range missing {
		r, ok := l.paging.reads[id]
		delete(l.paging.reads, id)
		if ok && r.share != nil {
			l.missing(now, r)
		}
	}
	if l.moving.reads {
		l.moving.reads, l.moving.goesOn = false, true
	}
	starved := l.paging.starved
	l.paging.starved = false
	l.endOverdue()
	if starved {
		l.Shares(func(s *Share) {
			if !s.active && s.queue.Absent() > 0 {
				l.readAhead(s)
			}
		})
	}
}

func (l *Lane) loaded(now int64, r read, m *sms.Message) {
	s, size := r.share, m.Size()
	s.Use(size - queue.EntrySize)
	if l.paging.body == 0 {
		l.paging.body = size
	}
	l.paging.body += (size - l.paging.body) / 8
	m.Flags &^= sms.Scheduled
	if r.entry.Scheduled {
		m.Flags |= sms.Scheduled
	}
	if r.overdue {
		l.paging.ending--
		s.isDue(m)
		l.expired(now, s, m)
		return
	}
	s.queue.Load(&r.entry, m)
	l.takeTurn(s, now)
}

// missing drops a message that cannot be read.
func (l *Lane) missing(now int64, r read) {
	s := r.share
	if r.overdue {
		l.paging.ending--
	} else {
		s.queue.Remove(&r.entry, func(*queue.Entry) bool { return false })
		l.waiting--
		l.rest(s, now)
		l.takeTurn(s, now)
	}
	s.leave(r.entry.Scheduled, queue.EntrySize)
	l.stats().Failed.Add(1)
	s.Origin.Tally.Failed.Add(1)
	l.policy.Settler.Unreadable(l, s, r.entry.ID)
}

// expiresOnDisk records that a message has expired whose body is on disk. It is read, so
// that the message can end as others do.
func (l *Lane) expiresOnDisk(s *Share, e *queue.Entry) {
	p := &l.paging
	p.ending++
	if e.IsBeingRead() {
		r := p.reads[e.ID]
		r.overdue = true
		p.reads[e.ID] = r
		return
	}
	p.overdue = append(p.overdue, overdue{s, e.ID, e.Scheduled})
}

// endOverdue begins to read the bodies of expired messages. Half of the reads that may run at the
// same time stay free for messages that are to be sent.
func (l *Lane) endOverdue() {
	p := &l.paging
	for len(p.overdue) > 0 && p.ending-len(p.overdue) < max(p.mayRead()/2, 1) {
		next := p.overdue[0]
		if !l.read(read{next.share, queue.Entry{ID: next.id, Scheduled: next.scheduled}, true}) {
			break
		}
		if p.overdue = p.overdue[1:]; len(p.overdue) == 0 {
			p.overdue = nil
		}
	}
	l.load()
}

// Remove takes out a message that waits, as if it had left: m is nil where its body is on disk, and
// otherwise the caller's. It is not found if it is under way, has expired, or is not here. w is
// what the lane knows of it.
func (l *Lane) Remove(now int64, s *Share, w queue.Waiting) (m *sms.Message, found bool) {
	key := queue.Key(w)
	e, found := s.queue.Remove(&key, func(e *queue.Entry) bool {
		return e.Message != nil && e.Message.Flags&sms.Settled != 0 // it has ended already
	})
	if !found {
		return l.removeSuspect(s, w.ID)
	}
	l.waiting--
	l.rest(s, now)
	l.takeTurn(s, now)
	if e.Message != nil {
		l.removed(s, e.Message)
		return e.Message, true
	}
	if e.IsBeingRead() {
		l.paging.reads[e.ID] = read{}
	}
	s.leave(e.Scheduled, queue.EntrySize)
	return nil, true
}

// removeSuspect removes a suspect, a message that waits to be sent alone.
func (l *Lane) removeSuspect(s *Share, id uint64) (m *sms.Message, found bool) {
	waiting := &l.suspects.waiting
	i := slices.IndexFunc(*waiting, func(other suspect) bool {
		return other.share == s && other.message.ID == id && other.message.Flags&sms.Settled == 0
	})
	if i < 0 {
		return nil, false
	}
	m = (*waiting)[i].message
	*waiting = slices.Delete(*waiting, i, i+1)
	l.removed(s, m)
	return m, true
}

// removed counts a message that was taken out.
func (l *Lane) removed(s *Share, m *sms.Message) {
	l.unknown.forget(m)
	s.Leave(m)
}

// A tried is a message that came back to its share. When its present state is stored, it will be on
// disk alone.
type tried struct {
	share                       *Share
	key                         queue.Entry // without the message, which may be gone
	batch                       uint64
	attempts, losses, throttles uint8
}

func triedOf(s *Share, m *sms.Message, batch uint64) tried {
	t := tried{share: s, key: queue.EntryOf(m), batch: batch, attempts: m.Attempts, losses: m.Losses, throttles: m.Throttles}
	t.key.Message = nil
	return t
}

// pageTried takes the bodies of messages that were tried, and will not leave soon, out of memory.
// Otherwise an SMSC that is bound and refuses all messages would keep all of them in memory.
func (l *Lane) pageTried(now int64) {
	waiting, n := l.paging.tried, 0
	for ; n < len(waiting) && l.policy.Intents.IsStored(waiting[n].batch); n++ {
		l.pageOutTried(now, &waiting[n])
	}
	l.paging.tried = waiting[n:]
	if len(l.paging.tried) == 0 {
		l.paging.tried = nil
	}
}

// pageOutTried takes the body of one message out of memory, unless the message has left or was tried
// again meanwhile.
func (l *Lane) pageOutTried(now int64, t *tried) {
	t.share.queue.Change(&t.key, func(e *queue.Entry) bool {
		m := e.Message
		switch {
		case m == nil, m.Flags&sms.Settled != 0, l.unknown.has(m):
			return false
		case m.Attempts != t.attempts || m.Losses != t.losses || m.Throttles != t.throttles:
			return false
		case e.Wakes-now < l.paging.limits.after && !l.isLarge(t.share, m):
			return false
		}
		e.Scheduled = m.Flags&sms.Scheduled != 0
		l.unload(t.share, e)
		return true
	})
}
