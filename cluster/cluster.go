// Package cluster is one node of several. One node owns the work, and the others follow: their stores are copies of the owner's,
// and one of them takes the work over when the owner is gone.
//
//	store/journal/nats ──► follow ──► shared.Judge ──► store.Copy     every node
//	lease.Holder ──► TakeOver ──► shared.Own ──► gateway        the owner
//	cells: owner, node.NAME, drain.NAME, move, check, reach     what nodes know of each other, and what operators ask for
//
// # Start reading
//
// cluster.go, follow.go (a node that stands by, and how it takes over), tick.go (what is done each second), trim.go, measure.go,
// reach.go.
package cluster

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"sync"
	"sync/atomic"
	"time"

	client "github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"pmg/cluster/cells"
	"pmg/cluster/lease"
	"pmg/cluster/report"
	"pmg/store"
	"pmg/store/journal/nats"
	"pmg/store/journal/shared"
)

// Options are the parameters of a node of the cluster.
type Options struct {
	Node      string          // name of the node; see lease.CheckNode
	Servers   string          // URLs of the NATS servers, separated by commas
	Connect   []client.Option // options for the account that owns the stream and the bucket
	System    []client.Option // options for the system account of the servers; see nats.Options
	Secrets   []string        // what the nodes have in common; see nats.Options
	Stream    string          // name of the stream; the name of the bucket is derived from it
	Replicas  int             // number of replicas, if Open creates stream and bucket
	MaxOctets int64           // limit of the stream, if Open creates it; 0: no limit
	Unsafe    bool            // also accepts servers and a stream that may lose appended records
	Lease     lease.Options   // the times; Open sets the other fields
	Keep      time.Duration   // how long the stream keeps records that no present node needs, for nodes that are away
	Dir       string          // directory of the copy
	Store     store.Options   // options of the copy; Open sets Journal and Origin
	Config    string          // hash of the configuration that all nodes must share
	SMSCs     []SMSC          // those of the configuration to which the gateway connects
	Version   string          // version of the program
	// HandOverAfter is how long the owner must be without a session with an SMSC before it hands the work over to a node that
	// reaches more SMSCs. 0: it does not.
	HandOverAfter time.Duration
	Log           zerolog.Logger
	Failed        func(error) // called with the error of each failed attempt to use the servers; nil: it is not called
}

// Bucket returns the name of the bucket that belongs to a stream.
func Bucket(stream string) string { return stream + "_CELLS" }

// A Node is this process as a node of the cluster. Its methods are safe for concurrent use.
type Node struct {
	o       Options
	journal *nats.Journal
	shared  *shared.Journal
	bucket  *cells.Bucket
	store   *store.Copy
	holder  *lease.Holder

	ctx     context.Context // ends with the node; the cause is the reason
	end     context.CancelCauseFunc
	running sync.WaitGroup
	follows context.CancelFunc
	stopped chan struct{} // closed when the node does not follow the journal any more
	handing chan string   // receives the node to which the work is to move; "": any node
	began   time.Time
	first   uint64      // place of the last record of the journal at the start
	working atomic.Bool // the gateway uses the store
	config  atomic.Pointer[string]
	reason  atomic.Pointer[reason]
	seen    atomic.Pointer[[]State] // the latest published states of all nodes
	sum     atomic.Pointer[Sum]
	full    atomic.Pointer[report.Fullness]
	smscs   smscs
	unseen  atomic.Pointer[error]    // why the last tick has failed; nil: it has not
	sick    atomic.Pointer[[]string] // what the servers said in trouble that is wrong with them; nil: there was none
	summing sync.Mutex               // held while the store is read for a hash
	closed  bool                     // the gateway has closed the store; guarded by summing
}

// Open connects to the servers, opens the copy and begins to follow. It tries until it succeeds,
// until ctx ends, or until an error occurs that only an operator can correct.
func Open(ctx context.Context, o Options) (*Node, error) {
	o.Lease.Node, o.Lease.Eligible = o.Node, false
	if err := o.Lease.Check(); err != nil {
		return nil, fmt.Errorf("cannot take part in the cluster: %w", err)
	}
	n := &Node{o: o, began: time.Now(), stopped: make(chan struct{}), handing: make(chan string, 1)}
	n.config.Store(&o.Config)
	n.smscs.all.Store(&o.SMSCs)
	n.reason.Store(&reason{report.Reading, stillReading})
	n.seen.Store(&[]State{})
	n.sum.Store(&Sum{})
	n.full.Store(&report.Fullness{})
	if err := n.open(ctx); err != nil {
		n.close()
		return nil, err
	}
	n.ctx, n.end = context.WithCancelCause(context.Background())
	var following context.Context
	following, n.follows = context.WithCancel(n.ctx)
	n.running.Go(func() { n.holder.Run(n.ctx) })
	n.running.Go(func() { n.follow(following) })
	n.running.Go(n.tick)
	n.running.Go(n.tidy)
	n.running.Go(n.measure)
	if o.HandOverAfter > 0 {
		n.running.Go(n.connect)
	}
	return n, nil
}

