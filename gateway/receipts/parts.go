package receipts

import (
	"fmt"
	"slices"
	"sync"

	"pmg/sms"
	"pmg/store"
)

// Parts make one receipt of those of the parts of a long message:
//
//	ACCEPTD or a final state of a part ──► joint ──► each part has one: ACCEPTD, while one has no other
//	                                         ├────► a part has failed, or each has its final state: that
//	                                         └────► receipts.parts_wait is over: UNKNOWN
//
// A client gets each of these once. The outcome of each part is in the store as well, and so is the last receipt that
// the client got (store.KindPart). It is safe for concurrent use.
type Parts struct {
	matcher *Matcher
	mu      sync.Mutex
	by      map[uint64]*joint // joints by WholeID
	order   []uint64          // keys of by, the oldest first
	evicted uint64            // highest key that was dropped
}

// A joint has the known outcomes of the parts of a message.
type joint struct {
	ended, taken   [4]uint64 // bits: parts with a final state; parts with a final state or ACCEPTD
	nEnded, nTaken int       // numbers of those parts
	failed         bool      // one of the parts will never be delivered
	begun          bool      // it is known whether an SMSC has accepted the first part
	told           told
	by             uint8 // the part whose outcome led to the last receipt; noPart: none
	waits          bool  // the store knows that the message waits
	report         sms.Report
}

// told is the last receipt that a client got of a long message.
type told uint8

const (
	toldNothing told = iota
	toldForNow       // ACCEPTD or UNKNOWN: no final state yet
	toldEnd          // a final state
)

const (
	maxJoints = 50_000
	// noPart is the number of no part, because a message has 255 at most. The store keeps with it
	// the last receipt that the client got.
	noPart = 255
)

// endsPart reports whether a state counts as the outcome of a part of a long message.
func endsPart(s sms.State) bool { return s.Final() || s == sms.StateAccepted }

// add adds the outcome of a part. It returns passOn and the receipt of the whole message when the
// client gets one. The part that led to the last receipt may come again, if that receipt was not
// stored. read says that outcomes may only be in the store. all says that the outcome is that of
// every part. begins is true if the message begins to wait for other parts.
func (j *Parts) add(
	whole uint64, part, parts uint8, r *sms.Report, read, all bool,
) (joined sms.Report, v Verdict, begins bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	of := j.by[whole]
	if of == nil {
		if read || whole <= j.evicted {
			return sms.Report{}, Unread, false
		}
		of = j.make(whole)
	}
	if of.add(part, r); all {
		for other := range parts {
			of.add(other, r)
		}
	}
	next := toldNothing
	switch {
	case of.failed || of.nEnded == int(parts):
		next = toldEnd
	case of.nTaken == int(parts):
		next = toldForNow
	}
	switch {
	case next > of.told:
		of.told, of.by = next, part
	// the receipt may not have been stored, and needs this outcome after a restart
	case of.told == toldEnd && part != of.by:
		return sms.Report{}, Recorded, false
	case of.told == toldNothing, part != of.by, next != of.told:
		begins = !of.waits
		of.waits = true
		return sms.Report{}, Recorded, begins
	}
	joined = of.report
	joined.Parts = parts
	if of.told == toldForNow {
		joined.State = sms.StateAccepted
	}
	return joined, passOn, false
}

// begin records that an SMSC has taken the first part of a message.
func (j *Parts) begin(whole uint64) {
	read := j.reads(whole)
	j.mu.Lock()
	defer j.mu.Unlock()
	of := j.by[whole]
	if of == nil {
		if read || whole <= j.evicted {
			return
		}
		of = j.make(whole)
	}
	of.begun, of.report.Untaken = true, false
}

// giveUp returns the receipt of a message that has waited for its parts for too long. ok is false
// if the client has already got a receipt.
func (j *Parts) giveUp(whole uint64, parts uint8) (joined sms.Report, ok bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	of := j.by[whole]
	if of == nil || of.told != toldNothing {
		return joined, false
	}
	of.told, of.by = toldForNow, noPart
	joined = of.report
	joined.Parts, joined.State = parts, sms.StateUnknown
	return joined, true
}

// make creates the joint of a message.
func (j *Parts) make(whole uint64) *joint {
	if j.by == nil {
		j.by = map[uint64]*joint{}
	}
	for len(j.order) >= maxJoints {
		j.evicted = max(j.evicted, j.order[0])
		delete(j.by, j.order[0])
		j.order = j.order[1:]
	}
	of := &joint{by: noPart}
	j.by[whole] = of
	j.order = append(j.order, whole)
	return of
}

// add adds the outcome of a part, for which endsPart is true. A final state takes precedence over
// ACCEPTD.
func (of *joint) add(part uint8, r *sms.Report) {
	at, bit := part/64, uint64(1)<<(part%64)
	if of.ended[at]&bit != 0 || r.State == sms.StateAccepted && of.taken[at]&bit != 0 {
		return
	}
	t := &of.report
	if t.Submitted == 0 || r.Submitted != 0 && r.Submitted < t.Submitted {
		t.Submitted = r.Submitted
	}
	t.Done = max(t.Done, r.Done)
	t.Seconds = t.Seconds || r.Seconds
	if t.Text == nil || part == 0 {
		t.Text = slices.Clone(r.Text)
	}
	if t.ID == nil || part == 0 {
		t.ID = slices.Clone(r.ID)
	}
	switch { // for the client, a long message is accepted when its first part is
	case part == 0:
		t.Untaken, of.begun = r.Untaken, true
	case !of.begun:
		t.Untaken = r.Untaken && (t.Untaken || of.nTaken == 0)
	}
	if of.taken[at]&bit == 0 {
		of.taken[at] |= bit
		of.nTaken++
	}
	if r.State == sms.StateAccepted {
		return
	}
	of.ended[at] |= bit
	of.nEnded++
	if r.State == sms.StateDelivered {
		t.Delivered++
	}
	if of.nEnded == 1 || badness(r.State) > badness(t.State) {
		t.State = r.State
		if r.State != sms.StateDelivered {
			t.Err, t.Network, t.NetworkError, t.Answer = slices.Clone(r.Err), r.Network, r.NetworkError, slices.Clone(r.Answer)
		}
	}
	of.failed = of.failed || badness(r.State) > badness(sms.StateUnknown)
}

