package receipts

import (
	"encoding/binary"
	"fmt"
	"time"

	"pmg/protocols"
	"pmg/sms/peerid"
	"pmg/store"
)

// An IDForm is how an SMSC writes ids in receipts. The store keeps, by the names of SMSCs, what is known of that
// (store.KindForm), and by an empty name the day before which ids were forgotten.
type IDForm struct {
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

// Forms returns how the SMSCs of all connectors write ids, in the order of the configuration.
func (d *Matcher) Forms() (all []IDForm) {
	cfg, seen := d.node.Config(), map[string]bool{}
	for i := range cfg.Connectors {
		c := &cfg.Connectors[i]
		if c.Role() != protocols.Client || seen[c.OperatorName()] {
			continue
		}
		o := d.Of(c)
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

// keepForm stores what is known of an SMSC's ids.
func (d *Matcher) keepForm(o *SMSC) {
	day := store.DayOf(d.node.Clock.Wall(d.node.Clock.Now()))
	unasked := uint8(0)
	if o.sendsUnasked.Load() {
		unasked = 1
	}
	o.mu.Lock()
	o.storedOn = day
	value := append(o.learner.Append(nil), unasked)
	o.mu.Unlock()
	d.keep.Journal.Write(func(b *store.Batch) { b.Note(store.KindForm, []byte(o.Name), value, day) })
	d.keep.Journal.CommitSoon()
}

// LoadForms reads what earlier runs have stored.
func (d *Matcher) LoadForms() error {
	d.forms = map[string]form{}
	err := d.keep.Index.Notes(store.KindForm, nil, maxForms, func(name, value []byte) error {
		if len(name) == 0 && len(value) == 4 {
			d.forgotten = binary.BigEndian.Uint32(value)
			return nil
		}
		if len(value) == 0 {
			return nil
		}
		last := len(value) - 1
		if l, ok := peerid.Read(value[:last]); ok {
			d.unasked.Store(d.unasked.Load() || value[last] == 1)
			d.forms[string(name)] = form{learner: l, unasked: value[last] == 1}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("cannot read how SMSCs write ids: %w", err)
	}
	return nil
}

// maxForms bounds how many are read: those of some days, of each SMSC.
const maxForms = 100_000

// tidyReceipts forgets, about once an hour, what ids of old messages stand for, and receipts
// that belong to none. The wall clock may be wrong for a while: so two looks must find them old, and
// no more than a day's are forgotten by one look.
func (d *Matcher) tidyReceipts(now int64) {
	if next := d.tidied.Load(); now < next || !d.tidied.CompareAndSwap(next, now+tidyReceiptsEvery) {
		return
	}
	wall, keep := d.node.Clock.Wall(now), d.node.Config().Receipts.Keep
	d.renewForms(store.DayOf(wall), uint32(keep/(2*24*time.Hour)))
	day := store.DayOf(wall - int64(keep))
	looked := d.looked
	d.looked = day
	if looked == 0 {
		return
	}
	day = min(day, looked)
	if d.forgotten != 0 && day > d.forgotten+1 {
		if d.node.Repeats.First("forgets") {
			d.node.Log.Warn().Uint32("days", day-d.forgotten).Msg(
				"ids of messages of several days are too old at once; a day's are forgotten each hour: is the clock right?",
			)
		}
		day = d.forgotten + 1
	}
	d.keep.Journal.Write(func(b *store.Batch) {
		b.ForgetBefore(day)
		if day != d.forgotten {
			b.Note(store.KindForm, nil, binary.BigEndian.AppendUint32(nil, day), store.DayOf(wall))
		}
	})
	d.forgotten = day
	d.Orphans.dropBefore(int64(day) * store.DayLength)
}

// tidyReceiptsEvery is how often that is done.
const tidyReceiptsEvery = int64(3600e9)

// renewForms stores again what was stored some days ago, before it is forgotten.
func (d *Matcher) renewForms(today, days uint32) {
	var old []*SMSC
	d.mu.Lock()
	for name := range d.forms {
		for _, c := range d.table.Connectors() {
			if c.Config().OperatorName() == name && d.smscs[name] == nil {
				d.mu.Unlock()
				d.Of(c.Config())
				d.mu.Lock()
			}
		}
	}
	for name, o := range d.smscs {
		_, known := d.forms[name]
		o.mu.Lock()
		if (o.storedOn != 0 || known) && !o.learner.IsFixed() && today > o.storedOn+days {
			old = append(old, o)
		}
		o.mu.Unlock()
	}
	d.mu.Unlock()
	for _, o := range old {
		d.keepForm(o)
	}
}
