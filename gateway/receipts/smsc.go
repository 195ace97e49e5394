package receipts

import (
	"encoding/binary"
	"fmt"
	"sync"
	"sync/atomic"

	"pmg/config"
	"pmg/connector"
	"pmg/gateway/convert"
	"pmg/protocols"
	"pmg/sms"
	"pmg/sms/peerid"
	"pmg/store"
)

// An SMSC holds the knowledge about the ids of an SMSC, for all connectors that lead to it.
type SMSC struct {
	Name            string
	Missed          atomic.Bool // the SMSC has sent a receipt for an unknown message: it may send unrequested receipts
	sendsUnasked    atomic.Bool // the SMSC sends receipts that were not requested
	waitsForAnswers atomic.Bool // receipts are orphans until no answer is due
	isClear         atomic.Bool // the format of the SMSC's ids is known
	answers         atomic.Int64

	mu       sync.Mutex
	ids      string // the option receipt_ids
	byID     bool   // the addresses of receipts are ignored
	learner  peerid.Learner
	form     form
	stored   peerid.Stage // what was last stored
	storedOn uint32       // the day for which it was last stored; 0: not stored in this run
	recent   *recent
	key      []byte
	record   []byte
}

// A form is the latest conclusion about the format of an SMSC's ids.
type form struct {
	relation peerid.Relation
	certain  bool
	learner  peerid.Learner
	unasked  bool
}

// If the format of an SMSC's ids is clear, only the first answers and then one in a certain number
// are checked, to notice changes.
const (
	firstAnswers = 1000
	everyAnswer  = 64
)

// RecordAnswer records the id that an SMSC has given to a message which it has accepted.
func (d *Matcher) RecordAnswer(o *SMSC, c *config.Connector, m *sms.Message, id []byte) {
	awaited := convert.Asks(m, c) != 0 || o.Missed.Load() || o.sendsUnasked.Load()
	if n := o.answers.Add(1); n > firstAnswers && n%everyAnswer != 0 && !awaited && o.isClear.Load() {
		return
	}
	o.mu.Lock()
	o.learner.Answered(id)
	changed, grown := o.concludes(), o.grows()
	if awaited {
		o.remember(store.MappingOf(m, d.node.Clock.Ahead()), id)
		d.Orphans.answered(o.Name, o.key)
	}
	o.mu.Unlock()
	d.learnt(o, changed, grown)
}

// remember adds a mapping to the latest messages, under an id. The caller holds the lock.
func (o *SMSC) remember(v store.Mapping, id []byte) {
	o.key, _ = peerid.AppendKey(o.key[:0], id, peerid.Same)
	o.record = v.Append(o.record[:0])
	o.recent.add(o.key, o.record)
}

// isUnasked records that an SMSC sends receipts that nobody has asked for. From then on the meaning
// of its id is stored for each message.
func (d *Matcher) isUnasked(m *sms.Message) {
	c := d.table.Connector(m.Origin.Connector)
	if c == nil || c.Config().Receipts == config.ForceReceipts {
		return
	}
	if o := d.Of(c.Config()); !o.sendsUnasked.Swap(true) {
		d.SMSCs.unasked.Store(true)
		d.SMSCs.keepForm(o)
	}
}

// RecordOf returns the record that a late answer to a message stores.
func (d *Matcher) RecordOf(l *connector.Link, m *sms.Message) []byte {
	c := l.Connector.Config()
	if l.Account != nil || m.Kind != sms.Submit || c.Role() != protocols.Client || convert.Asks(m, c) == 0 {
		return nil
	}
	v := store.MappingOf(m, d.node.Clock.Ahead())
	return v.Append(nil)
}

// RecordLate records a late answer. The message may already have ended with another copy.
func (d *Matcher) RecordLate(l *connector.Link, record, id []byte) {
	v, err := store.DecodeMapping(record)
	if err != nil || len(id) == 0 {
		return
	}
	forgetQuote(&v) // the message may not be charged
	o := d.Of(l.Connector.Config())
	d.keep.Batches.Write(func(b *store.Batch) { d.RecordMapping(b, o, &v, id, d.node.Clock.Wall(d.node.Clock.Now()), false) })
}

