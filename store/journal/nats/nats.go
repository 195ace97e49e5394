// Package nats is a journal on a stream of NATS JetStream, which keeps it on several machines. Several nodes append to one
// stream, and each reads what all have appended.
//
// A record is a message of the stream, and its place is the message's sequence number. A record that is larger than a message
// may be is a batch of messages that the servers store together or not, side by side; its place is that of the last one.
// So places rise, and not always by one.
//
// An append that is not acknowledged is repeated, and so a record may be in the stream twice: then its ID, which rises for each
// run, is not above the last one of that run, and the reader drops it. The window of Nats-Msg-Id is not needed for that, and
// is not used.
//
// A client that may publish in the account of the stream may publish anything. So each message is authenticated, and readers
// ignore what is not a frame of a node with the secret. A lost frame is still noticed, because the numbers of IDs have no gaps.
//
// # Start reading
//
// frame.go (the octets), nats.go, append.go, follow.go, demand.go (what servers and stream must be like).
package nats

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"pmg/store/journal"
	"pmg/store/seal"
)

// Options are the parameters with which a journal is opened.
type Options struct {
	Servers string        // URLs, separated by commas
	Connect []nats.Option // options for the account that owns the stream: credentials, TLS; Open sets time limits and retries
	// System are the options for the servers' system account. Open needs them unless Unsafe is set,
	// because no other account may read whether the servers sync each append.
	System []nats.Option
	// Secrets are what all nodes have in common: the first encrypts and authenticates records, all
	// decrypt. A message that none of them can decrypt is no record.
	Secrets   []string
	Stream    string // the name of the stream, which is also its only subject
	Replicas  int    // number of replicas, if Open creates the stream; 0: minReplicas
	MaxOctets int64  // limit of the stream, if Open creates it; Append returns journal.ErrFull at the limit. 0: no limit
	Unsafe    bool   // also accepts servers and a stream that may lose appended records
	// Failed is called with the error of each failed attempt of Open; nil: it is not called.
	Failed func(error)

	waits *waits // changed by tests only
}

// ErrRefused is the error of Open if the servers or the stream do not meet the requirements of a
// journal.
var ErrRefused = errors.New("NATS is not as the journal needs it")

// A Damage is the error if the stream lacks appended records or has others instead. A journal that
// has found damage appends nothing any more.
type Damage struct {
	Stream string
	First  journal.Seq // the first damaged place
	Why    string
}

// Error returns a text with the name of the stream and the damaged place.
func (d *Damage) Error() string {
	return fmt.Sprintf("the stream %s of the journal is damaged at %d: %s", d.Stream, d.First, d.Why)
}

// waits are the times for which a journal waits for answers of the servers.
type waits struct {
	first  time.Duration // wait for the first acknowledgement of a small record
	ask    time.Duration // wait for the answer to a request of the journal
	status time.Duration // wait for the answer to a request of Status
}

func usualWaits() *waits {
	return &waits{first: time.Second, ask: 5 * time.Second, status: time.Second}
}

const (
	restWait = 100 * time.Millisecond // pause before an attempt is repeated
	// patience is how long Follow waits for a record. A new leader is elected in 4 to 9 s.
	patience = 30 * time.Second
)

// A Journal is a journal in a stream. Open makes it.
type Journal struct {
	o      Options
	js     jetstream.JetStream
	stream jetstream.Stream
	most   int64 // limit of the stream in octets; 0: no limit
	name   string
	made   time.Time // when the stream was created
	conn   *nats.Conn
	acks   *nats.Subscription // subscription to all subjects below inbox
	inbox  string
	limit  int             // maximum octets of a message, by the stream's configuration
	ctx    context.Context // ends when the journal is closed
	cancel context.CancelFunc
	waits  *waits
	slot   chan struct{} // has one element; the goroutine that has taken the element may append
	sealer *seal.Sealer

	appended uint64 // number of attempts so far; slot guards appended, framer and buf
	framer   framer
	buf      []byte

	mu     sync.Mutex
	acked  journal.Seq // the highest place that was acknowledged, or existed at the start
	last   journal.Seq // the highest known place
	status journal.Status
	delay  error
	fault  error
}

// Open opens the journal in a stream, and creates the stream if it does not exist. It tries until
// it succeeds, until ctx ends, or until it finds something that is refused (ErrRefused).
//
// It refuses a stream with fewer than three replicas, and servers of that stream that are older
// than 2.15.1 or do not sync each append (sync_interval: always), unless Unsafe is set. It checks
// the servers that answer. Most of the servers that have the stream must answer. Later changes of a
// server are not noticed.
func Open(ctx context.Context, o Options) (*Journal, error) {
	o.waits = cmp.Or(o.waits, usualWaits())
	if o.Replicas == 0 {
		o.Replicas = minReplicas
	}
	for {
		j, err := open(ctx, o)
		if err == nil {
			return j, nil
		}
		if o.Failed != nil {
			o.Failed(Explain(ctx, o, err))
		}
		if !errors.Is(err, ErrRefused) && rest(ctx) {
			continue
		}
		return nil, fmt.Errorf("cannot open the journal in the stream %s of NATS: %w", o.Stream, err)
	}
}