// badness orders the final states: of the parts' states the worst is that of the message. All
// behind StateUnknown say that the part will never be delivered.
func badness(s sms.State) int {
	return slices.Index([]sms.State{sms.StateDelivered, sms.StateUnknown, sms.StateSkipped,
		sms.StateExpired, sms.StateDeleted, sms.StateUndeliverable, sms.StateRejected}, s)
}

// ended adds the outcome of a part, or with all that of every part, to those of the others, and records the receipt that follows.
func (j *Parts) ended(f *store.Mapping, r *sms.Report, read, all bool) (sms.Report, Verdict) {
	joined, v, begins := j.add(f.WholeID(), f.Part, f.Parts, r, read, all)
	switch {
	case v == passOn:
		of := toldForNow
		if joined.State.Final() {
			of = toldEnd
		}
		j.recordTold(f.WholeID(), of, f.Part)
		if of == toldForNow { // after a restart the end needs this outcome, which may be the part's last one
			j.recordOutcome(f, r)
		}
	case begins:
		j.matcher.waits.add(f)
	}
	return joined, v
}

// recordTold records the receipt that the client gets of a long message, and the part that led to it.
func (j *Parts) recordTold(whole uint64, of told, by uint8) {
	j.write(wholeKey(whole, noPart), []byte{uint8(of), by})
}

// reads reports whether outcomes of parts may be in the store alone: those of
// messages of earlier runs may.
func (j *Parts) reads(whole uint64) bool { return whole <= j.matcher.keep.LastStored }

// record stores the outcome of a part: the text of its receipt.
func (j *Parts) record(f *store.Mapping, receipt []byte) {
	j.write(wholeKey(f.WholeID(), f.Part), receipt)
}

// recordOutcome stores the outcome of a part, encoded from a report.
func (j *Parts) recordOutcome(f *store.Mapping, r *sms.Report) {
	m := j.matcher.node.Messages.Get()
	m.SetReport(sms.Address{}, sms.Address{}, r)
	j.record(f, m.Text())
	m.Release()
}

func (j *Parts) write(key, value []byte) {
	today := store.DayOf(j.matcher.node.Clock.WallNow())
	j.matcher.keep.Batches.Write(func(b *store.Batch) { b.Note(store.KindPart, key, value, today) })
}

// LoadParts reads the outcomes of the parts of a message from the store.
func (d *Matcher) LoadParts(f *Match) error { return d.Parts.Load(f) }

// Load reads the outcomes of the parts of a message from the store, unless they are in
// memory.
func (j *Parts) Load(f *Match) error {
	whole := f.Mapping.WholeID()
	j.mu.Lock()
	known := j.by[whole] != nil
	j.mu.Unlock()
	if known {
		return nil
	}
	read := joint{by: noPart}
	if value, ok, err := j.matcher.keep.Index.Lookup(store.KindPart, wholeKey(whole, noPart)); err != nil {
		return fmt.Errorf("cannot read what was told of a long message: %w", err)
	} else if ok && len(value) == 2 {
		read.told, read.by = told(value[0]), value[1]
	}
	for part := range f.Mapping.Parts {
		value, ok, err := j.matcher.keep.Index.Lookup(store.KindPart, wholeKey(whole, part))
		if err != nil {
			return fmt.Errorf("cannot read the outcomes of a long message's parts: %w", err)
		}
		var m sms.Message
		m.Set(sms.Address{}, sms.Address{}, value)
		m.Flags = sms.HasReport
		if r, valid := m.Report(); ok && valid {
			read.add(part, &r)
		}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.by[whole] == nil {
		*j.make(whole) = read
	}
	return nil
}

// An unreadPart is a part of a long message that the gateway has given up, where the outcomes of
// other parts are in the store alone.
type unreadPart struct {
	Match
	report sms.Report
}

func newUnreadPart(v *store.Mapping, r *sms.Report) *unreadPart {
	u := &unreadPart{report: *r}
	_ = u.Set(v.Append(nil))
	return u
}

// join makes the receipt of the long message if each part has an outcome. The outcome of this part
// is already stored.
func (j *Parts) join(u *unreadPart) {
	if err := j.Load(&u.Match); err != nil {
		j.matcher.keep.LogLookup(err)
		return
	}
	if r, v := j.ended(&u.Mapping, &u.report, false, false); v == passOn {
		j.matcher.recordReport(j.matcher.node.Clock.Now(), &u.Mapping, &r)
		j.matcher.sendOwn(&u.Mapping, &r)
	}
}

// putOff records the end of a part before the client is sent a receipt.
func (j *Parts) putOff(v *store.Mapping, r *sms.Report, verdict Verdict) (made Made) {
	if verdict == Unread {
		made.unread = newUnreadPart(v, r)
	}
	j.recordOutcome(v, r)
	return made
}