// concludes reports whether the knowledge about the SMSC's ids leads to another format than before.
// The caller holds the lock.
func (o *SMSC) concludes() bool {
	relation, certain := o.learner.Known()
	if isClear := certain || o.learner.HasNoNumbers(); isClear != o.isClear.Load() {
		o.isClear.Store(isClear)
	}
	if relation == o.form.relation && certain == o.form.certain {
		return false
	}
	o.form.relation, o.form.certain = relation, certain
	return true
}

// grows reports whether clearly more is known than was stored. A single answer may not lead to a
// format, but must still be known after a restart. The caller holds the lock.
func (o *SMSC) grows() bool {
	stage := o.learner.Stage()
	if stage == o.stored {
		return false
	}
	o.stored = stage
	return true
}

// Received records the form of the id of an SMSC's receipt.
func (d *Matcher) Received(o *SMSC, id []byte) {
	o.mu.Lock()
	o.learner.Received(id)
	changed, grown := o.concludes(), o.grows()
	o.mu.Unlock()
	d.learnt(o, changed, grown)
}

// learnt keeps what is known of an SMSC's ids, if it has grown much or leads to something else than before. In that case
// it looks again for the messages of the SMSC's orphans.
func (d *Matcher) learnt(o *SMSC, changed, grown bool) {
	if !changed && !grown {
		return
	}
	o.mu.Lock()
	relation, certain, fixed := o.form.relation, o.form.certain, o.learner.IsFixed()
	o.mu.Unlock()
	if !fixed {
		d.SMSCs.keepForm(o)
	}
	if !changed {
		return
	}
	switch e := d.node.Log.Info().Str("operator", o.Name); {
	case fixed:
	case certain:
		e.Stringer("receipt_ids", relation).Msg("it is certain how the SMSC writes ids in receipts")
	default:
		e.Msg(
			"it is not certain any more how the SMSC writes ids in receipts; those that can be read in two ways are " +
				"kept until it is",
		)
	}
	d.Orphans.lookAgain(o.Name)
}

// A Match is the message to which a receipt belongs.
type Match struct {
	Mapping store.Mapping
	Record  []byte         // the mapping shares its octets with Record
	smsc    *SMSC          // the SMSC under whose name the message is recorded
	key     []byte         // the key under which the message is recorded
	Says    sms.State      // state in the client's receipt, for all parts together; set by Direct
	More    []*sms.Message // further receipts of Direct, for the other messages from which the message was joined
}

// Set sets the match to a decoded record.
func (f *Match) Set(record []byte) (err error) {
	f.Record = append(f.Record[:0], record...)
	f.Mapping, err = store.DecodeMapping(f.Record)
	return err
}

// Emptied returns an empty match that reuses the storage of this one.
func (f *Match) Emptied() Match { return Match{Record: f.Record, key: f.key} }

// Copy returns the match of the same message, which shares nothing with this one.
func (f *Match) Copy() (copied Match) {
	_ = copied.Set(f.Record)
	copied.foundUnder(f.smsc, f.key)
	return copied
}

// foundUnder records the SMSC and the key under which the message was found.
func (f *Match) foundUnder(o *SMSC, key []byte) { f.smsc, f.key = o, append(f.key[:0], key...) }

// idsOf returns the ids by which the message of a receipt is looked for. If the id in the text
// differs from that of the optional parameter, its form may differ, too. Then an id in the text is
// ignored if it is a number that can be read in two ways.
func idsOf(r *sms.Report) [][]byte {
	if len(r.TextID) == 0 || peerid.IsAmbiguous(r.TextID) {
		return [][]byte{r.ID}
	}
	return [][]byte{r.ID, r.TextID}
}

// Find finds the message of a receipt with the content r among the latest ones, if its id can be read in one way.
func (d *Matcher) Find(o *SMSC, m *sms.Message, r *sms.Report, f *Match) bool {
	o.mu.Lock()
	id := r.ID
	key, ok := o.keyOf(id)
	value := o.recent.find(key)
	found := ok && value != nil && f.Set(value) == nil && (o.byID || isAbout(m, f.Mapping.Dest.Addr)) &&
		!d.Orphans.waits(o.Name, key)
	f.foundUnder(o, key)
	if found && o.form.relation == peerid.Same {
		o.learner.Proves(id)
	}
	changed := o.concludes()
	o.mu.Unlock()
	d.learnt(o, changed, false)
	return found
}

