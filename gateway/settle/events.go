package settle

import (
	"fmt"
	"sync/atomic"
	"time"

	"pmg/events"
	"pmg/events/stats"
	"pmg/gateway/keep"
	"pmg/internal/logfile"
	"pmg/sms"
	"pmg/store"
)

// The maximum numbers of events that wait in the store. At the maximum no more messages are sent.
// An event takes about 400 octets.
const (
	maxEvents       = 1 << 20
	maxMemoryEvents = 1 << 16 // the engine memory keeps at most four times as many events
)

// EventLog records how messages have ended, if events.dir is set.
type EventLog struct {
	Writer *events.Writer // set before the engine starts; nil: events are not written
	halted atomic.Bool    // messages were kept from leaving because too many events wait

	printer  events.Printer  // guarded by the committer's lock
	delivery events.Delivery // guarded by the committer's lock
	line     []byte          // guarded by the committer's lock
}

// OpenEvents begins to write events and to send traces.
func (d *Settler) OpenEvents() error {
	d.openTraces()
	cfg := &d.node.Config().Events
	if cfg.Dir == "" {
		return nil
	}
	o := events.Options{
		Options: logfile.Options{
			MaxSize: int64(cfg.MaxSize), MaxTotal: int64(cfg.MaxTotal), RotateEvery: cfg.RotateEvery,
			Keep: cfg.Keep, KeepAge: cfg.KeepAge, Compress: cfg.Compress,
		},
		Dir: cfg.Dir, MaxWaiting: maxEvents, Log: d.node.Log,
	}
	if !d.keep.Durable() {
		o.MaxWaiting = maxMemoryEvents
	}
	var err error
	if dir := d.node.Config().Stats.Dir; dir != "" {
		if o.Counter, err = stats.Open(dir, d.node.Config().Stats.KeepAge, d.node.Log); err != nil {
			return err
		}
	}
	d.Events.Writer, err = events.Open(o, d.keep.Index, d.dropEvents)
	return err
}

// dropEvents drops the events up to a number from the store. These events are already safe in a
// file. In a cluster the store keeps the last event, so that another node, which does not have the
// file, continues with the next number.
func (d *Settler) dropEvents(upTo uint64) {
	if upTo > 0 && d.node.Config().Cluster.Node != "" {
		upTo--
	}
	d.keep.Batches.Write(func(b *store.Batch) { b.DropEvents(upTo) })
	if d.Events.halted.Load() {
		d.keep.Batches.Commit() // messages leave again after this commit
	}
}

// AttemptsOf returns how often a message was sent that ends with the given code. sent is when the
// message was last written. An attempt that was refused temporarily or not answered is already
// counted in the message, even if a late answer follows.
func AttemptsOf(m *sms.Message, code sms.Code, sent int64) uint8 {
	n := int(m.Attempts) + int(m.Earlier)
	if s := events.StateOf(code); sent != 0 && m.Flags&sms.Settled == 0 && (s == events.Sent || s == events.Rejected) {
		n++
	}
	return uint8(min(n, mostCounted))
}

// Add adds the event of a message to the open batch.
func (l *EventLog) Add(b *store.Batch, m *sms.Message, e *keep.Ending, ahead int64) {
	n := l.Writer.Next()
	v := events.Event{
		Number: n, ID: m.ID, Kind: m.Kind, State: e.State, Reason: e.Answer.Code,
		ToConnector: e.Lane.Connector, ToAccount: e.Lane.Account,
		Source: m.Source().Addr, Destination: m.Dest().Addr,
		Accepted: m.Arrived + ahead, Attempts: int(e.Attempts), Sends: int(m.Sends), PeerID: e.Answer.PeerID,
		Part: m.Part, Parts: m.Parts, Tags: m.Tags(), Network: m.Network,
		Charge: events.Charge{Price: e.Charge, Cost: e.Cost, Shorts: e.Shorts},
	}
	if o := m.Origin; o != nil {
		v.Account, v.Connector = o.Account, o.Connector
	}
	if e.Sent != 0 {
		v.Sent = e.Sent + ahead
	}
	if e.Answer.At != 0 {
		v.Ended = e.Answer.At + ahead
	}
	if e.State == events.Sent || e.Answer.Status != 0 {
		v.Answered, v.Status = true, e.Answer.Status
		if e.Peer != nil {
			v.StatusName = e.Peer.StatusName(v.Status)
		}
	}
	if m.Offset != 0 {
		v.ClientID = m.ID - uint64(m.Offset)
	}
	if r, ok := m.Report(); ok {
		l.delivery = events.Delivery{
			Client: r.Known, Peer: r.ID, State: r.State, Error: r.Err, Network: r.Network, NetworkError: r.NetworkError,
		}
		v.Delivery = &l.delivery
	}
	l.line = l.printer.Append(l.line[:0], &v)
	b.Event(n, l.line)
}

// AddRefund implements receipts.EventLog.
func (l *EventLog) AddRefund(b *store.Batch, v *store.Mapping, balance sms.Money, wall int64) {
	l.addBalance(b, events.BalanceEvent{
		ID: v.ID, Account: string(v.Account), Network: v.Network, Refund: v.Price, Balance: balance, At: wall,
	})
}

// addBalance adds an event about the balance of an account to the open batch, if there are events.
func (l *EventLog) addBalance(b *store.Batch, e events.BalanceEvent) {
	if l.Writer == nil {
		return
	}
	e.Number = l.Writer.Next()
	l.line = l.printer.AppendBalance(l.line[:0], &e)
	b.Event(e.Number, l.line)
}

// full reports whether too many events wait, so that no more messages may end.
func (l *EventLog) full() bool {
	if l.Writer == nil || !l.Writer.Full() {
		return false
	}
	l.halted.Store(true)
	return l.Writer.Full() // events that are written after this line see halted set
}

// GoesOn reports whether messages may leave again. It returns true once.
func (l *EventLog) GoesOn() bool {
	return l.halted.Load() && !l.Writer.Full() && l.halted.Swap(false)
}

// slowEvents is how long the disk of the events may work on one operation before the operator is
// warned.
const slowEvents = 5 * time.Second

// CheckEvents logs the reasons if events are delayed. It is called about once a second.
func (d *Settler) CheckEvents() {
	w := d.Events.Writer
	if w == nil {
		return
	}
	if took, slow := w.Slow(slowEvents); slow && d.node.Repeats.First("slow events") {
		d.node.Log.Error().Stringer("since", took.Round(time.Millisecond)).Uint64("waiting", w.Waiting()).
			Msg("the disk of events.dir does not answer: events wait in the store; look at the disk")
	}
	if w.Full() && d.node.Repeats.First("events full") {
		d.node.Log.Error().Uint64("waiting", w.Waiting()).
			Msg("no message is sent, because too many events wait to be written; look at the disk of events.dir")
	}
}

// CloseEvents writes the events that wait, and sends the traces.
func (d *Settler) CloseEvents() error {
	defer d.closeTraces()
	if d.Events.Writer == nil {
		return nil
	}
	failed := d.keep.Batches.Sync()
	if err := d.Events.Writer.Close(); err != nil {
		return err
	}
	if failed != nil {
		return fmt.Errorf("cannot write all events: %w", failed)
	}
	return nil
}

// Writer returns the writer of events, or nil if events.dir is not set.
func (d *Settler) Writer() *events.Writer { return d.Events.Writer }
