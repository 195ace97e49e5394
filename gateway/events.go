package gateway

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"pmg/config"
	"pmg/events"
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

// eventLog notes how messages have ended, if events.dir is set.
type eventLog struct {
	writer *events.Writer // nil: it is not set
	halted atomic.Bool    // messages have been kept from leaving because too many events wait

	// The committer's lock guards these.
	printer  events.Printer
	delivery events.Delivery
	line     []byte
}

// openEvents begins to write events.
func (g *Gateway) openEvents() error {
	cfg := &g.Config().Events
	if cfg.Dir == "" {
		return nil
	}
	o := eventOptions(cfg, g.Log)
	if !g.Store.Durable() {
		o.MaxWaiting = maxMemoryEvents
	}
	var err error
	g.events.writer, err = events.Open(o, g.Store, g.dropEvents)
	return err
}

// eventOptions returns the options of a writer for a durable store.
func eventOptions(cfg *config.Events, log zerolog.Logger) events.Options {
	return events.Options{
		Options: logfile.Options{
			MaxSize: int64(cfg.MaxSize), MaxTotal: int64(cfg.MaxTotal), RotateEvery: cfg.RotateEvery,
			Keep: cfg.Keep, KeepAge: cfg.KeepAge, Compress: logfile.Compression(cfg.Compress),
		},
		Dir: cfg.Dir, MaxWaiting: maxEvents, Log: log,
	}
}

// dropEvents has the store drop the events up to a number, which are safe in a file.
func (g *Gateway) dropEvents(upTo uint64) {
	g.Committer.Begin().DropEvents(upTo)
	g.Committer.End()
	if g.events.halted.Load() {
		g.Committer.Commit() // after which messages leave again
	}
}

// attemptsOf returns how often a message was sent that ends with a code, and was written
// last at the time sent. An attempt that the peer has refused for a while, or not answered, is
// counted when that is known; so one that is answered late was counted before.
func attemptsOf(m *sms.Message, code sms.Code, sent int64) uint8 {
	n := int(m.Attempts) + int(m.Earlier)
	if s := events.StateOf(code); sent != 0 && m.Flags&sms.Settled == 0 && (s == events.Sent || s == events.Rejected) {
		n++
	}
	return uint8(min(n, mostCounted))
}

// note adds the event of a message to the open batch.
func (l *eventLog) note(b *store.Batch, m *sms.Message, e *keep.Ending, ahead int64) {
	n := l.writer.Next()
	v := events.Event{
		Number: n, ID: m.ID, Kind: m.Kind, State: e.State, Reason: e.Answer.Code,
		ToConnector: e.Lane.Connector, ToAccount: e.Lane.Account,
		Source: m.Source().Addr, Destination: m.Dest().Addr,
		Accepted: m.Arrived + ahead, Attempts: int(e.Attempts), Sends: int(m.Sends), PeerID: e.Answer.PeerID,
		Part: m.Part, Parts: m.Parts,
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
		l.delivery = events.Delivery{Client: r.Known, Peer: r.ID, State: r.State, Error: r.Err, Network: r.Network, NetworkError: r.NetworkError}
		v.Delivery = &l.delivery
	}
	l.line = l.printer.Append(l.line[:0], &v)
	b.Event(n, l.line)
}

// full reports whether no more messages may end, because too many events wait.
func (l *eventLog) full() bool {
	if l.writer == nil || !l.writer.Full() {
		return false
	}
	l.halted.Store(true)
	return l.writer.Full() // those written from now on find halted set
}

// goesOn reports, once, that messages may leave again.
func (l *eventLog) goesOn() bool {
	return l.halted.Load() && !l.writer.Full() && l.halted.Swap(false)
}

// slowEvents is how long the disk of the events may work on something until the operator is
// told.
const slowEvents = 5 * time.Second

// checkEvents tells the operator what delays events, about once a second.
func (g *Gateway) checkEvents() {
	w := g.events.writer
	if w == nil {
		return
	}
	if took, slow := w.Slow(slowEvents); slow && g.News.Is("slow events") {
		g.Log.Error().Stringer("since", took.Round(time.Millisecond)).Uint64("waiting", w.Waiting()).
			Msg("the disk of events.dir does not answer: events wait in the store; look at the disk")
	}
	if w.Full() && g.News.Is("events full") {
		g.Log.Error().Uint64("waiting", w.Waiting()).
			Msg("no message is sent, because too many events wait to be written; look at the disk of events.dir")
	}
}

// closeEvents writes the events that wait.
func (g *Gateway) closeEvents() error {
	if g.events.writer == nil {
		return nil
	}
	failed := g.Committer.Sync()
	if err := g.events.writer.Close(); err != nil {
		return err
	}
	if failed != nil {
		return fmt.Errorf("cannot write all events: %w", failed)
	}
	return nil
}

// Events returns the writer of events, nil if events.dir is not set.
func (g *Gateway) Events() *events.Writer { return g.events.writer }
