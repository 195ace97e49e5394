package journaltest

import (
	"fmt"
	"sync"

	"pmg/store/journal"
)

// A Fault is what goes wrong with one Append or Write.
type Fault uint8

// The faults.
const (
	None      Fault = iota
	Lost            // the record is not stored
	Unknown         // the record is stored, but the caller gets an error
	Repeated        // the record is stored twice
	LateTwice       // the record is stored, the caller gets an error, and the record appears again after the next one
)

// A Journal is a journal in memory.
type Journal struct {
	fault func(journal.ID) Fault

	mu      sync.Mutex
	first   journal.Seq // place of records[0]
	synced  journal.Seq
	records []entry
	late    []entry
	octets  int64
	closed  bool
}

type entry struct {
	id     journal.ID
	record []byte
}

// New makes a journal. fault chooses the fault of each append. If fault is nil, no append has a
// fault.
func New(fault func(journal.ID) Fault) *Journal {
	if fault == nil {
		fault = func(journal.ID) Fault { return None }
	}
	return &Journal{fault: fault, first: 1}
}

// ErrUnknown is the error of an append that may have happened.
var ErrUnknown = fmt.Errorf("the journal did not answer in time")

// Append implements journal.Journal.
func (j *Journal) Append(id journal.ID, record []byte) (journal.Seq, error) {
	seq, err := j.Write(id, record)
	if err != nil {
		return 0, err
	}
	return seq, j.Sync(seq)
}

// Write implements journal.Journal.
func (j *Journal) Write(id journal.ID, record []byte) (journal.Seq, error) {
	if len(record) > journal.MaxRecord {
		return 0, journal.ErrTooLarge
	}
	fault := j.fault(id)
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return 0, journal.ErrClosed
	}
	if fault == Lost {
		return 0, ErrUnknown
	}
	one := entry{id: id, record: append([]byte(nil), record...)}
	seq := j.add(one)
	for _, e := range j.late {
		j.add(e)
	}
	j.late = nil
	switch fault {
	case Unknown:
		return 0, ErrUnknown
	case Repeated:
		j.add(one)
	case LateTwice:
		j.late = append(j.late, one)
		return 0, ErrUnknown
	}
	return seq, nil
}

func (j *Journal) add(e entry) journal.Seq {
	j.records = append(j.records, e)
	j.octets += int64(len(e.record))
	return j.last()
}

func (j *Journal) last() journal.Seq { return j.first + journal.Seq(len(j.records)) - 1 }

// Sync implements journal.Journal.
func (j *Journal) Sync(journal.Seq) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return journal.ErrClosed
	}
	j.synced = j.last()
	return nil
}

// CutPower drops the records that are not synced, except the first keep of them.
func (j *Journal) CutPower(keep int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for j.last() > max(j.synced, j.first-1)+journal.Seq(keep) {
		end := len(j.records) - 1
		j.octets -= int64(len(j.records[end].record))
		j.records = j.records[:end]
	}
	j.late = nil
}

// Follow implements journal.Journal.
func (j *Journal) Follow(after journal.Seq, f func(journal.Seq, journal.ID, []byte) error) error {
	j.mu.Lock()
	first, all, closed := j.first, j.records, j.closed
	j.mu.Unlock()
	if closed {
		return journal.ErrClosed
	}
	if after+1 < first {
		return fmt.Errorf("%w: its first is %d, and those behind %d are asked for", journal.ErrTrimmed, first, after)
	}
	for i := int(after + 1 - first); i < len(all); i++ {
		if err := f(first+journal.Seq(i), all[i].id, all[i].record); err != nil {
			return err
		}
	}
	return nil
}

// Trim implements journal.Journal.
func (j *Journal) Trim(upTo journal.Seq) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return journal.ErrClosed
	}
	for len(j.records) > 0 && j.first <= upTo {
		j.octets -= int64(len(j.records[0].record))
		j.records = j.records[1:]
		j.first++
	}
	return nil
}

// Status implements journal.Journal.
func (j *Journal) Status() journal.Status {
	j.mu.Lock()
	defer j.mu.Unlock()
	s := journal.Status{Last: j.last(), Synced: j.synced, Octets: j.octets}
	if len(j.records) > 0 {
		s.First = j.first
	}
	return s
}

// Close implements journal.Journal.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return journal.ErrClosed
	}
	j.closed = true
	return nil
}

var _ journal.Journal = (*Journal)(nil)
