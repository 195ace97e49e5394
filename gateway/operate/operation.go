package operate

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"pmg/connector"
	"pmg/connector/account"
	"pmg/connector/queue"
	"pmg/gateway/keep"
	"pmg/gateway/receipts"
	"pmg/protocols"
	"pmg/sms"
	"pmg/sms/number"
	"pmg/store"
)

// An Operation is a query, a cancel or a replacement in progress, on its own goroutine. It looks for waiting messages
// in the store, or in the lanes if they are not stored. It changes messages in the lanes alone, where nothing else
// changes them at the same time.
type Operation struct {
	protocols.Operation
	operations *Operations
	changer    *changer // used to reach the lanes
	client     *account.Account
	spoken     sms.Protocol // the client's protocol
	order      *order

	// with Cancel: the parts found so far of incomplete long messages, by WholeID
	parts map[uint64][]*operand

	Known
	Code sms.Code
	Step string // step of intake that refused the change; "": none
}

// A Known is the result of a query about a message.
type Known struct {
	Result protocols.Result
	Waits  *sms.Message   // the waiting message, with times of the wall clock; nil: the message has left
	Left   *store.Mapping // the mapping of a message that has left
	Fate   receipts.Fate  // the fate of a message that has left
}

// operationTimeout is the time limit of an operation for finding its messages.
const operationTimeout = 10 * time.Second

// An operand is a message that an operation affects.
type operand struct {
	*found
	share   *connector.Share // share in which the message waits; nil: the store has the name of its lane
	waiting queue.Waiting    // set with share
	sent    bool             // the message is under way
}

var (
	errOperationBusy = errors.New("other operations read the whole store")
	errNoMessage     = errors.New("no message")
	errNotCommitted  = errors.New("the changes of an operation are not on the disk")
)

// Run carries out the operation.
func (o *Operation) Run() {
	d := o.operations
	defer func() {
		d.orders.end(o.order)
		o.client.Operate(-1)
		d.operating.Add(-1)
	}()
	o.Code = sms.SystemError // the result if the operation does not finish
	ctx, done := context.WithTimeout(context.Background(), operationTimeout)
	defer done()
	o.changer = &changer{Operations: d}
	if o.ID != 0 || o.Modulo != 0 {
		id, ok := d.wholeID(o.ID, o.Modulo)
		if !ok {
			o.Code = sms.UnknownMessage
			return
		}
		o.ID, o.Result.ID = id, id
	}
	if !d.keep.Recovered() || o.order.wait(ctx) != nil {
		return
	}
	switch err := o.carryOut(ctx); {
	case err == nil:
	case errors.Is(err, errNoMessage):
		o.Code = sms.Rejected
	case errors.Is(err, errOperationBusy):
		o.Code = sms.Throttled
	default:
		o.Code = sms.SystemError
		if errors.Is(err, errNotCommitted) && !(o.Kind == protocols.Replace && store.IsUndone(err)) {
			o.Code = sms.Undecided // the messages that have ended stay ended: the next commit contains them
		}
		if d.node.Repeats.First("operation failed") {
			d.node.Log.Error().Err(err).Str("account", o.client.SystemID).Stringer("operation", o.Kind).
				Msg("cannot carry out a client's operation")
		}
	}
}

// wholeID returns the latest id that has a remainder for a modulo; for modulo 0 it returns id. It reports false if no message
// can have it.
func (d *Operations) wholeID(id, modulo uint64) (uint64, bool) {
	last := d.keep.IDs.Load()
	if modulo != 0 {
		if id += last - last%modulo; id > last {
			id -= modulo
		}
	}
	return id, id != 0 && id <= last
}

func (o *Operation) carryOut(ctx context.Context) error {
	if o.ID == 0 {
		return o.carryOutMany(ctx)
	}
	var all []*operand
	err := o.find(ctx, func(some []*operand) error {
		all = append(all, some...)
		return nil
	})
	switch {
	case err != nil:
		return err
	case len(all) == 0:
		return o.ended(ctx)
	}
	switch o.Kind {
	case protocols.Cancel:
		n, err := o.cancel(ctx, all)
		return o.done(n, err)
	case protocols.Replace:
		return o.replace(ctx, all)
	default:
		o.read(all[0])
	}
	return nil
}

