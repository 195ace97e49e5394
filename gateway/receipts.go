package gateway

import (
	"encoding/binary"
	"fmt"
	"sync"
	"sync/atomic"

	"pmg/config"
	"pmg/connector"
	"pmg/protocols"
	"pmg/sms"
	"pmg/sms/peerid"
	"pmg/store"
)

// receipts finds the messages that receipts belong to. A message that an SMSC has accepted
// is noted by the SMSC's id of it, in the store and, of the latest messages, in memory:
//
//	answer of an SMSC ──► forget ──► note ──► store, recent
//	receipt ──► recent ──► store ──► wait a moment ──► kept as an orphan
//	               └─────────┴─────────────┴──► the account that submitted the message
//
// It is safe for concurrent use.
type receipts struct {
	asked atomic.Bool // an SMSC has been asked for receipts since the start, so that one may overtake its answer

	mu        sync.Mutex
	operators map[string]*operator
	joints    joints
	waits     waits
	orphans   orphans
	outgoing  outgoing

	noting      sync.Mutex // guards the rest, which is for note
	record, key []byte

	tidied atomic.Int64 // when old entries are forgotten next
	counts ReceiptCounts
}

// ReceiptCounts counts receipts since the start.
type ReceiptCounts struct {
	Matched   atomic.Int64 // their messages were found
	Unmatched atomic.Int64 // they were not, and the receipts were kept as orphans
	Adopted   atomic.Int64 // orphans whose messages were found later
	Relayed   atomic.Int64 // they went on by a route, as they came
	Unwanted  atomic.Int64 // their clients have not asked for them
	Homeless  atomic.Int64 // their accounts are gone, or may not receive
	Own       atomic.Int64 // made by the gateway
}

// Receipts returns the counts of receipts.
func (g *Gateway) Receipts() *ReceiptCounts { return &g.receipts.counts }

// An operator is an SMSC, whatever connectors lead to it.
type operator struct {
	name string

	mu      sync.Mutex
	ids     string // option
	learner peerid.Learner
	recent  *recent
	key     []byte
}

