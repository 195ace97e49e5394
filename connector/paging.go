package connector

import (
	"slices"

	"pmg/connector/queue"
	"pmg/sms"
)

// paging is the lane's state of bodies that are on disk.
type paging struct {
	limits  pagingLimits
	reads   map[uint64]read // bodies that are being read, by id
	wanted  []uint64        // ids in reads that were not passed to the policy yet
	body    int64           // average size of a body read from disk, in octets; 0: no body was read yet
	tried   []tried         // messages that came back, in the order of their store batches
	starved bool            // more bodies are needed than may be read at the same time
	ending  int             // number of expired messages whose bodies are on disk
	overdue []overdue       // expired messages whose bodies are not being read yet
}

// overdue is an expired message whose body must be read.
type overdue struct {
	share     *Share
	id        uint64
	scheduled bool
}

// A read is the purpose for which a body is read.
type read struct {
	share   *Share // nil: the message was taken out of the queue meanwhile
	entry   queue.Entry
	overdue bool // the message has expired and was taken out of the queue; it ends when its body is read
}

// pagingLimits limit which messages that are on disk also stay in memory.
type pagingLimits struct {
	behind int   // a message is paged out if more than this number of its priority are ahead
	octets int64 // octets for bodies of waiting messages; the shares with due messages divide them
	after  int64 // a message that is due later than this is paged out
	ahead  int   // for how many entries of a ring bodies are read ahead
	least  int   // the minimum of ahead, if many shares have due messages or memory is full
	all    int   // the total number of entries that the shares divide
	reads  int   // how many bodies may be read at the same time
}

// defaultPaging returns the limits of every lane. A few hundred bodies are read in about
// a millisecond, and are sent in several.
func defaultPaging() pagingLimits {
	return pagingLimits{behind: 4096, octets: 1 << 20, after: 10e9, ahead: 512, least: 16, all: 16 * 1024, reads: 4096}
}

// Restore adds a message whose body is on disk. The message takes its place even if newer messages
// were pushed before, and needs no free room. Many messages are best restored in the order of their
// ids.
func (q *Queues) Restore(now int64, s *Share, w queue.Waiting) {
	s.enter(w.DeliverAt > now, queue.EntrySize)
	s.queue.Restore(w, now)
	q.waits(s, now)
}

// pageOut queues only the entry of a message and releases its body, if messages take much memory
// and this message will not leave soon. It reports whether it released the body. A message that was
// already tried differs from its stored record, so it is not paged out here (see pageTried).
func (q *Queues) pageOut(now int64, s *Share, m *sms.Message) bool {
	if m.Attempts|m.Losses|m.Throttles != 0 || m.NotBefore != 0 || m.Tried != 0 || q.unknown.has(m) ||
		!q.lane.policy.Bodies.Durable() {
		return false
	}
	waits, e, limits := &s.queue, queue.EntryOf(m), &q.paging.limits
	if waits.InFront(e.Priority) < limits.behind && e.Wakes-now < limits.after && !q.isLarge(s, m) {
		return false
	}
	waits.PushOnDisk(m, now)
	s.Use(queue.EntrySize - m.Size())
	m.Release()
	q.waits(s, now)
	return true
}

// isLarge reports whether a share's bodies in memory would exceed the allowed octets if all of them
// were as large as m. So the real total is at most a few times the allowed octets.
func (q *Queues) isLarge(s *Share, m *sms.Message) bool {
	limits, inMemory := &q.paging.limits, s.queue.Len()-s.queue.Absent()
	return inMemory >= limits.least && int64(inMemory)*m.Size() > limits.octets/int64(max(len(q.rotation), 1))
}

// unload releases the body of a message that was read from disk.
func (q *Queues) unload(s *Share, e *queue.Entry) {
	m := e.Unload()
	s.Use(queue.EntrySize - m.Size())
	m.Release()
}

// ask begins to read the body of a message. It returns false if too many bodies are being read.
func (q *Queues) ask(s *Share, e *queue.Entry) bool {
	return q.read(read{share: s, entry: *e})
}