// carryOutMany performs an operation without a message id. It goes through all waiting messages in parts, because there may be
// very many. An account has at most one such operation in progress, so that other accounts are served.
func (o *Operation) carryOutMany(ctx context.Context) error {
	if !o.client.Search() {
		return errOperationBusy
	}
	defer o.client.EndSearch()
	defer o.operations.searching.Add(-1)
	if o.operations.searching.Add(1) > maxSearching {
		return errOperationBusy
	}
	n := 0
	err := o.find(ctx, func(some []*operand) error {
		cancelled, err := o.cancel(ctx, some)
		n += cancelled
		return err
	})
	return o.done(n, err)
}

// done returns the error of an operation, or errNoMessage if the operation affected no message.
func (o *Operation) done(n int, err error) error {
	switch {
	case err != nil:
		return err
	case n == 0:
		return errNoMessage
	}
	o.Code = sms.OK
	return nil
}

// read sets the result of a query for a message.
func (o *Operation) read(t *operand) {
	o.Code, o.Waits = sms.OK, t.message
	o.Result.State = waitsAs(t.message, o.operations.node.Clock.WallNow())
}

func waitsAs(m *sms.Message, wall int64) sms.State {
	if m.DeliverAt > wall {
		return sms.StateScheduled
	}
	return sms.StateEnroute
}

func (o *Operation) matches(account string, m *sms.Message) bool {
	return account == o.client.SystemID && m.Kind == sms.Submit &&
		(o.ID == 0 || o.ID == m.KnownID()) && (o.ByID || number.Same(o.Source, m.Source())) &&
		(o.Dest.Addr == nil || number.Same(o.Dest, m.Dest())) && (o.Fits == nil || o.Fits(m))
}