func open(ctx context.Context, o Options) (*Journal, error) {
	conn, err := Connect(o.Servers, o.Connect)
	if err != nil {
		return nil, err
	}
	j, err := use(ctx, conn, o)
	if err != nil {
		conn.Close()
	}
	return j, err
}

// use makes a journal that uses a connection.
func use(ctx context.Context, conn *nats.Conn, o Options) (*Journal, error) {
	ctx, cancel := context.WithTimeout(ctx, o.waits.ask)
	defer cancel()
	js, err := jetstream.New(conn)
	if err != nil {
		return nil, err
	}
	stream, err := streamOf(ctx, js, o)
	if err != nil {
		return nil, err
	}
	info, err := stream.Info(ctx)
	if err != nil {
		return nil, err
	}
	if err := demand(ctx, conn, info, o); err != nil {
		return nil, err
	}
	j := &Journal{
		o: o, js: js, stream: stream, most: max(info.Config.MaxBytes, 0), name: o.Stream,
		made: info.Created, conn: conn, inbox: conn.NewInbox(), limit: maxMessage,
		slot: make(chan struct{}, 1), waits: o.waits,
		acked: journal.Seq(info.State.LastSeq), last: journal.Seq(info.State.LastSeq),
	}
	if j.sealer, err = newSealer(o.Secrets, j.Origin()); err != nil {
		return nil, err
	}
	j.framer.sealer = j.sealer
	if n := int(info.Config.MaxMsgSize); n > 0 {
		j.limit = min(j.limit, n)
	}
	if j.acks, err = conn.SubscribeSync(j.inbox + ".*"); err != nil {
		return nil, err
	}
	j.ctx, j.cancel = context.WithCancel(context.Background())
	j.slot <- struct{}{}
	return j, nil
}

// Remove removes the stream of a journal, with all its records. Open makes a new one.
func Remove(ctx context.Context, o Options) error {
	conn, err := Connect(o.Servers, o.Connect)
	if err != nil {
		return err
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err == nil {
		err = js.DeleteStream(ctx, o.Stream)
	}
	if err != nil && !errors.Is(err, jetstream.ErrStreamNotFound) {
		return fmt.Errorf("cannot remove the stream %s: %w", o.Stream, err)
	}
	return nil
}

// Connect connects to one of the servers. It makes one attempt. After a loss of the connection, it
// reconnects without a time limit.
func Connect(servers string, options []nats.Option) (*nats.Conn, error) {
	return nats.Connect(servers, append(options[:len(options):len(options)],
		nats.Timeout(2*time.Second), nats.MaxReconnects(-1), nats.ReconnectWait(restWait), nats.IgnoreAuthErrorAbort(),
		nats.PingInterval(500*time.Millisecond), nats.MaxPingsOutstanding(2), // a hanging server is soon given up
		nats.FlusherTimeout(2*time.Second),
		nats.ReconnectBufSize(-1), // the journal itself repeats what was not sent
	)...)
}

// rest waits before an attempt is repeated. It returns false if ctx ends first.
func rest(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(restWait):
		return true
	}
}

// state asks the stream's leader for the state of the stream.
func (j *Journal) state(wait time.Duration) (s jetstream.StreamState, err error) {
	ctx, cancel := context.WithTimeout(j.ctx, wait)
	defer cancel()
	info, err := j.stream.Info(ctx)
	if err != nil {
		return s, fmt.Errorf("cannot read the state of the stream %s: %w", j.name, err)
	}
	s = info.State
	j.mu.Lock()
	defer j.mu.Unlock()
	j.last = max(j.last, journal.Seq(s.LastSeq))
	j.status = journal.Status{Octets: int64(s.Bytes)}
	if s.Msgs > 0 {
		j.status.First = journal.Seq(s.FirstSeq)
	}
	return s, nil
}

// Status implements journal.Journal. It asks the servers and waits for at most a second. Without an
// answer it returns the previous status.
func (j *Journal) Status() journal.Status {
	_, _ = j.state(j.waits.status)
	j.mu.Lock()
	defer j.mu.Unlock()
	s := j.status
	s.Last, s.Synced, s.Fault = j.last, j.last, j.fault
	return s
}

// IsUnused reports whether nothing was ever appended to the stream, as the servers know now.
func (j *Journal) IsUnused() (bool, error) {
	s, err := j.state(j.waits.status)
	return s.LastSeq == 0, err
}

// Origin returns a unique name of the journal: the name of the stream, and the time of the stream's
// creation.
func (j *Journal) Origin() string { return j.name + " " + j.made.UTC().Format(time.RFC3339Nano) }

// Delay returns why the first attempt to append the current record was not acknowledged. It returns
// nil if there is no delay.
func (j *Journal) Delay() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.delay
}

// fail records that the stream is damaged.
func (j *Journal) fail(d *Damage) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.fault == nil {
		j.fault = d
	}
	return d
}

// Close implements journal.Journal. A waiting Append and all later ones return an error.
func (j *Journal) Close() error {
	j.mu.Lock()
	closed := j.ctx.Err() != nil
	j.cancel()
	j.mu.Unlock()
	if closed {
		return journal.ErrClosed
	}
	j.conn.Close()
	return nil
}

var _ journal.Journal = (*Journal)(nil)
