package gateway

import (
	"fmt"
	"sync"
	"sync/atomic"

	"pmg/gateway/convert"

	"pmg/config"
	"pmg/connector"
	"pmg/protocols"
	"pmg/sms"
	"pmg/sms/peerid"
	"pmg/store"
)

// An operator is an SMSC, whatever connectors lead to it.
type operator struct {
	name         string
	missed       atomic.Bool // it has sent a receipt whose message is not known: it may send what nobody has asked for
	sendsUnasked atomic.Bool // it sends receipts that nobody has asked for
	held         atomic.Bool // receipts are orphans until no answer is due

	mu       sync.Mutex
	ids      string // option
	byID     bool   // the addresses of receipts do not matter
	learner  peerid.Learner
	form     form
	storedOn uint32 // the day for which that was stored; 0: it was not in this run
	recent   *recent
	key      []byte
	record   []byte
}

// A form is what was last concluded of the ids of an operator.
type form struct {
	relation peerid.Relation
	certain  bool
	learner  peerid.Learner
	unasked  bool
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
		o.sendsUnasked.Store(r.forms[name].unasked)
		r.operators[name] = o
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.byID = c.ReceiptMatch == config.MatchID
	if o.ids != c.ReceiptIDs {
		o.ids, o.learner = c.ReceiptIDs, r.forms[name].learner
		if relation, ok := peerid.ParseRelation(c.ReceiptIDs); ok {
			o.learner = peerid.Fixed(relation)
		}
		o.form.relation, o.form.certain = o.learner.Known()
	}
	return o
}

// noteAnswer notes an answer of an SMSC that has accepted a message, before anything that comes
// behind it on the session is looked at. So its receipt finds it, although the store does not know of it yet.
func (c *Conversation[R]) noteAnswer(l *connector.Link, m *sms.Message, id []byte) {
	if l.Account != nil || m.Kind != sms.Submit || len(id) == 0 || len(m.Dest().Addr) == 0 {
		return // a client has accepted it, or the answer names nothing that a receipt may be about
	}
	cfg := l.Connector.Config()
	if cfg != c.answering {
		c.answering, c.operator = cfg, c.gateway.receipts.of(c.gateway.Config(), cfg)
	}
	c.gateway.noteAnswer(c.operator, cfg, m, id)
}

func (g *Gateway) noteAnswer(o *operator, c *config.Connector, m *sms.Message, id []byte) {
	notes := convert.Asks(m, c) != 0 || o.missed.Load() || o.sendsUnasked.Load()
	v := store.Mapping{}
	if notes {
		v = store.MappingOf(m, g.Clock.Ahead())
	}
	o.mu.Lock()
	o.learner.Answered(id)
	changed := o.concludes()
	key, _ := peerid.AppendKey(o.key[:0], id, peerid.Same)
	o.key = key
	if notes {
		o.record = v.Append(o.record[:0])
		o.recent.add(key, o.record)
		g.receipts.orphans.answered(g, o.name, key)
	}
	o.mu.Unlock()
	if changed {
		g.concluded(o)
	}
}

// isUnasked notes that an operator sends receipts that nobody has asked for, so that what its ids stand
// for is stored for each message.
func (g *Gateway) isUnasked(m *sms.Message) {
	c := g.Connector(m.Origin.Connector)
	if c == nil || c.Config().Receipts == config.ForceReceipts {
		return
	}
	if o := g.receipts.of(g.Config(), c.Config()); !o.sendsUnasked.Swap(true) {
		g.receipts.unasked.Store(true)
		g.keepForm(o)
	}
}

// noteOf returns what an answer to a message would have noted, for one that comes late.
func (g *Gateway) noteOf(l *connector.Link, m *sms.Message) []byte {
	c := l.Connector.Config()
	if l.Account != nil || m.Kind != sms.Submit || c.Role() != protocols.Client || convert.Asks(m, c) == 0 {
		return nil
	}
	v := store.MappingOf(m, g.Clock.Ahead())
	return v.Append(nil)
}

// noteLate notes a late answer. The message may have ended, as another copy of it.
func (g *Gateway) noteLate(l *connector.Link, record, id []byte) {
	v, err := store.DecodeMapping(record)
	if err != nil || len(id) == 0 {
		return
	}
	o := g.receipts.of(g.Config(), l.Connector.Config())
	wall := g.Clock.Wall(g.Clock.Now())
	if g.Store == nil {
		g.receipts.noteMapping(g, nil, o, &v, id, wall)
		return
	}
	g.receipts.noteMapping(g, g.Committer.Begin(), o, &v, id, wall)
	g.Committer.End()
}

// concludes reports whether what is known of the operator's ids leads to something else than
// before. The caller holds the lock.
func (o *operator) concludes() bool {
	relation, certain := o.learner.Known()
	if relation == o.form.relation && certain == o.form.certain {
		return false
	}
	o.form.relation, o.form.certain = relation, certain
	return true
}

