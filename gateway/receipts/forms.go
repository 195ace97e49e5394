package receipts

import (
	"encoding/binary"
	"time"

	"pmg/sms/peerid"
	"pmg/store"
)

// An IDForm is the format in which an SMSC writes ids in receipts. The store keeps the known format
// by the SMSC's name (store.KindForm). The entry with an empty name is the day before which ids
// were dropped.
type IDForm struct {
	Operator string
	Form     string // one of FormNames, empty if it is not known yet
}

// FormNames returns the names of the formats, as in the option receipt_ids.
func FormNames() (names []string) {
	for _, r := range peerid.Relations() {
		names = append(names, r.String())
	}
	return names
}

// tidyReceipts drops the mappings of old messages, and old orphans, about once an hour. The wall
// clock may be wrong for a while. So entries are only dropped if two checks find them old, and one
// check drops the entries of at most one day.
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

// tidyReceiptsEvery is the interval of tidyReceipts.
const tidyReceiptsEvery = int64(3600e9)
