package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"pmg/cluster/cells"
	"pmg/cluster/report"
	"pmg/store"
	"pmg/store/journal"
	"pmg/store/journal/nats"
)

// A Finding is what Examine has found.
type Finding struct {
	Nodes      []State // the last published states
	Has        uint64  // place of the last record of the journal that this node's copy has
	Read       uint64  // the last record that this node had read when it ran: those at its end may have had no changes
	Why        string  // what is wrong with the stream; empty: nothing
	Unreadable []error // the records that cannot be read
	Better     *State  // another node that had read more of the journal; nil: there is none
}

// aliveFor is for how long Examine looks whether a node publishes its state.
const aliveFor = 3 * tickEvery

// Examine reads a stream from where this node's copy ends on disk, and says what is wrong. Beyond a record that cannot be read it
// goes on, as if that one had no changes. All nodes must be stopped. It changes nothing.
func Examine(ctx context.Context, o Options) (f *Finding, err error) {
	b, err := cells.Open(ctx, cells.Options{
		Servers: o.Servers, Connect: o.Connect, Bucket: Bucket(o.Stream), Replicas: max(o.Replicas, 1), Failed: o.Failed,
	})
	if err != nil {
		return nil, err
	}
	defer b.Close()
	f = &Finding{}
	if f.Nodes, err = stopped(ctx, b); err != nil {
		return nil, err
	}
	j, err := nats.Open(ctx, natsOptions(&o))
	if err != nil {
		return nil, err
	}
	defer j.Close()
	for _, s := range f.Nodes {
		if s.Node == o.Node {
			f.Read = s.Applied
		}
	}
	last := j.Status().Last
	if last == 0 {
		f.Why, f.Has = "it has no records", f.Read
	} else if err := f.read(j, o, false); err != nil {
		return nil, err
	}
	f.compare(uint64(last))
	return f, nil
}

// stopped returns the states of all nodes, and an error if one of them runs.
func stopped(ctx context.Context, b *cells.Bucket) ([]State, error) {
	before, err := b.All(ctx, "")
	if err != nil {
		return nil, err
	}
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(aliveFor):
	}
	after, err := b.All(ctx, "")
	if err != nil {
		return nil, err
	}
	versions := map[string]uint64{}
	for _, v := range before {
		versions[v.Name] = v.Version
	}
	for _, v := range after {
		if versions[v.Name] != v.Version {
			return nil, fmt.Errorf("a node runs, because it has written %s just now: stop all nodes", v.Name)
		}
	}
	values, err := b.All(ctx, nodePrefix)
	if err != nil {
		return nil, err
	}
	all := states(values)
	for _, s := range all {
		if now := time.Now(); !s.IsSilent(now) {
			return nil, fmt.Errorf("node %s said %s ago that it runs: stop all nodes, and try again %s later",
				s.Node, now.Sub(s.At).Round(time.Second), report.SilentFor)
		}
	}
	return all, nil
}

// read reads the stream. The copy carries the records out if applies is true.
func (f *Finding) read(j *nats.Journal, o Options, applies bool) (err error) {
	o.Store.Journal, o.Store.Origin = unowned{j}, j.Origin()
	c, err := store.OpenCopy(o.Dir, o.Store)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	s := &salvage{from: c.Moved()}
	if applies {
		s.copy = c
	}
	after, had := s.from, c.Applied()
	if after > 0 {
		after-- // the record at from determines which records may follow
	}
	var damage *nats.Damage
	switch err = j.Follow(after, s.take); {
	case errors.As(err, &damage), errors.Is(err, errLost):
		f.Why = err.Error()
	case err != nil:
		return err
	case len(s.unreadable) > 0:
		f.Why = "records that were encrypted with the secret cannot be read"
	}
	f.Has, f.Unreadable = uint64(max(had, s.upTo)), s.unreadable
	switch {
	case s.from == 0 && s.counted == 0:
		return fmt.Errorf("%s has nothing, and no record of the stream can be read with cluster.secret", o.Dir)
	case max(s.from, s.last) < had:
		return fmt.Errorf("this node was killed before all was in %s, and the stream does not have the rest: run the command on "+
			"another node", o.Dir)
	case applies:
		_, _, err = c.Sum() // all can be read
		return err
	}
	return nil
}

