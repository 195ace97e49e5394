package gateway

import (
	"encoding/binary"
	"fmt"
	"time"

	"pmg/protocols"
	"pmg/sms/peerid"
	"pmg/store"
)

// formsName is the name under which the store keeps, by operators, what is known of their ids, and by
// an empty name the day before which ids were forgotten.
const formsName = ".forms"

// An OperatorForm is how an operator writes ids in receipts.
type OperatorForm struct {
	Operator string
	Form     string // one of FormNames, empty if it is not known yet
}

// FormNames returns the names of the forms, as the option receipt_ids has them.
func FormNames() (names []string) {
	for _, r := range peerid.Relations() {
		names = append(names, r.String())
	}
	return names
}

// Forms returns how the operators of all connectors to SMSCs write ids, in the order of the configuration.
func (g *Gateway) Forms() (all []OperatorForm) {
	cfg, seen := g.Config(), map[string]bool{}
	for i := range cfg.Connectors {
		c := &cfg.Connectors[i]
		if c.Role() != protocols.Client || seen[c.OperatorName()] {
			continue
		}
		o := g.receipts.of(cfg, c)
		seen[o.name] = true
		o.mu.Lock()
		one := OperatorForm{Operator: o.name}
		if o.form.certain {
			one.Form = o.form.relation.String()
		}
		o.mu.Unlock()
		all = append(all, one)
	}
	return all
}

// keepForm stores what is known of an operator's ids.
func (g *Gateway) keepForm(o *operator) {
	if g.Store == nil {
		return
	}
	day := store.DayOf(g.Clock.Wall(g.Clock.Now()))
	unasked := uint8(0)
	if o.sendsUnasked.Load() {
		unasked = 1
	}
	o.mu.Lock()
	o.storedOn = day
	value := append(o.learner.Append(nil), unasked)
	o.mu.Unlock()
	g.Committer.Begin().Map(day, formsName, []byte(o.name), value)
	g.Committer.End()
	g.Committer.CommitSoon()
}

// loadForms reads what earlier runs have stored.
func (g *Gateway) loadForms() error {
	r := &g.receipts
	r.forms = map[string]form{}
	err := g.Store.Mapped(formsName, nil, maxForms, func(name, value []byte) error {
		if len(name) == 0 && len(value) == 4 {
			r.forgotten = binary.BigEndian.Uint32(value)
			return nil
		}
		if len(value) == 0 {
			return nil
		}
		last := len(value) - 1
		if l, ok := peerid.Read(value[:last]); ok {
			r.unasked.Store(r.unasked.Load() || value[last] == 1)
			r.forms[string(name)] = form{learner: l, unasked: value[last] == 1}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("cannot read how SMSCs write ids: %w", err)
	}
	return nil
}

// maxForms bounds how many are read: those of some days, of each operator.
const maxForms = 100_000

// tidyReceipts forgets, about once an hour, what ids of old messages stand for, and receipts
// that belong to none. The wall clock may be wrong for a while: so two looks must find them old, and
// no more than a day's are forgotten by one look.
func (g *Gateway) tidyReceipts(now int64) {
	r := &g.receipts
	if next := r.tidied.Load(); g.Store == nil || now < next || !r.tidied.CompareAndSwap(next, now+tidyReceiptsEvery) {
		return
	}
	wall, keep := g.Clock.Wall(now), g.Config().Receipts.Keep
	g.renewForms(store.DayOf(wall), uint32(keep/(2*24*time.Hour)))
	day := store.DayOf(wall - int64(keep))
	looked := r.looked
	r.looked = day
	if looked == 0 {
		return
	}
	day = min(day, looked)
	if r.forgotten != 0 && day > r.forgotten+1 {
		if g.News.Is("forgets") {
			g.Log.Warn().Uint32("days", day-r.forgotten).Msg("ids of messages of several days are too old at once; a day's are forgotten each hour: is the clock right?")
		}
		day = r.forgotten + 1
	}
	b := g.Committer.Begin()
	b.UnmapBefore(day)
	if day != r.forgotten {
		b.Map(store.DayOf(wall), formsName, nil, binary.BigEndian.AppendUint32(nil, day))
	}
	g.Committer.End()
	r.forgotten = day
	r.orphans.dropBefore(g, int64(day)*store.DayLength)
}

// tidyReceiptsEvery is how often that is done.
const tidyReceiptsEvery = int64(3600e9)

// renewForms stores again what was stored some days ago, before it is forgotten.
func (g *Gateway) renewForms(today, days uint32) {
	r := &g.receipts
	var old []*operator
	r.mu.Lock()
	for name := range r.forms {
		for _, c := range g.Connectors() {
			if c.Config().OperatorName() == name && r.operators[name] == nil {
				r.mu.Unlock()
				r.of(g.Config(), c.Config())
				r.mu.Lock()
			}
		}
	}
	for name, o := range r.operators {
		_, known := r.forms[name]
		o.mu.Lock()
		if (o.storedOn != 0 || known) && !o.learner.IsFixed() && today > o.storedOn+days {
			old = append(old, o)
		}
		o.mu.Unlock()
	}
	r.mu.Unlock()
	for _, o := range old {
		g.keepForm(o)
	}
}