// find calls f with the messages that the operation affects, some at a time.
func (o *Operation) find(ctx context.Context, f func([]*operand) error) error {
	d := o.operations
	if err := o.inStore(ctx, f); err != nil || d.keep.Durable() {
		return err
	}
	for _, l := range d.table.Lanes() {
		var some []*operand
		err := o.changer.wait(ctx, l, func(int64) { some = o.inLane(l) })
		if err == nil {
			err = f(some)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// errSearched stops a scan that has found all messages of the operation.
var errSearched = errors.New("the scan has found all")

// inStore calls f with the affected messages in the store, some at a time. Messages that the client knows by one id have
// consecutive ids.
func (o *Operation) inStore(ctx context.Context, f func([]*operand) error) error {
	for from, more := o.ID, true; more; {
		var some []*operand
		next, err := o.operations.keep.Index.Scan(from, pageLooks, func(e *store.Entry) error {
			if h, err := store.DecodeHead(e.Record); o.ID == 0 && err == nil && string(h.Account) != o.client.SystemID {
				return nil
			}
			m := newFound(e)
			if m.err == nil && o.ID != 0 && m.message.KnownID() > o.ID {
				return errSearched
			}
			if m.err == nil && o.matches(string(m.head.Account), m.message) {
				m.message.Origin = o.operations.node.Origins.Of(string(m.head.Account), string(m.head.Connector))
				some = append(some, &operand{found: m})
			}
			return nil
		})
		if from, more = next, err == nil && next != 0; errors.Is(err, errSearched) {
			err = nil
		}
		if err == nil {
			err = f(some)
		}
		if err == nil && more {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// inLane returns the affected messages in a lane. The lane's dispatcher calls it.
func (o *Operation) inLane(l *connector.Lane) (all []*operand) {
	ahead := o.operations.node.Clock.Ahead()
	add := func(m *sms.Message, t operand) {
		if m == nil || m.Flags&sms.Settled != 0 || !o.matches(m.Account(), m) {
			return
		}
		if o.ID == 0 { // there may be very many messages, and the id is enough
			t.found = &found{id: m.ID, message: &sms.Message{ID: m.ID, Offset: m.Offset, Part: m.Part, Parts: m.Parts}}
		} else {
			t.found = newFound(&store.Entry{ID: m.ID, Record: store.AppendRecord(nil, m, keep.LaneName(l), ahead)})
			t.message.Origin = m.Origin
		}
		all = append(all, &t)
	}
	for _, s := range o.shares(l) {
		l.Queues.EachWaiting(s, func(w queue.Waiting, m *sms.Message) {
			if o.ID == 0 || w.ID-o.ID <= math.MaxUint16 { // the others are skipped, because reading them is slow
				add(m, operand{share: s, waiting: w})
			}
		})
	}
	l.Window.EachUnderWay(func(m *sms.Message) { add(m, operand{sent: true}) })
	return all
}

// shares returns the client's shares of a lane.
func (o *Operation) shares(l *connector.Lane) (own []*connector.Share) {
	l.Queues.Shares(func(s *connector.Share) {
		if s.Origin.Account == o.client.SystemID {
			own = append(own, s)
		}
	})
	return own
}

// withdrawAtATime is the number of messages that are withdrawn from a lane at a time. This takes a few milliseconds, in which
// the lane sends nothing.
const withdrawAtATime = 512

// withdraw removes waiting messages from the lanes. It calls f for each, on the goroutine that Engine.Do uses; m is nil if the
// body is only on disk.
// It returns the messages that were not found in a lane.
func (o *Operation) withdraw(
	ctx context.Context, all []*operand, f func(now int64, s *connector.Share, t *operand, m *sms.Message),
) (left []*operand, err error) {
	left = slices.DeleteFunc(slices.Clone(all), func(t *operand) bool { return t.sent || t.stateName() != StateQueued })
	from := func(l *connector.Lane, search bool, has func(*operand) bool) (err error) {
		there := slices.DeleteFunc(slices.Clone(left), func(t *operand) bool { return !has(t) })
		taken := map[*operand]bool{}
		for part := range slices.Chunk(there, withdrawAtATime) {
			if err = o.changer.wait(ctx, l, func(now int64) {
				own := o.shares(l)
				places := o.places(l, search, part)
				for _, t := range part {
					taken[t] = o.remove(now, own, t, places, f)
				}
			}); err != nil {
				break
			}
		}
		left = slices.DeleteFunc(left, func(t *operand) bool { return taken[t] })
		return err
	}
	lanes := o.operations.table.Lanes()
	for _, l := range lanes {
		if err = from(l, false, func(t *operand) bool {
			return t.share == nil && t.lane() == keep.LaneName(l) || t.share != nil && t.share.Lane == l
		}); err != nil {
			return left, err
		}
	}
	for _, l := range lanes { // a message may have moved to another lane, and the clock may have been set
		if err = from(l, true, func(t *operand) bool { return t.share == nil }); err != nil {
			return left, err
		}
	}
	return left, nil
}

// places returns the places of messages in a lane. With search it also finds messages whose times differ from those in the
// store, because the wall clock was set after their arrival, or between runs of the gateway.
func (o *Operation) places(l *connector.Lane, search bool, all []*operand) map[uint64]queue.Waiting {
	ahead := o.operations.node.Clock.Ahead()
	places, ids := map[uint64]queue.Waiting{}, map[uint64]bool{}
	for _, t := range all {
		ids[t.id], places[t.id] = true, t.waiting
		if t.share == nil {
			places[t.id] = waitingOf(t.found, ahead)
		}
	}
	if search {
		l.Window.EachUnderWay(func(m *sms.Message) { delete(ids, m.ID) }) // messages under way do not wait
	}
	if search && len(ids) > 0 {
		l.Queues.Find(ids, func(_ *connector.Share, w queue.Waiting) { places[w.ID] = w })
	}
	return places
}

// remove removes a message from the client's shares of a lane. It reports false if the message does not wait at the place.
func (o *Operation) remove(
	now int64, shares []*connector.Share, t *operand, places map[uint64]queue.Waiting,
	f func(int64, *connector.Share, *operand, *sms.Message),
) bool {
	for _, s := range shares {
		if t.share != nil && t.share != s {
			continue
		}
		if m, ok := s.Lane.Queues.Remove(now, s, places[t.id]); ok {
			f(now, s, t, m)
			return true
		}
	}
	return false
}

// ended performs an operation about a message that has left. It returns errNoMessage if the message is unknown.
func (o *Operation) ended(ctx context.Context) error {
	v, fate, ok, err := o.operations.receipts.FateOf(o.ID)
	switch {
	case err != nil:
		return err
	case !ok, string(v.Account) != o.client.SystemID || !o.ByID && !number.Same(v.Source, o.Source),
		o.Dest.Addr != nil && !number.Same(v.Dest, o.Dest):
		return errNoMessage
	}
	o.Result.State, o.Result.Error, o.Left, o.Fate = fate.State, fate.Error, &v, fate
	if !o.Result.State.Final() {
		o.Code = o.forward(ctx, &v)
	} else {
		o.Code, o.Result.Since = sms.Rejected, fate.Since
	}
	if o.Kind == protocols.Query { // without the SMSC's answer it is only known that it has accepted the message
		o.Code = sms.OK
	}
	return nil
}