// compare compares what this node has with what others had.
func (f *Finding) compare(last uint64) {
	most := max(f.Has, f.Read)
	for i := range f.Nodes {
		s := &f.Nodes[i]
		if s.Applied > last && f.Why == "" {
			f.Why = fmt.Sprintf("it ends at %d, and node %s had read up to %d", last, s.Node, s.Applied)
		}
		if s.Applied > most {
			most, f.Better = s.Applied, s
		}
	}
}

// An unowned journal is one to which a copy appends nothing, and which it does not trim.
type unowned struct{ journal.Journal }

func (unowned) Trim(journal.Seq) error { return nil }

func (unowned) Close() error { return nil } // its owner closes it

// errLost is the error if the stream does not have what a copy has.
var errLost = errors.New("the stream has lost records, or has others")

// A salvage reads the records of a damaged stream.
type salvage struct {
	copy       *store.Copy // carries the records out; nil: nothing does
	from       journal.Seq // the last record whose changes the copy had on disk
	begun      bool
	fence      journal.Fence
	past       journal.Fence // the same, if the last unreadable record was one of the owner
	upTo       journal.Seq   // the last record that was read
	last       journal.Seq   // the last record that was valid
	counted    int           // how many records were valid
	unreadable []error
}

// take takes the next record.
func (s *salvage) take(at journal.Seq, id journal.ID, record []byte) error {
	if first := !s.begun && s.from > 0; first {
		s.begun = true
		return s.seed(at, id)
	}
	s.begun = true
	if id == (journal.ID{}) {
		s.upTo = at
		return nil
	}
	next, verdict := s.fence, journal.Void
	if verdict = next.Judge(id); verdict == journal.Forged {
		next = s.past
		verdict = next.Judge(id)
	}
	switch verdict {
	case journal.Forged:
		return fmt.Errorf("%w: the record at %d does not follow those before it", errLost, at)
	case journal.Counts:
		if err := s.carryOut(at, next, record); err != nil {
			return err
		}
	}
	s.upTo = at
	return nil
}

// carryOut carries out a valid record. next is the fence after it.
func (s *salvage) carryOut(at journal.Seq, next journal.Fence, record []byte) error {
	if err := store.CheckRecord(record); err != nil {
		s.past = next // the next one may have the same number, or follow this one
		s.unreadable = append(s.unreadable, fmt.Errorf("the record at %d cannot be read: %w", at, err))
		return nil
	}
	s.fence, s.past, s.last = next, next, at
	s.counted++
	if s.copy == nil {
		return nil
	}
	return s.copy.Apply(at, record)
}

// seed takes the last record that the copy has.
func (s *salvage) seed(at journal.Seq, id journal.ID) error {
	switch {
	case at != s.from:
		return fmt.Errorf("%w: the copy has the journal up to the record at %d, which the stream does not have", errLost, s.from)
	case id == (journal.ID{}):
		return fmt.Errorf("the record at %d, the last one that the store has, cannot be read with cluster.secret, nor with "+
			"old_secret: give the secret that the nodes had", at)
	}
	s.fence = journal.Fence{Epoch: id.Run, Node: id.Node, Number: id.Number}
	s.past, s.upTo = s.fence, at
	return nil
}

// Discard reads what the stream has into this node's copy, as Examine does, and makes that a store which Adopt takes. Then it
// removes the stream, and the states that the nodes have published. All nodes must be stopped.
func Discard(ctx context.Context, o Options) error {
	if err := readAll(ctx, o); err != nil {
		return err
	}
	if err := store.Leave(o.Dir, o.Store); err != nil {
		return err
	}
	if err := nats.Remove(ctx, natsOptions(&o)); err != nil {
		return err
	}
	op, err := OpenOperator(ctx, o)
	if err != nil {
		return err
	}
	defer op.Close()
	all, err := op.Nodes(ctx)
	for _, s := range all {
		err = errors.Join(err, op.Forget(ctx, s.Node))
	}
	return err
}

// readAll reads the stream into this node's copy, unless it is empty.
func readAll(ctx context.Context, o Options) error {
	j, err := nats.Open(ctx, natsOptions(&o))
	if err != nil {
		return err
	}
	defer j.Close()
	if j.Status().Last == 0 {
		return nil
	}
	return new(Finding).read(j, o, true)
}