func (n *Node) open(ctx context.Context) (err error) {
	o := &n.o
	if n.journal, err = nats.Open(ctx, natsOptions(o)); err != nil {
		return err
	}
	n.first = uint64(n.journal.Status().Last)
	if n.bucket, err = cells.Open(ctx, cells.Options{
		Servers: o.Servers, Connect: o.Connect, Bucket: Bucket(o.Stream), Replicas: max(o.Replicas, 1), Failed: o.Failed,
	}); err != nil {
		return err
	}
	n.shared = shared.New(n.journal, number(o.Node))
	o.Store.Journal, o.Store.Origin = n.shared, n.journal.Origin()
	if n.store, err = store.OpenCopy(o.Dir, o.Store); err != nil {
		return err
	}
	n.ignoreCheck(ctx)
	n.holder, err = lease.New(n.bucket.Cell(ownerCell), o.Lease)
	return err
}

func natsOptions(o *Options) nats.Options {
	return nats.Options{
		Servers: o.Servers, Connect: o.Connect, System: o.System, Secrets: o.Secrets, Stream: o.Stream, Replicas: o.Replicas,
		MaxOctets: o.MaxOctets, Unsafe: o.Unsafe, Failed: o.Failed,
	}
}

// number returns the number that stands for a node in the journal.
func number(node string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(node)) // a hash never returns an error
	return h.Sum32()
}

// HasRead reports whether this node has read the journal to its end since its start.
func (n *Node) HasRead() bool { return n.reason.Load().kind != report.Reading }

// Store returns the store for the gateway, after TakeOver has returned. The caller closes the
// store.
func (n *Node) Store() store.Store { return work{n.store, n} }

// A work is the node's store while a gateway uses it.
type work struct {
	listed
	node *Node
}

// A listed store can list its messages as they are at one moment.
type listed interface {
	store.Store
	store.Lister
}

// Close closes the store. The node does not read the store any more.
func (w work) Close() error {
	w.node.summing.Lock()
	defer w.node.summing.Unlock()
	w.node.closed = true
	return w.listed.Close()
}

// Holds reports whether this node may send now. A writer asks directly before each system call.
func (n *Node) Holds() bool { return n.holder.Holds() }

// Done is closed when this node can take no part any more.
func (n *Node) Done() <-chan struct{} { return n.ctx.Done() }

// Err returns why the node can take no part any more.
func (n *Node) Err() error { return context.Cause(n.ctx) }

// Asked receives the name of the node to which the work is to be handed over, "" for any: an operator wants it, or that node
// reaches more SMSCs.
func (n *Node) Asked() <-chan string { return n.handing }

// SetConfig replaces the hash of the configuration and its SMSCs, after a reload.
func (n *Node) SetConfig(hash string, smscs []SMSC) {
	n.config.Store(&hash)
	n.smscs.all.Store(&smscs)
}

// Release hands the work over to the node next, or to any node if next is "". The gateway and its
// store must be closed.
func (n *Node) Release(ctx context.Context, next string) error {
	if next == n.o.Node {
		next = ""
	}
	return n.holder.Release(ctx, next)
}

// errClosed is the reason that Err returns after Close.
var errClosed = errors.New("the node was closed")

// Close ends the node's part in the cluster. Without Release before, the other nodes wait until the
// lease has run out.
func (n *Node) Close() error {
	n.end(errClosed)
	_ = n.journal.Close() // calls that wait for the servers end
	n.running.Wait()
	return n.close()
}

// close closes everything that is open.
func (n *Node) close() (err error) {
	if n.store != nil && !n.working.Load() {
		err = n.store.Close()
	}
	if n.journal != nil {
		_ = n.journal.Close()
	}
	if n.bucket != nil {
		n.bucket.Close()
	}
	return err
}
