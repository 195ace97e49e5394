package receipts

import (
	"bytes"
	"encoding/binary"
	"sync"
	"sync/atomic"

	"pmg/config"
	"pmg/connector"
	"pmg/gateway/convert"
	"pmg/gateway/hooks"
	"pmg/gateway/keep"
	"pmg/gateway/node"
	"pmg/gateway/route"
	"pmg/protocols"
	"pmg/sms"
	"pmg/sms/peerid"
	"pmg/store"
)

// A Matcher finds the messages that receipts belong to. A message that an SMSC has accepted
// is recorded by the SMSC's id of it, in the store and, of the latest messages, in memory:
//
//	answer of an SMSC ──► RecordAnswer ──► recent
//	        └────► settle.Settler.Forget ──► RecordSent ──► store
//	receipt ──► recent ──► store ──► kept as an orphan ──► an answer, or the form of the ids is known
//	               └─────────┴──────────────────────────────────┴──► the account that submitted the message
//
// It is safe for concurrent use.
type Matcher struct {
	node  *node.Node
	keep  *keep.Keeper
	table *route.Table
	end   func(m *sms.Message, e keep.Ending)

	SMSCs   SMSCs
	waits   waits
	Orphans Orphans
	Parts   Parts
	Asking  Asking
	told    *reported
	Refunds Refunds

	outcomes sync.Pool // of *outcome

	recording   sync.Mutex // guards the fields below, for recordUnder
	record, key []byte

	tidied atomic.Int64 // when old entries are next dropped
	// guarded by the tick, which is one goroutine at a time: the day before which the last look found them old; 0: there was none
	looked uint32
	Counts Counters[atomic.Int64]
}

// New makes the matcher of a gateway. end ends a receipt whose message was not found in time.
func New(
	n *node.Node, k *keep.Keeper, t *route.Table, h *hooks.Hooks, log EventLog, end func(m *sms.Message, e keep.Ending),
) *Matcher {
	refunds := Refunds{node: n, keep: k, log: log, failed: newReported(), given: newReported()}
	d := &Matcher{node: n, keep: k, table: t, end: end, told: newReported(), Refunds: refunds}
	d.SMSCs.node, d.SMSCs.keep, d.SMSCs.table = n, k, t
	d.Orphans.matcher, d.Parts.matcher, d.waits.matcher, d.Asking.matcher = d, d, d, d
	d.Asking.hooks = h
	d.outcomes.New = func() any { return newOutcome(d) }
	return d
}

// Of returns the SMSC of a connector.
func (d *Matcher) Of(c *config.Connector) *SMSC { return d.SMSCs.Of(c) }

// Counters count receipts since the start; the tags say how they are shown (see admin/rows.go). N is
// atomic.Int64, and int64 in a status.
type Counters[N any] struct {
	Matched   N `json:"matched" metric:"matched_total" help:"Receipts of SMSCs whose message was found, and which go to the client that submitted it; one that is refused for want of room counts when it is taken."`
	Unmatched N `json:"unmatched" metric:"unmatched_total" help:"Receipts whose message was not known when they came; no route takes them."`
	Adopted   N `json:"adopted" metric:"adopted_total" help:"Receipts whose message became known after they had been put aside."`
	Unwanted  N `json:"unwanted" metric:"unwanted_total" help:"Receipts that the client had not asked for; they are dropped."`
	Homeless  N `json:"homeless" metric:"homeless_total" help:"Receipts whose account is gone or may not receive; they are dropped."`
	Own       N `json:"own" metric:"own_total" help:"Receipts that the gateway made of messages that expired, were refused for good or deleted."`
}

// recentSize returns how many octets an SMSC's latest messages may take: its part of what
// those of all SMSCs may.
func recentSize(cfg *config.Config) int64 {
	operators := map[string]bool{}
	for i := range cfg.Connectors {
		if c := &cfg.Connectors[i]; c.Role() == protocols.Client {
			operators[c.OperatorName()] = true
		}
	}
	return min(max(cfg.Limits.MemoryLimit()/64, 256<<10), 32<<20) / int64(max(len(operators), 1))
}

