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

// How many events may wait in the store until no more messages are sent. One takes about 400
// octets.
const (
	maxEvents       = 1 << 20
	maxMemoryEvents = 1 << 16 // the engine memory forgets the oldest of four times as many
)

// EventLog records how messages have ended, if events.dir is set.
type EventLog struct {
	Writer *events.Writer // set before the engine starts; nil: there is none
	halted atomic.Bool    // messages have been kept from leaving because too many events wait

	printer  events.Printer  // guarded by the committer's lock
	delivery events.Delivery // guarded by the committer's lock
	line     []byte          // guarded by the committer's lock
}

// OpenEvents begins to write events, and to send traces.
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

// dropEvents drops the events up to a number from the store. They are safe in a file. That of a cluster keeps the last
// one, so that another node, which does not have this file, goes on with the number behind it.
func (d *Settler) dropEvents(upTo uint64) {
	if upTo > 0 && d.node.Config().Cluster.Node != "" {
		upTo--
	}
	d.keep.Batches.Write(func(b *store.Batch) { b.DropEvents(upTo) })
	if d.Events.halted.Load() {
		d.keep.Batches.Commit() // after which messages leave again
	}
}

// AttemptsOf returns how often a message was sent that ends with a code, and was written
// last at the time sent. An attempt that the peer has refused for a while, or not answered, is
// counted when that is known; so one that is answered late was counted before.
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
		Part: m.Part, Parts: m.Parts, Tags: m.Tags(), Network: m.Network, Price: e.Charge,
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

// full reports whether no more messages may end, because too many events wait.
func (l *EventLog) full() bool {
	if l.Writer == nil || !l.Writer.Full() {
		return false
	}
	l.halted.Store(true)
	return l.Writer.Full() // those written from now on find halted set
}

// GoesOn reports, once, that messages may leave again.
func (l *EventLog) GoesOn() bool {
	return l.halted.Load() && !l.Writer.Full() && l.halted.Swap(false)
}

// slowEvents is how long the disk of the events may work on something until the operator is warned.
const slowEvents = 5 * time.Second

// CheckEvents logs what delays events, about once a second.
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

// Writer returns the writer of events, nil if events.dir is not set.
func (d *Settler) Writer() *events.Writer { return d.Events.Writer }
