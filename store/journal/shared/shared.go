// Package shared is one node's part in a journal to which several nodes append, of which one owns the work at a time.
//
// A node that stands by passes the records that it reads to Judge, and carries out the valid ones. A node that gets the lease
// appends a record that begins its epoch, and reads on until it has judged this record. Then it has all valid records of earlier
// owners. From then on the node is the owner: it appends records and reads no more. If the place of an appended record does not
// follow the previous place, another node has appended a record, and the owner first judges that record.
//
//	follows ── Begin ──► still follows, past its own record ── Own ──► appends ──► deposed
//
// # Start reading
//
// journal.Fence, which judges; shared.go.
package shared

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"pmg/store/journal"
)

// ErrDeposed is the error of an owner whose work another node has taken over.
var ErrDeposed = errors.New("another node has taken the work over")

// A Journal is the journal of the store of one node. It implements journal.Journal. It chooses the
// IDs of records itself. It does not trim; it only records which records the store does not need
// any more.
type Journal struct {
	inner     journal.Journal
	node      uint32
	moved     atomic.Uint64 // the store does not need records up to this place
	last      atomic.Uint64 // last judged place
	foreign   atomic.Uint64 // how many places had no record
	foreignAt atomic.Uint64 // the last such place
	fault     atomic.Pointer[error]

	mu    sync.Mutex // held while a record is appended
	fence journal.Fence
	epoch uint32 // this node's epoch; 0: the node is not the owner
}

// New makes a node's journal. node is the node's number, which must be different for each node.
func New(inner journal.Journal, node uint32) *Journal { return &Journal{inner: inner, node: node} }

// Seed is called once in place of Judge, with the last record that the store already has.
func (j *Journal) Seed(at journal.Seq, id journal.ID) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.fence = journal.Fence{Epoch: id.Run, Node: id.Node, Number: id.Number}
	j.last.Store(uint64(at))
}

// Judge judges the next record, and reports whether the record is valid. A place without a record, with an empty ID, is not.
func (j *Journal) Judge(at journal.Seq, id journal.ID) (bool, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.judge(at, id)
}

func (j *Journal) judge(at journal.Seq, id journal.ID) (bool, error) {
	if id == (journal.ID{}) {
		j.foreignAt.Store(uint64(at))
		j.foreign.Add(1)
		j.last.Store(uint64(at))
		return false, nil
	}
	before := j.fence
	switch v := j.fence.Judge(id); v {
	case journal.Forged:
		return false, fmt.Errorf(
			"record %d of the journal is number %d of epoch %d by node %08x, which cannot follow number %d of epoch %d by node "+
				"%08x: two nodes have the same name, or the journal has lost records",
			at, id.Number, id.Run, id.Node, before.Number, before.Epoch, before.Node)
	default:
		j.last.Store(uint64(at))
		return v == journal.Counts, nil
	}
}

// Foreign returns how many places had no record of a node, and the last such place. What is there was
// published by somebody else, or with another secret.
func (j *Journal) Foreign() (n uint64, last journal.Seq) {
	return j.foreign.Load(), journal.Seq(j.foreignAt.Load())
}

// Last returns the last place that was judged.
func (j *Journal) Last() journal.Seq { return journal.Seq(j.last.Load()) }

// Epoch returns the newest epoch that was judged.
func (j *Journal) Epoch() uint32 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.fence.Epoch
}

// Number returns the number of the last valid record.
func (j *Journal) Number() uint64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.fence.Number
}

// Begin appends the first record of an epoch, and returns its place. The caller must continue with
// Judge until this record was judged.
func (j *Journal) Begin(epoch uint32, record []byte) (journal.Seq, error) {
	return j.inner.Append(journal.ID{Node: j.node, Run: epoch, Number: 1}, record)
}

// Own makes the node the owner, which appends records. The first record of the epoch must have been
// judged before. If a newer epoch was judged too, the error is ErrDeposed. Judge must not be called
// afterwards.
func (j *Journal) Own(epoch uint32) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.fence.Epoch != epoch || j.fence.Node != j.node {
		return ErrDeposed
	}
	j.epoch = epoch
	return nil
}

// Append implements journal.Journal. It ignores the given ID.
func (j *Journal) Append(_ journal.ID, record []byte) (journal.Seq, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if fault := j.fault.Load(); fault != nil {
		return 0, *fault
	}
	if j.epoch == 0 {
		return 0, errors.New("this node does not own the work, and appends nothing")
	}
	id := journal.ID{Node: j.node, Run: j.epoch, Number: j.fence.Number + 1}
	at, err := j.inner.Append(id, record)
	if errors.Is(err, journal.ErrFull) || errors.Is(err, journal.ErrTooLarge) {
		return 0, err
	}
	if err == nil && at == j.Last()+1 {
		j.fence.Number = id.Number
		j.last.Store(uint64(at))
		return at, nil
	}
	if err == nil {
		at, err = j.lookBack(at, id)
	}
	if err != nil {
		j.fault.Store(&err)
	}
	return at, err
}

// errPast ends the reading in lookBack.
var errPast = errors.New("past it")

// lookBack judges the records after the last judged one, up to and including a new record of this
// node. It returns the place at which the new record is valid.
func (j *Journal) lookBack(upTo journal.Seq, own journal.ID) (place journal.Seq, err error) {
	err = j.inner.Follow(j.Last(), func(at journal.Seq, id journal.ID, _ []byte) error {
		if at > upTo {
			return errPast
		}
		counts, err := j.judge(at, id)
		switch {
		case err != nil:
			return err
		case counts && id == own:
			place = at
		case counts:
			return ErrDeposed
		}
		return nil
	})
	switch {
	case err != nil && !errors.Is(err, errPast):
		return 0, err
	case place == 0 || j.Last() < upTo:
		return 0, fmt.Errorf("record %d of the journal was appended, and is not there", upTo)
	}
	return place, nil
}

// Write implements journal.Journal. It does the same as Append.
func (j *Journal) Write(id journal.ID, record []byte) (journal.Seq, error) {
	return j.Append(id, record)
}

// Sync implements journal.Journal. It does nothing, because appended records already survive a
// power cut.
func (j *Journal) Sync(journal.Seq) error {
	if fault := j.fault.Load(); fault != nil {
		return *fault
	}
	return nil
}

// Follow implements journal.Journal. It also passes records that are not valid.
func (j *Journal) Follow(after journal.Seq, f func(journal.Seq, journal.ID, []byte) error) error {
	return j.inner.Follow(after, f)
}

// Trim implements journal.Journal. It only records that this node's store does not need the records
// up to a place.
func (j *Journal) Trim(upTo journal.Seq) error {
	j.moved.Store(uint64(upTo))
	return nil
}

// Moved returns the highest place that Trim was called with. The node's store does not need the
// records up to this place.
func (j *Journal) Moved() journal.Seq { return journal.Seq(j.moved.Load()) }

// Status implements journal.Journal. It does not ask the servers.
func (j *Journal) Status() journal.Status {
	s := journal.Status{First: 1, Last: j.Last(), Synced: j.Last()}
	if fault := j.fault.Load(); fault != nil {
		s.Fault = *fault
	}
	return s
}

// Close implements journal.Journal. It does nothing: the owner of the shared journal closes that
// journal.
func (j *Journal) Close() error { return nil }

var _ journal.Journal = (*Journal)(nil)