// MapsFor returns the SMSC under whose name an accepted message is recorded, or nil if no receipt
// is expected.
func (d *Matcher) MapsFor(l *connector.Lane, m *sms.Message, a *sms.Answer) *SMSC {
	if a.Code != sms.OK || m.Kind != sms.Submit || l.ToClient() || len(a.PeerID) == 0 {
		return nil
	}
	c := l.Config()
	asked := convert.Asks(m, c) != 0
	if !asked && !d.SMSCs.unasked.Load() {
		return nil
	}
	if o := d.Of(c); asked || o.sendsUnasked.Load() {
		return o
	}
	return nil
}

// logHomeless logs a receipt whose client is gone.
func (d *Matcher) logHomeless(account string) {
	if d.node.Repeats.First("homeless " + account) {
		d.node.Log.Warn().Str("account", account).Msg(
			"receipt dropped: the account that submitted the message is gone, or may not receive",
		)
	}
}

// RecordSent records the mapping of a peer's id to a message that has ended, in a batch and in
// memory. If the store also has the message's final state, only our id is stored, because the
// mapping is stored with the final state. The committer's lock is held.
func (d *Matcher) RecordSent(b *store.Batch, o *SMSC, m *sms.Message, e *keep.Ending, ahead int64) {
	v := store.MappingOf(m, ahead)
	if e.Charge != 0 && m.Origin.Tally.Credit.Terms().Undo { // the price may be refunded later
		v.Price = e.Charge
	}
	quoteEnded(&v, m, e)
	d.RecordMapping(b, o, &v, e.Answer.PeerID, e.Answer.At+ahead, RecordsEnd(m, e) && m.Parts <= 1 && v.Price == 0)
}

// RecordMapping records a Mapping under a peer's id, as RecordSent does. wall is the time of the
// wall clock. elsewhere says that the store has the mapping under our id.
func (d *Matcher) RecordMapping(b *store.Batch, o *SMSC, v *store.Mapping, peerID []byte, wall int64, elsewhere bool) {
	d.recording.Lock()
	defer d.recording.Unlock()
	d.key, _ = peerid.AppendKey(d.key[:0], peerID, peerid.Same)
	if recordUnder(d, b, o, d.key, v, wall, elsewhere) {
		d.Orphans.answered(o.Name, d.key)
	}
}

// recordUnder is RecordMapping with the key of the id. It reports false if the latest messages have the mapping. The caller holds
// recording.
func recordUnder(
	d *Matcher, b *store.Batch, o *SMSC, key []byte, v *store.Mapping, wall int64, elsewhere bool,
) (fresh bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	latest := o.recent.find(key) // added by RecordAnswer, unless too many came since
	known := elsewhere && len(v.Context) == 0 && store.IsMappingOf(latest, v.ID)
	if !known {
		d.record = v.Append(d.record[:0])
		if known = bytes.Equal(latest, d.record); !known {
			o.recent.add(key, d.record)
		}
	}
	if elsewhere {
		d.record = store.AppendElsewhere(d.record[:0], v.ID)
	}
	b.Note(store.IDsOf(o.Name), key, d.record, store.DayOf(wall))
	return !known
}

// isAbout reports whether the addresses of a receipt match a message to dest. A receipt has the two
// addresses exchanged, but some SMSCs do not exchange them. Only the last digits are compared,
// because an SMSC may write numbers in another form. This check keeps a wrongly read id from
// finding another message.
func isAbout(receipt *sms.Message, dest []byte) bool {
	source := receipt.Source().Addr
	return lastDigit(source) < 0 || lastDigit(dest) < 0 || sameEnd(source, dest) || sameEnd(receipt.Dest().Addr, dest)
}

// comparedDigits is how many of a number's last digits are compared: those that every form of the
// number has.
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

// lastDigit returns the index of the last digit of an address, or -1 if it has none.
func lastDigit(b []byte) int {
	for i := len(b) - 1; i >= 0; i-- {
		if b[i] >= '0' && b[i] <= '9' {
			return i
		}
	}
	return -1
}

// wholeKey returns the key under which a part's outcome is recorded.
func wholeKey(whole uint64, part uint8) []byte {
	return append(binary.BigEndian.AppendUint64(nil, whole), part)
}