// keyOf returns the key under which the message of a receipt is recorded. ok is false while the id
// can be read in more than one way. The caller holds the lock.
func (o *SMSC) keyOf(id []byte) (key []byte, ok bool) {
	if !o.form.certain && peerid.IsAmbiguous(id) {
		return nil, false
	}
	relation := o.form.relation
	if relation != peerid.Same && !peerid.IsNumber(id) {
		relation = peerid.Same
	}
	o.key, ok = peerid.AppendKey(o.key[:0], id, relation)
	return o.key, ok
}

// LookUp finds the message of a receipt among the latest messages and in the store. It may read the
// disk.
func (d *Matcher) LookUp(o *SMSC, m *sms.Message, f *Match) (found bool, failed error) {
	r, ok := m.Report()
	if !ok {
		return false, nil
	}
	for _, id := range idsOf(&r) {
		o.mu.Lock()
		key, ok := o.keyOf(id)
		key = append([]byte(nil), key...)
		suspects := o.learner.Suspects()
		o.mu.Unlock()
		switch {
		case ok:
			found, failed = d.get(o, key, m, f)
		case !peerid.IsAmbiguous(id) || suspects:
		case d.SMSCs.isAwaiting(o.Name):
			o.waitsForAnswers.Store(true)
		default:
			found, failed = d.getOnly(o, id, m, f)
		}
		if found || failed != nil {
			break
		}
	}
	if !found || failed != nil {
		return false, failed
	}
	o.mu.Lock()
	if o.form.relation == peerid.Same {
		o.learner.Proves(r.ID)
	}
	changed := o.concludes()
	o.mu.Unlock()
	d.learnt(o, changed, false)
	return true, nil
}

// get returns the message that is recorded under a key, if the receipt is about it.
func (d *Matcher) get(o *SMSC, key []byte, m *sms.Message, f *Match) (bool, error) {
	f.foundUnder(o, key)
	o.mu.Lock()
	value := o.recent.find(key)
	ok, byID := value != nil, o.byID
	var err error
	if ok {
		err = f.Set(value)
	}
	o.mu.Unlock()
	if !ok {
		value, ok, err = d.stored(o, key)
		if err == nil && ok {
			err = f.Set(value)
		}
	}
	if err != nil {
		return false, fmt.Errorf("cannot find the message of a receipt: %w", err)
	}
	return ok && (byID || isAbout(m, f.Mapping.Dest.Addr)), nil
}

// stored returns the mapping that is recorded in the store under a key, or under the one that older versions made of a UUID.
func (d *Matcher) stored(o *SMSC, key []byte) (value []byte, ok bool, err error) {
	value, ok, err = d.keep.Index.Lookup(store.IDsOf(o.Name), key)
	if older, is := peerid.OlderKey(key); is && !ok && err == nil {
		value, ok, err = d.keep.Index.Lookup(store.IDsOf(o.Name), older)
	}
	if err != nil || !ok {
		return nil, false, err
	}
	return mappingOf(d.keep.Index, value)
}

// mappingOf returns the mapping that a note of an SMSC's id stands for, which may be in that of our
// id. ok is false if the mapping was dropped.
func mappingOf(index store.Index, value []byte) (mapping []byte, ok bool, err error) {
	id, elsewhere := store.Elsewhere(value)
	if !elsewhere {
		return value, true, nil
	}
	value, ok, err = index.Lookup(store.KindEnded, binary.BigEndian.AppendUint64(nil, id))
	if err != nil || !ok {
		return nil, false, err
	}
	mapping, _, err = cutFate(value)
	return mapping, err == nil, err
}

// getOnly returns the message of a receipt's id as it stands, if no other reading of the id belongs
// to a message.
func (d *Matcher) getOnly(o *SMSC, id []byte, m *sms.Message, f *Match) (bool, error) {
	var other Match
	for _, relation := range peerid.Others() {
		if key, ok := peerid.AppendKey(nil, id, relation); ok {
			if found, err := d.get(o, key, m, &other); found || err != nil {
				return false, err
			}
		}
	}
	key, _ := peerid.AppendKey(nil, id, peerid.Same)
	return d.get(o, key, m, f)
}

// lookAtWaiting looks again for the messages of receipts for which answers had to come first.
func (d *Matcher) lookAtWaiting() {
	d.SMSCs.mu.Lock()
	defer d.SMSCs.mu.Unlock()
	for _, o := range d.SMSCs.all {
		if o.waitsForAnswers.Load() && !d.SMSCs.isAwaiting(o.Name) && o.waitsForAnswers.Swap(false) {
			d.Orphans.lookAgain(o.Name)
		}
	}
}
