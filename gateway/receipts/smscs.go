package receipts

import (
	"encoding/binary"
	"fmt"
	"sync"
	"sync/atomic"

	"pmg/config"
	"pmg/connector"
	"pmg/gateway/keep"
	"pmg/gateway/node"
	"pmg/gateway/route"
	"pmg/protocols"
	"pmg/sms/peerid"
	"pmg/store"
)

// SMSCs holds the knowledge about the ids of all SMSCs, in memory and in the store.
type SMSCs struct {
	node  *node.Node
	keep  *keep.Keeper
	table *route.Table

	mu        sync.Mutex
	all       map[string]*SMSC
	forms     map[string]form // forms stored by earlier runs, by SMSC; the SMSC has the form in force
	unasked   atomic.Bool     // an SMSC sends receipts that were not requested
	forgotten uint32          // ids were dropped before this day; 0: never; used by the tick only
}

// Of returns the SMSC of a connector.
func (s *SMSCs) Of(c *config.Connector) *SMSC {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := c.OperatorName()
	o := s.all[name]
	if o == nil {
		if s.all == nil {
			s.all = map[string]*SMSC{}
		}
		o = &SMSC{Name: name, recent: newRecent(recentSize(s.node.Config()))}
		o.sendsUnasked.Store(s.forms[name].unasked)
		s.all[name] = o
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.byID = c.ReceiptMatch == config.MatchID
	if o.ids != c.ReceiptIDs {
		o.ids, o.learner = c.ReceiptIDs, s.forms[name].learner
		if relation, ok := peerid.ParseRelation(c.ReceiptIDs); ok {
			o.learner = peerid.Fixed(relation)
		}
		o.concludes()
		o.stored = o.learner.Stage()
	}
	return o
}

// Forms returns the formats of the ids of all connectors' SMSCs, in the order of the configuration.
func (s *SMSCs) Forms() (all []IDForm) {
	cfg, seen := s.node.Config(), map[string]bool{}
	for i := range cfg.Connectors {
		c := &cfg.Connectors[i]
		if c.Role() != protocols.Client || seen[c.OperatorName()] {
			continue
		}
		o := s.Of(c)
		seen[o.Name] = true
		o.mu.Lock()
		one := IDForm{Operator: o.Name}
		if o.form.certain {
			one.Form = o.form.relation.String()
		} else if o.learner.HasNoNumbers() {
			one.Form = peerid.Same.String()
		}
		o.mu.Unlock()
		all = append(all, one)
	}
	return all
}

// keepForm stores the knowledge about an SMSC's ids.
func (s *SMSCs) keepForm(o *SMSC) {
	day := store.DayOf(s.node.Clock.Wall(s.node.Clock.Now()))
	unasked := uint8(0)
	if o.sendsUnasked.Load() {
		unasked = 1
	}
	o.mu.Lock()
	o.storedOn = day
	value := append(o.learner.Append(nil), unasked)
	o.mu.Unlock()
	s.keep.Batches.Write(func(b *store.Batch) { b.Note(store.KindForm, []byte(o.Name), value, day) })
	s.keep.Batches.CommitSoon()
}

// Load reads what earlier runs have stored.
func (s *SMSCs) Load() error {
	s.forms = map[string]form{}
	err := s.keep.Index.Notes(store.KindForm, nil, maxForms, func(name, value []byte) error {
		if len(name) == 0 && len(value) == 4 {
			s.forgotten = binary.BigEndian.Uint32(value)
			return nil
		}
		if len(value) == 0 {
			return nil
		}
		last := len(value) - 1
		if l, ok := peerid.Read(value[:last]); ok {
			s.unasked.Store(s.unasked.Load() || value[last] == 1)
			s.forms[string(name)] = form{learner: l, unasked: value[last] == 1}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("cannot read how SMSCs write ids: %w", err)
	}
	return nil
}

// maxForms is the maximum number of stored forms that are read: those of a few days, for each SMSC.
const maxForms = 100_000

// renew stores forms again that were stored some days ago, before they are dropped.
func (s *SMSCs) renew(today, days uint32) {
	var old []*SMSC
	s.mu.Lock()
	for name := range s.forms {
		for _, c := range s.table.Connectors() {
			if c.Config().OperatorName() == name && s.all[name] == nil {
				s.mu.Unlock()
				s.Of(c.Config())
				s.mu.Lock()
			}
		}
	}
	for name, o := range s.all {
		_, known := s.forms[name]
		o.mu.Lock()
		if (o.storedOn != 0 || known) && !o.learner.IsFixed() && today > o.storedOn+days {
			old = append(old, o)
		}
		o.mu.Unlock()
	}
	s.mu.Unlock()
	for _, o := range old {
		s.keepForm(o)
	}
}

// isAwaiting reports whether an answer of an SMSC may come.
func (s *SMSCs) isAwaiting(operator string) (awaits bool) {
	for _, c := range s.table.Connectors() {
		if cfg := c.Config(); cfg.Role() == protocols.Client && cfg.OperatorName() == operator {
			c.Links(func(l *connector.Link) { awaits = awaits || l.Inflight.Used() > 0 })
		}
	}
	return awaits
}
