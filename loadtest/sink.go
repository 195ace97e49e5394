package loadtest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// SinkOptions are the options of the SMSC simulator. The zero value accepts every login
// and every message.
type SinkOptions struct {
	Listen   string        // host:port; port 0 stands for a free port
	Protocol string        // smpp if empty
	Delay    time.Duration // before a submit is answered
	Receipts bool          // submits that ask for it get a delivery receipt
	Receipt  ReceiptOptions
	Orders   bool      // texts of messages order what is done with them, see orders
	MO       MOOptions // messages that the sink sends
	Window   int       // receipts and messages of the sink that are unanswered on each session; 0: DefaultWindow
	SystemID string    // the only system_id that may bind; empty: any
	Password string    // the only password that is accepted; empty: any
	Content  *Content  // of all messages that have a number; nil: it is not checked
	Messages int64     // Done is closed when this many different messages have arrived; 0: never
	Faults
}

// A Sink is a running SMSC simulator.
type Sink struct {
	o        SinkOptions
	listener net.Listener
	began    time.Time
	closing  chan struct{}
	done     chan struct{}
	doneOnce sync.Once
	running  sync.WaitGroup

	seen   Numbers
	counts sinkCounts
	later  *later
	mo     atomic.Pointer[moSource] // nil until a session can receive

	mu           sync.Mutex
	closed       bool
	sessions     map[*session]struct{}
	last         uint64     // number of the last session
	receivers    []*session // sessions that have logged in and can receive
	nextReceiver int
	waiting      map[waitingFor]*fifo // deliveries without a receiver
	waitingCount atomic.Int64
}

// DefaultWindow is how many deliveries of a sink are unanswered on a session.
const DefaultWindow = 10

// sinkCounts are the counters of a sink. Sessions add to them a batch at a time.
type sinkCounts struct {
	nth                         atomic.Int64 // submits, for faults of every nth one
	ids                         atomic.Int64 // message ids, if they are times
	submits, accepted           atomic.Int64
	throttled, refused, dropped atomic.Int64
	unbinds, twice, late        atomic.Int64
	malformed, unnumbered       atomic.Int64
	changed                     atomic.Int64
	receipts, receiptsAnswered  atomic.Int64
	receiptsRefused             atomic.Int64
	mo, moAnswered, moRefused   atomic.Int64
	delivered, again            atomic.Int64 // deliveries written; those to be written again
	unexpected, answersLater    atomic.Int64
	binds, bindsRefused         atomic.Int64
	bindsClosed                 atomic.Int64
	first, last                 atomic.Int64 // times of submits
}

// SinkResult is the result of a sink. The JSON names are stable.
type SinkResult struct {
	Submits           int64   `json:"submits"`    // received
	Accepted          int64   `json:"accepted"`   // answered with status 0
	Unique            int64   `json:"unique"`     // different messages among them
	Doubled           int64   `json:"doubled"`    // accepted, but not for the first time
	Missing           int64   `json:"missing"`    // up to the expected number; if there is none, gaps between the numbers
	Unnumbered        int64   `json:"unnumbered"` // accepted, but without a message number
	Changed           int64   `json:"changed"`    // accepted, but with other octets, another coding or another header than SinkOptions.Content
	Throttled         int64   `json:"throttled"`  // answered ESME_RTHROTTLED or ESME_RMSGQFUL
	Refused           int64   `json:"refused"`    // answered with another status
	Dropped           int64   `json:"dropped"`    // connections closed instead of an answer
	Unbinds           int64   `json:"unbinds"`    // sessions that the sink ended with an unbind
	Twice             int64   `json:"twice"`      // accepted and answered a second time
	Late              int64   `json:"late"`       // accepted and answered late
	Malformed         int64   `json:"malformed"`  // PDUs and orders that could not be read
	Binds             int64   `json:"binds"`
	BindsRefused      int64   `json:"binds_refused"`
	BindsClosed       int64   `json:"binds_closed"` // accepted, and the connection closed after the answer
	Receipts          int64   `json:"receipts"`     // receipts that messages have asked for
	ReceiptsAnswered  int64   `json:"receipts_answered"`
	ReceiptsRefused   int64   `json:"receipts_refused"` // answered with a status that does not allow to send them again
	MO                int64   `json:"mo"`               // messages of the sink
	MOAnswered        int64   `json:"mo_answered"`
	MORefused         int64   `json:"mo_refused"`
	Redelivered       int64   `json:"redelivered"`         // receipts and messages of the sink that had to be sent again
	Unexpected        int64   `json:"unexpected"`          // answers without a request
	Seconds           float64 `json:"seconds"`             // from the first submit to the last
	MessagesPerSecond float64 `json:"messages_per_second"` // accepted ones

	seen *Numbers
}