// received tells the operator of a receipt.
func (g *Gateway) received(o *operator, m *sms.Message) {
	r, ok := m.Report()
	if !ok {
		return
	}
	o.mu.Lock()
	o.learner.Received(r.ID)
	changed := o.concludes()
	o.mu.Unlock()
	if changed {
		g.concluded(o)
	}
}

// concluded keeps what is known of an operator's ids, and looks again for the messages of its
// orphans.
func (g *Gateway) concluded(o *operator) {
	o.mu.Lock()
	relation, certain, fixed := o.form.relation, o.form.certain, o.learner.IsFixed()
	o.mu.Unlock()
	if !fixed {
		g.keepForm(o)
		e := g.Log.Info().Str("operator", o.name)
		if certain {
			e.Stringer("receipt_ids", relation).Msg("it is certain how the SMSC writes ids in receipts")
		} else {
			e.Msg("it is not certain any more how the SMSC writes ids in receipts; those that can be read in two ways are kept until it is")
		}
	}
	g.receipts.orphans.lookAgain(g, o.name)
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

// idsOf returns the ids by which the message of a receipt is looked for. Where the id in the text
// is another one than that of the optional parameter, its form may be another one, too: it does not
// count if it is a number that can be read in two ways.
func idsOf(r *sms.Report) [][]byte {
	if len(r.TextID) == 0 || peerid.IsAmbiguous(r.TextID) {
		return [][]byte{r.ID}
	}
	return [][]byte{r.ID, r.TextID}
}

// find finds the message of a receipt among the latest ones, if its id can be read in one way.
func (g *Gateway) find(o *operator, m *sms.Message, f *match) bool {
	r, ok := m.Report()
	if !ok {
		return false
	}
	o.mu.Lock()
	id := r.ID
	key, ok := o.keyOf(id)
	value := o.recent.find(key)
	found := ok && value != nil && f.set(value) == nil && (o.byID || isAbout(m, f.Dest.Addr)) && !g.receipts.orphans.waits(o.name, key)
	if found && o.form.relation == peerid.Same {
		o.learner.Proves(id)
	}
	changed := o.concludes()
	o.mu.Unlock()
	if changed {
		g.concluded(o)
	}
	return found
}

// keyOf returns the key under which the message of a receipt is noted. It reports false while the
// id can be read in more than one way. The caller holds the lock.
func (o *operator) keyOf(id []byte) (key []byte, ok bool) {
	if !o.form.certain && peerid.IsAmbiguous(id) {
		return nil, false
	}
	relation := o.form.relation
	if !peerid.IsNumber(id) {
		relation = peerid.Same
	}
	o.key, ok = peerid.AppendKey(o.key[:0], id, relation)
	return o.key, ok
}

// lookUp finds the message of a receipt among all, also those in the store. It may read the disk.
func (g *Gateway) lookUp(o *operator, m *sms.Message, f *match) (found bool, failed error) {
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
			found, failed = g.get(o, key, m, f)
		case !peerid.IsAmbiguous(id) || suspects:
		case g.isAwaiting(o.name):
			o.held.Store(true)
		default:
			found, failed = g.getOnly(o, id, m, f)
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
	if changed {
		g.concluded(o)
	}
	return true, nil
}

// get returns the message that is noted under a key, if the receipt is about that.
func (g *Gateway) get(o *operator, key []byte, m *sms.Message, f *match) (bool, error) {
	o.mu.Lock()
	value := o.recent.find(key)
	ok, byID := value != nil, o.byID
	var err error
	if ok {
		err = f.set(value)
	}
	o.mu.Unlock()
	if !ok && g.Store != nil {
		value, ok, err = g.Store.Lookup(o.name, key)
		if err == nil && ok {
			err = f.set(value)
		}
	}
	if err != nil {
		return false, fmt.Errorf("cannot find the message of a receipt: %w", err)
	}
	return ok && (byID || isAbout(m, f.Dest.Addr)), nil
}

// getOnly returns the message that a receipt's id stands for as it is, if no other reading of it
// stands for one.
func (g *Gateway) getOnly(o *operator, id []byte, m *sms.Message, f *match) (bool, error) {
	var other match
	for _, relation := range peerid.Others() {
		if key, ok := peerid.AppendKey(nil, id, relation); ok {
			if found, err := g.get(o, key, m, &other); found || err != nil {
				return false, err
			}
		}
	}
	key, _ := peerid.AppendKey(nil, id, peerid.Same)
	return g.get(o, key, m, f)
}

// isAwaiting reports whether an answer of an operator may come.
func (g *Gateway) isAwaiting(operator string) (awaits bool) {
	for _, c := range g.Connectors() {
		if cfg := c.Config(); cfg.Role() == protocols.Client && cfg.OperatorName() == operator {
			c.Links(func(l *connector.Link) { awaits = awaits || l.Inflight.Used() > 0 })
		}
	}
	return awaits
}

// lookAtHeld looks again for the messages of receipts for which answers had to come first.
func (g *Gateway) lookAtHeld() {
	r := &g.receipts
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, o := range r.operators {
		if o.held.Load() && !g.isAwaiting(o.name) && o.held.Swap(false) {
			r.orphans.lookAgain(g, o.name)
		}
	}
}