// of returns the operator of a connector.
func (r *receipts) of(cfg *config.Config, c *config.Connector) *operator {
	r.mu.Lock()
	defer r.mu.Unlock()
	name := c.OperatorName()
	o := r.operators[name]
	if o == nil {
		if r.operators == nil {
			r.operators = map[string]*operator{}
		}
		o = &operator{name: name, recent: newRecent(recentSize(cfg))}
		r.operators[name] = o
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ids != c.ReceiptIDs {
		o.ids, o.learner = c.ReceiptIDs, peerid.Learner{}
		if relation, ok := peerid.ParseRelation(c.ReceiptIDs); ok {
			o.learner = peerid.Fixed(relation)
		}
	}
	return o
}

// recentSize returns how many octets an operator's latest messages may take: its part of what
// those of all operators may.
func recentSize(cfg *config.Config) int64 {
	operators := map[string]bool{}
	for i := range cfg.Connectors {
		if c := &cfg.Connectors[i]; c.Role() == protocols.Client {
			operators[c.OperatorName()] = true
		}
	}
	return min(max(cfg.Limits.MemoryLimit()/64, 256<<10), 32<<20) / int64(max(len(operators), 1))
}

// asks returns of which outcomes a message asks for receipts when it leaves by a connector. A part
// of a long message asks for success and failure, whichever of them the client wants to hear of,
// because the client is told what became of all parts.
func asks(m *sms.Message, c *config.Connector) sms.Notify {
	const ends = sms.NotifySuccess | sms.NotifyFailure
	switch {
	case c.Receipts == config.NeverReceipts:
		return 0
	case c.Receipts == config.ForceReceipts:
		return m.Notify | ends
	case m.Parts > 1 && m.Notify&ends != 0:
		return m.Notify | ends
	}
	return m.Notify
}

// mapsFor returns the operator under whose name a message is noted that has been accepted by
// an SMSC, nil if no receipt is expected.
func (g *Gateway) mapsFor(l *connector.Lane, m *sms.Message, a *sms.Answer) *operator {
	if a.Code != sms.OK || m.Kind != sms.Submit || m.Flags&sms.Broadcast != 0 || l.Account != "" || len(a.PeerID) == 0 {
		return nil
	}
	c := l.Config()
	if asks(m, c) == 0 {
		return nil
	}
	return g.receipts.of(g.Config(), c)
}

// asksFor returns of which outcomes a message asks for receipts when it leaves by a session.
func (g *Gateway) asksFor(l *connector.Link, m *sms.Message) sms.Notify {
	c := l.Connector.Config()
	if c.Role() == protocols.Server {
		return m.Notify
	}
	n := asks(m, c)
	if n != 0 && !g.receipts.asked.Load() {
		g.receipts.asked.Store(true)
	}
	return n
}

// settleReceipts does what follows for receipts when a message has ended, in the open batch;
// b is nil if there is no store. own is the receipt that the gateway has made, if any.
func (g *Gateway) settleReceipts(b *store.Batch, m *sms.Message, e *ending, own *sms.Message, s *connector.Share, ahead int64) {
	if e.maps != nil {
		g.receipts.note(g, b, e.maps, m, &e.answer, ahead)
	}
	if b != nil && notesEnd(m, e) {
		g.noteEnd(b, m, e, ahead)
	}
	if own != nil {
		g.send(b, own, s)
		if s != nil {
			g.receipts.counts.Own.Add(1)
		}
	}
	for _, own := range e.more {
		g.send(b, own, s)
		g.receipts.counts.Own.Add(1)
	}
	if b != nil && e.unread != nil {
		g.receipts.outgoing.add(g, sending{batch: g.Committer.Number(), unread: e.unread})
	}
}

// isReport reports whether a message is a receipt that can be understood.
func isReport(m *sms.Message) bool { return m.Flags&sms.HasReport != 0 }

// logHomeless tells the operator of a receipt whose client is gone.
func (g *Gateway) logHomeless(account string) {
	if g.isNews("homeless " + account) {
		g.Log.Warn().Str("account", account).Msg("receipt dropped: the account that submitted the message is gone, or may not receive")
	}
}

// logLookup tells the operator that the messages of receipts cannot be looked up.
func (g *Gateway) logLookup(err error) {
	if g.isNews("lookup") {
		g.Log.Error().Err(err).Msg("cannot find out where a receipt belongs")
	}
}

// tidyReceipts forgets, about once an hour, what ids of old messages stand for, and receipts
// that belong to none.
func (g *Gateway) tidyReceipts(now int64) {
	r := &g.receipts
	if next := r.tidied.Load(); g.store == nil || now < next || !r.tidied.CompareAndSwap(next, now+tidyReceiptsEvery) {
		return
	}
	before := now + g.wall.ahead.Load() - int64(g.Config().Receipts.Keep)
	g.Committer.Begin().UnmapBefore(dayOf(before))
	g.Committer.End()
	r.orphans.dropBefore(g, before)
}

// tidyReceiptsEvery is how often that is done.
const tidyReceiptsEvery = int64(3600e9)

// dayLength is for the days by which the store keeps what ids stand for.
const dayLength = int64(24 * 3600e9)

// dayOf returns the day of a time by the wall clock.
func dayOf(wall int64) uint32 { return uint32(max(wall, 0) / dayLength) }

// note notes what a peer's id of a message stands for, in a batch and in memory. The
// committer's lock is held, unless there is no store.
func (r *receipts) note(g *Gateway, b *store.Batch, o *operator, m *sms.Message, a *sms.Answer, ahead int64) {
	v := store.MappingOf(m, ahead)
	r.noteMapping(g, b, o, &v, a.PeerID, a.At+ahead)
}

func (r *receipts) noteMapping(g *Gateway, b *store.Batch, o *operator, v *store.Mapping, peerID []byte, wall int64) {
	r.noting.Lock()
	defer r.noting.Unlock()
	r.record = v.Append(r.record[:0])
	r.key, _ = peerid.AppendKey(r.key[:0], peerID, peerid.Same)
	if b != nil {
		b.Map(dayOf(wall), o.name, r.key, r.record)
	}
	o.mu.Lock()
	o.recent.add(r.key, r.record)
	o.mu.Unlock()
	r.orphans.answered(g, o.name, r.key)
}

// A match is the message that a receipt belongs to.
type match struct {
	store.Mapping
	record []byte         // that the mapping lies in
	more   []*sms.Message // receipts beside that which direct has made, for the other messages that it was joined of
}

// set makes a match of a record.
func (f *match) set(record []byte) (err error) {
	f.record = append(f.record[:0], record...)
	f.Mapping, err = store.DecodeMapping(f.record)
	return err
}

// find finds the message of a receipt among the latest ones.
func (o *operator) find(m *sms.Message, f *match) bool {
	r, ok := m.Report()
	if !ok {
		return false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.each(&r, func(key []byte) bool {
		value := o.recent.find(key)
		return value != nil && f.set(value) == nil && isAbout(m, f.Dest.Addr)
	})
}

// lookUp finds the message of a receipt in the store.
func (o *operator) lookUp(s store.Store, m *sms.Message, f *match) (found bool, failed error) {
	r, ok := m.Report()
	if !ok {
		return false, nil
	}
	var keys [][]byte
	o.mu.Lock()
	o.each(&r, func(key []byte) bool {
		keys = append(keys, append([]byte(nil), key...))
		return false
	})
	o.mu.Unlock()
	for _, key := range keys {
		value, ok, err := s.Lookup(o.name, key)
		if err == nil && ok {
			err = f.set(value)
		}
		if err != nil {
			return false, fmt.Errorf("cannot find the message of a receipt: %w", err)
		}
		if ok && isAbout(m, f.Dest.Addr) {
			o.mu.Lock()
			o.learner.Matched(key, r.ID)
			o.mu.Unlock()
			return true, nil
		}
	}
	return false, nil
}

// each calls try with the keys under which the message of a receipt may be noted, the
// likeliest first, until try reports that it is the one.
func (o *operator) each(r *sms.Report, try func(key []byte) bool) bool {
	for _, id := range [...][]byte{r.ID, r.TextID} {
		for _, relation := range o.learner.Relations() {
			key, ok := peerid.AppendKey(o.key[:0], id, relation)
			o.key = key
			if ok && try(key) {
				o.learner.Matched(key, id)
				return true
			}
		}
	}
	return false
}

// missed notes that no message was found for a receipt.
func (o *operator) missed() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.learner.Missed()
}

// isAbout reports whether the addresses of a receipt are those of a message to dest. A
// receipt has them the other way round; some SMSCs leave them as they were. The ends of the
// numbers count, because an SMSC may write them in another form. It keeps a wrong form of the
// id from finding another message.
func isAbout(receipt *sms.Message, dest []byte) bool {
	source := receipt.Source().Addr
	return lastDigit(source) < 0 || lastDigit(dest) < 0 || sameEnd(source, dest) || sameEnd(receipt.Dest().Addr, dest)
}

// comparedDigits are the digits of a number that every form of it has.
const comparedDigits = 7

// sameEnd reports whether two numbers have the same last digits.
func sameEnd(a, b []byte) bool {
	n := 0
	for ; n < comparedDigits; n++ {
		i, j := lastDigit(a), lastDigit(b)
		if i < 0 || j < 0 {
			break
		}
		if a[i] != b[j] {
			return false
		}
		a, b = a[:i], b[:j]
	}
	return n > 0
}

// lastDigit returns where the last digit of an address is, -1 if it has none.
func lastDigit(b []byte) int {
	for i := len(b) - 1; i >= 0; i-- {
		if b[i] >= '0' && b[i] <= '9' {
			return i
		}
	}
	return -1
}

// wholeKey returns the key under which a part's outcome is noted.
func wholeKey(whole uint64, part uint8) []byte {
	return append(binary.BigEndian.AppendUint64(nil, whole), part)
}