// Numbers implements Received.
func (r *SinkResult) Numbers() *Numbers { return r.seen }

// Problems describes messages that are missing, doubled or malformed. Nil is a clean run.
func (r *SinkResult) Problems() []string {
	var p problems
	p.count(r.Missing, "missing")
	p.count(r.Doubled, "doubled")
	p.count(r.Malformed, "malformed")
	p.count(r.Changed, "with another text")
	p.count(r.ReceiptsRefused, "receipts refused")
	p.count(r.Receipts-r.ReceiptsAnswered-r.ReceiptsRefused, "receipts not delivered")
	p.count(r.MORefused, "mobile-originated messages refused")
	p.count(r.MO-r.MOAnswered-r.MORefused, "mobile-originated messages not delivered")
	p.count(r.Unexpected, "answered twice or unasked")
	return p
}

func (o *SinkOptions) check() error {
	if o.Receipt.First && o.Delay > 0 {
		return errors.New("a receipt that comes before the answer needs an answer without delay")
	}
	w, err := newWire(o.Protocol)
	if err != nil {
		return err
	}
	if w.idsAreTimes() &&
		(o.Receipt.answerForm() != HexForm || o.Receipt.receiptForm() != HexForm || o.Receipt.Format != ReceiptBoth) {
		return fmt.Errorf("%s has one form of message ids and of receipts", o.Protocol)
	}
	if len(w.appendLogout(nil, 1)) == 0 && o.UnbindEvery > 0 {
		return fmt.Errorf("%s has no unbind", o.Protocol)
	}
	var content error
	if o.Content != nil {
		content = o.Content.check()
	}
	return errors.Join(checkWindow(o.Window, w), o.Receipt.Check(), o.MO.check(), content)
}

// StartSink listens and serves until Close.
func StartSink(o SinkOptions) (*Sink, error) {
	if o.Window == 0 {
		o.Window = DefaultWindow
	}
	if len(o.MO.To) == 0 {
		o.MO.To = []string{DefaultLoadOptions().Source}
	}
	if o.MO.From == "" {
		o.MO.From = "46709999999"
	}
	if err := o.check(); err != nil {
		return nil, fmt.Errorf("cannot start sink: %w", err)
	}
	listener, err := net.Listen("tcp", o.Listen)
	if err != nil {
		return nil, fmt.Errorf("cannot start sink: %w", err)
	}
	s := &Sink{
		o: o, listener: listener, began: time.Now(),
		closing:  make(chan struct{}),
		done:     make(chan struct{}),
		sessions: map[*session]struct{}{},
		waiting:  map[waitingFor]*fifo{},
	}
	if o.delivers() {
		s.later = newLater(s)
		s.running.Go(s.later.run)
	}
	s.running.Go(s.accept) // last: a session may use all of the sink
	return s, nil
}

// Addr returns the address that the sink listens on.
func (s *Sink) Addr() string { return s.listener.Addr().String() }

// Done returns a channel that is closed when SinkOptions.Messages messages have arrived
// and were answered, their receipts were answered, and so were SinkOptions.MO.Count messages
// of the sink. It stays open if neither number is given.
func (s *Sink) Done() <-chan struct{} { return s.done }

// Await waits until unique different messages have arrived, or ctx ends.
func (s *Sink) Await(ctx context.Context, unique int64) error {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for s.seen.unique.Load() < unique {
		select {
		case <-ctx.Done():
			return fmt.Errorf("cannot receive %d messages, only %d arrived: %w", unique, s.seen.unique.Load(), ctx.Err())
		case <-tick.C:
		}
	}
	return nil
}

