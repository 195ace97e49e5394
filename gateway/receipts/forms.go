package receipts

import (
	"encoding/binary"
	"time"

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

// tidyReceipts forgets, about once an hour, what ids of old messages stand for, and receipts
// that belong to none. The wall clock may be wrong for a while: so two looks must find them old, and
// no more than a day's are forgotten by one look.
func (d *Matcher) tidyReceipts(now int64) {
	if next := d.tidied.Load(); now < next || !d.tidied.CompareAndSwap(next, now+tidyReceiptsEvery) {
		return
	}
	wall, keep := d.node.Clock.Wall(now), d.node.Config().Receipts.Keep
	d.SMSCs.renew(store.DayOf(wall), uint32(keep/(2*24*time.Hour)))
	day := store.DayOf(wall - int64(keep))
	looked := d.looked
	d.looked = day
	if looked == 0 {
		return
	}
	day = min(day, looked)
	if d.SMSCs.forgotten != 0 && day > d.SMSCs.forgotten+1 {
		if d.node.Repeats.First("forgets") {
			d.node.Log.Warn().Uint32("days", day-d.SMSCs.forgotten).Msg(
				"ids of messages of several days are too old at once; a day's are forgotten each hour: is the clock right?",
			)
		}
		day = d.SMSCs.forgotten + 1
	}
	d.keep.Batches.Write(func(b *store.Batch) {
		b.ForgetBefore(day)
		if day != d.SMSCs.forgotten {
			b.Note(store.KindForm, nil, binary.BigEndian.AppendUint32(nil, day), store.DayOf(wall))
		}
	})
	d.SMSCs.forgotten = day
	d.Orphans.dropBefore(int64(day) * store.DayLength)
}

// tidyReceiptsEvery is how often that is done.
const tidyReceiptsEvery = int64(3600e9)