func (q *Queues) read(r read) bool {
	p := &q.paging
	_, isRead := p.reads[r.entry.ID]
	switch {
	case isRead: // the read was for an entry that was taken out, and the message is in the queue again
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

// fit returns how many bodies fit in this number of octets, by their average size.
func (p *paging) fit(octets int64) int {
	if p.body == 0 {
		return int(octets / usualBody)
	}
	return int(octets / p.body)
}

// The total octets of bodies that are read at the same time, and of bodies that are read ahead for
// a share. Sizes are estimated from the bodies that were read before.
const (
	readOctets  = int64(4 << 20)
	aheadOctets = int64(1 << 20)
	usualBody   = int64(1024)
)

// load requests the wanted bodies from the policy.
func (q *Queues) load() {
	if p := &q.paging; len(p.wanted) > 0 {
		q.lane.policy.Bodies.Load(q.lane, p.wanted)
		p.wanted = p.wanted[:0]
	}
}

// readAhead requests the bodies of the messages of a share that leave next.
func (q *Queues) readAhead(s *Share) {
	limits := &q.paging.limits
	window := max(limits.least, min(limits.ahead, limits.all/max(len(q.rotation), 1), q.paging.fit(aheadOctets)))
	if q.lane.memory.Full() {
		window = limits.least
	}
	s.queue.ReadAhead(window, func(e *queue.Entry) bool { return q.ask(s, e) })
	q.load()
}

// Loaded receives the result of Load: the messages that were read, and the ids of messages that are
// not on disk any more or cannot be read. Results may come in parts and in any order; each id comes
// once. Move may have something to do afterwards.
func (q *Queues) Loaded(now int64, messages []*sms.Message, missing []uint64) {
	for _, m := range messages {
		r, ok := q.paging.reads[m.ID]
		delete(q.paging.reads, m.ID)
		if !ok || r.share == nil {
			m.Release() // the message was taken out of the queue meanwhile
			continue
		}
		q.loaded(now, r, m)
	}
	for _, id := range missing {
		r, ok := q.paging.reads[id]
		delete(q.paging.reads, id)
		if ok && r.share != nil {
			q.missing(now, r)
		}
	}
	if q.lane.moving.reads {
		q.lane.moving.reads, q.lane.moving.goesOn = false, true
	}
	starved := q.paging.starved
	q.paging.starved = false
	q.endOverdue()
	if starved {
		q.Shares(func(s *Share) {
			if !s.active && s.queue.Absent() > 0 {
				q.readAhead(s)
			}
		})
	}
}

func (q *Queues) loaded(now int64, r read, m *sms.Message) {
	s, size := r.share, m.Size()
	s.Use(size - queue.EntrySize)
	if q.paging.body == 0 {
		q.paging.body = size
	}
	q.paging.body += (size - q.paging.body) / 8
	m.Flags &^= sms.Scheduled
	if r.entry.Scheduled {
		m.Flags |= sms.Scheduled
	}
	if r.overdue {
		q.paging.ending--
		s.isDue(m)
		q.lane.expired(now, s, m)
		return
	}
	s.queue.Load(&r.entry, m)
	q.takeTurn(s, now)
}

// missing drops a message whose body cannot be read.
func (q *Queues) missing(now int64, r read) {
	s := r.share
	if r.overdue {
		q.paging.ending--
	} else {
		s.queue.Remove(&r.entry, func(*queue.Entry) bool { return false })
		q.waiting--
		q.rest(s, now)
		q.takeTurn(s, now)
	}
	s.leave(r.entry.Scheduled, queue.EntrySize)
	q.lane.stats().Failed.Add(1)
	s.Origin.Tally.Failed.Add(1)
	q.lane.policy.Settler.Unreadable(q.lane, s, r.entry.ID)
}

// expiresOnDisk records that a message has expired whose body is on disk. The body is read, so that
// the message can end like other messages.
func (q *Queues) expiresOnDisk(s *Share, e *queue.Entry) {
	p := &q.paging
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
func (q *Queues) endOverdue() {
	p := &q.paging
	for len(p.overdue) > 0 && p.ending-len(p.overdue) < max(p.mayRead()/2, 1) {
		next := p.overdue[0]
		if !q.read(read{next.share, queue.Entry{ID: next.id, Scheduled: next.scheduled}, true}) {
			break
		}
		if p.overdue = p.overdue[1:]; len(p.overdue) == 0 {
			p.overdue = nil
		}
	}
	q.load()
}

// Remove takes a waiting message out of the queue, as if it had left. w identifies the message. m
// is nil if the body is only on disk; otherwise the caller owns m. found is false if the message is
// under way, has expired, or is not in the share.
func (q *Queues) Remove(now int64, s *Share, w queue.Waiting) (m *sms.Message, found bool) {
	key := queue.Key(w)
	e, found := s.queue.Remove(&key, func(e *queue.Entry) bool {
		return e.Message != nil && e.Message.Flags&sms.Settled != 0 // the message has already ended
	})
	if !found {
		return q.removeSuspect(s, w.ID)
	}
	q.waiting--
	q.rest(s, now)
	q.takeTurn(s, now)
	if e.Message != nil {
		q.removed(s, e.Message)
		return e.Message, true
	}
	if e.IsBeingRead() {
		q.paging.reads[e.ID] = read{}
	}
	s.leave(e.Scheduled, queue.EntrySize)
	return nil, true
}

// removeSuspect removes a suspect: a message that waits to be sent alone.
func (q *Queues) removeSuspect(s *Share, id uint64) (m *sms.Message, found bool) {
	waiting := &q.suspects
	i := slices.IndexFunc(*waiting, func(other suspect) bool {
		return other.share == s && other.message.ID == id && other.message.Flags&sms.Settled == 0
	})
	if i < 0 {
		return nil, false
	}
	m = (*waiting)[i].message
	*waiting = slices.Delete(*waiting, i, i+1)
	q.removed(s, m)
	return m, true
}

// removed updates the counts for a message that was taken out.
func (q *Queues) removed(s *Share, m *sms.Message) {
	q.unknown.forget(m)
	s.Leave(m)
}

// A tried is a message that came back to its share after an attempt. When its present state is
// stored, the message is kept only on disk.
type tried struct {
	share                       *Share
	key                         queue.Entry // entry without the message, because the message may be gone
	batch                       uint64
	attempts, losses, throttles uint8
}

func triedOf(s *Share, m *sms.Message, batch uint64) tried {
	t := tried{share: s, key: queue.EntryOf(m), batch: batch, attempts: m.Attempts, losses: m.Losses, throttles: m.Throttles}
	t.key.Message = nil
	return t
}

// pageTried releases the bodies of messages that were tried and will not leave soon. Otherwise an
// SMSC that is bound and refuses all messages would keep all of them in memory.
func (q *Queues) pageTried(now int64) {
	waiting, n := q.paging.tried, 0
	for ; n < len(waiting) && q.lane.policy.Intents.IsStored(waiting[n].batch); n++ {
		q.pageOutTried(now, &waiting[n])
	}
	q.paging.tried = waiting[n:]
	if len(q.paging.tried) == 0 {
		q.paging.tried = nil
	}
}

// pageOutTried releases the body of one message, unless the message has left or was tried again.
func (q *Queues) pageOutTried(now int64, t *tried) {
	t.share.queue.Change(&t.key, func(e *queue.Entry) bool {
		m := e.Message
		switch {
		case m == nil, m.Flags&sms.Settled != 0, q.unknown.has(m):
			return false
		case m.Attempts != t.attempts || m.Losses != t.losses || m.Throttles != t.throttles:
			return false
		case e.Wakes-now < q.paging.limits.after && !q.isLarge(t.share, m):
			return false
		}
		e.Scheduled = m.Flags&sms.Scheduled != 0
		q.unload(t.share, e)
		return true
	})
}