// Close stops accepting connections, unbinds all sessions and returns when they are over.
// PDUs that arrive before a peer answers the unbind are still answered.
func (s *Sink) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	close(s.closing)
	err := s.listener.Close()
	for one := range s.sessions {
		s.running.Go(one.unbind)
	}
	s.mu.Unlock()
	s.running.Wait()
	return err
}

// Result returns the counts up to now.
func (s *Sink) Result() *SinkResult {
	c := &s.counts
	r := &SinkResult{
		Submits: c.submits.Load(), Accepted: c.accepted.Load(),
		Unique: s.seen.unique.Load(), Doubled: s.seen.doubled.Load(), Missing: s.seen.Gaps(),
		Unnumbered: c.unnumbered.Load(), Changed: c.changed.Load(), Throttled: c.throttled.Load(), Refused: c.refused.Load(),
		Dropped: c.dropped.Load(), Malformed: c.malformed.Load(),
		Unbinds: c.unbinds.Load(), Twice: c.twice.Load(), Late: c.late.Load(),
		Binds: c.binds.Load(), BindsRefused: c.bindsRefused.Load(), BindsClosed: c.bindsClosed.Load(),
		Receipts: c.receipts.Load(), ReceiptsAnswered: c.receiptsAnswered.Load(), ReceiptsRefused: c.receiptsRefused.Load(),
		MO: c.mo.Load(), MOAnswered: c.moAnswered.Load(), MORefused: c.moRefused.Load(),
		Redelivered: c.again.Load(), Unexpected: c.unexpected.Load(),
		seen: &s.seen,
	}
	if s.o.Messages > 0 {
		r.Missing = max(0, s.o.Messages-r.Unique)
	}
	r.Seconds = time.Duration(c.last.Load() - c.first.Load()).Seconds()
	if r.Seconds > 0 {
		r.MessagesPerSecond = float64(r.Accepted) / r.Seconds
	}
	return r
}

// accept accepts connections until the listener is closed. When there is no free
// descriptor, it waits for one.
func (s *Sink) accept() {
	for {
		conn, err := s.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			select {
			case <-s.closing:
				return
			case <-time.After(50 * time.Millisecond):
			}
			continue
		}
		s.begin(conn)
	}
}

func (s *Sink) begin(conn net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		conn.Close()
		return
	}
	s.last++
	one := newSession(s, conn, s.last)
	s.sessions[one] = struct{}{}
	s.running.Go(one.serve)
}

func (s *Sink) end(one *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sessions, one)
}

// add counts a batch and empties it.
func (s *Sink) add(b *sinkBatch) {
	c := &s.counts
	add := func(to *atomic.Int64, n int64) {
		if n != 0 {
			to.Add(n)
		}
	}
	if b.submits > 0 {
		now := s.now()
		if c.first.Load() == 0 {
			c.first.CompareAndSwap(0, now)
		}
		c.last.Store(now)
	}
	add(&c.submits, b.submits)
	add(&c.accepted, b.accepted)
	add(&c.throttled, b.throttled)
	add(&c.refused, b.refused)
	add(&c.dropped, b.dropped)
	add(&c.unbinds, b.unbinds)
	add(&c.twice, b.twice)
	add(&c.late, b.late)
	add(&c.malformed, b.malformed)
	add(&c.unnumbered, b.unnumbered)
	add(&c.changed, b.changed)
	add(&c.receipts, b.receipts)
	s.seen.Mark(b.numbers)
	*b = sinkBatch{numbers: b.numbers[:0], answered: b.answered, mail: b.mail, elsewhere: b.elsewhere}
}

// answered is called after answers were written, or deliveries were answered.
func (s *Sink) answered() {
	c, o := &s.counts, &s.o
	if o.Messages == 0 && o.MO.Count == 0 || s.seen.unique.Load() < o.Messages || c.answersLater.Load() > 0 {
		return
	}
	ended := c.receiptsAnswered.Load() + c.receiptsRefused.Load()
	if mo := c.moAnswered.Load() + c.moRefused.Load(); ended >= c.receipts.Load() && mo >= o.MO.Count {
		s.doneOnce.Do(func() { close(s.done) })
	}
}
