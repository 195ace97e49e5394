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
)

// Options are how a journal is opened.
type Options struct {
	Servers string        // URLs, with commas between them
	Connect []nats.Option // of the account that has the stream: credentials, TLS; time limits and retries are set here
	// System are those of the servers' system account, which Open needs unless Unsafe is set: no other account may read whether
	// the servers sync each append.
	System    []nats.Option
	Stream    string // its name, and the only subject
	Replicas  int    // if the stream is made here; 0: minReplicas
	MaxOctets int64  // if the stream is made here; Append fails with journal.ErrFull behind it. 0: no limit
	Unsafe    bool   // accepts servers and a stream that may lose what was appended

	waits *waits // tests change them
}

// ErrRefused is that of Open if the servers or the stream are not as a journal needs them.
var ErrRefused = errors.New("NATS is not as the journal needs it")

// Damage is the error if the stream does not have what was appended, or has something else. Nothing is appended any more
// through a journal that has found some.
type Damage struct {
	Stream string
	First  journal.Seq // the first place that is damaged
	Why    string
}

// Error says which stream is damaged, and where.
func (d *Damage) Error() string {
	return fmt.Sprintf("the stream %s of the journal is damaged at %d: %s", d.Stream, d.First, d.Why)
}

// waits are how long answers of the servers are waited for.
type waits struct {
	first  time.Duration // for the first acknowledgement of a small record
	ask    time.Duration // for what a journal asks
	status time.Duration // for what Status asks
}

func usualWaits() *waits {
	return &waits{first: time.Second, ask: 5 * time.Second, status: time.Second}
}

const (
	restWait = 100 * time.Millisecond // before something is tried again
	// patience is how long Follow waits for a record. A new leader is elected in 4 to 9 s.
	patience = 30 * time.Second
)

// A Journal is a journal in a stream. It is made by Open.
type Journal struct {
	stream jetstream.Stream
	name   string
	made   time.Time // when the stream was made
	conn   *nats.Conn
	acks   *nats.Subscription // on all subjects below inbox
	inbox  string
	limit  int             // octets of a message, by the stream's configuration
	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	waits  *waits
	slot   chan struct{} // has one element; the one that has taken it appends

	appended uint64 // how many attempts there were; guarded by slot, as is buf
	buf      []byte

	mu     sync.Mutex
	acked  journal.Seq // the highest that was acknowledged here, or was there at the start
	last   journal.Seq // the highest that is known
	status journal.Status
	delay  error
	fault  error
}

// Open opens the journal in a stream, and makes the stream if there is none. It tries until it succeeds, until ctx ends, or until
// it finds something that is refused (ErrRefused).
//
// It refuses a stream with fewer than three replicas, and servers of that stream that are older than 2.15.1 or do not sync each
// append (sync_interval: always), unless Unsafe is set. It reads that of the servers that answer, which must be most of
// those that have the stream. It does not notice a server that changes later.
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

// use makes a journal on a connection.
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
		stream: stream, name: o.Stream, made: info.Created, conn: conn, inbox: conn.NewInbox(), limit: maxMessage,
		slot: make(chan struct{}, 1), waits: o.waits,
		acked: journal.Seq(info.State.LastSeq), last: journal.Seq(info.State.LastSeq),
	}
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

// Connect connects to one of the servers, once. Later it connects again for as long as it takes.
func Connect(servers string, options []nats.Option) (*nats.Conn, error) {
	return nats.Connect(servers, append(options[:len(options):len(options)],
		nats.Timeout(2*time.Second), nats.MaxReconnects(-1), nats.ReconnectWait(restWait), nats.IgnoreAuthErrorAbort(),
		nats.PingInterval(500*time.Millisecond), nats.MaxPingsOutstanding(2), // a server that stands still is left soon
		nats.FlusherTimeout(2*time.Second),
		nats.ReconnectBufSize(-1), // the journal itself repeats what did not leave
	)...)
}

// rest waits before something is tried again, and reports false if ctx ends before that.
func rest(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(restWait):
		return true
	}
}

// state asks the stream's leader what the stream has.
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

// Status implements journal.Journal. It asks the servers, for a second at most; without an answer it is as it last was.
func (j *Journal) Status() journal.Status {
	_, _ = j.state(j.waits.status)
	j.mu.Lock()
	defer j.mu.Unlock()
	s := j.status
	s.Last, s.Synced, s.Fault = j.last, j.last, j.fault
	return s
}

// Origin returns a name that no other journal has: that of the stream, and when it was made.
func (j *Journal) Origin() string { return j.name + " " + j.made.UTC().Format(time.RFC3339Nano) }

// Delay returns why the record that is being appended was not acknowledged at its first attempt, nil if there is none.
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

// Close implements journal.Journal. It ends an Append that waits, and those that follow.
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
