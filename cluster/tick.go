package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"pmg/cluster/cells"
	"pmg/cluster/lease"
	"pmg/cluster/report"
	"pmg/store"
	"pmg/store/journal"
)

// The names of the cells.
const (
	ownerCell  = "owner"
	nodePrefix = "node."  // followed by the name of a node: the node's State
	drainCell  = "drain." // followed by the name of a node: whether the node may own the work
	moveCell   = "move"   // value: a Move
	forgetCell = "forget" // has a value if an operator has ever forgotten a node
	tryCell    = "try"    // written to see whether the servers take anything
	checkCell  = "check"  // value: a number; each node answers with a hash of its store
	reachCell  = "reach"  // value: a reachMove
)

type (
	// A State is the state that a node publishes.
	State = report.State
	// A Sum is a hash of the whole contents of a copy.
	Sum = report.Sum
)

// A Move is an operator's request that the owner hands the work over.
type Move struct {
	Epoch uint64 `json:"epoch"` // epoch of the owner that must hand over
	To    string `json:"to,omitempty"`
}

const (
	tickEvery = time.Second
	tickWait  = 3 * time.Second // timeout for all cells together
)

// tick publishes the state of this node, and reads the operators' requests.
func (n *Node) tick() {
	every := time.NewTicker(tickEvery)
	defer every.Stop()
	t := trimmer{keep: n.o.Keep}
	failed, published := false, false
	var f foreignLog
	for {
		f.write(n, time.Now())
		err := n.tickOnce(&t, published)
		published = published || err == nil
		if err != nil && !failed && n.ctx.Err() == nil {
			n.o.Log.Warn().Err(err).Msg("cluster: the nodes do not see each other's state until the NATS servers answer")
		}
		if failed = err != nil; failed {
			n.unseen.Store(&err)
		} else {
			n.unseen.Store(nil)
		}
		select {
		case <-n.ctx.Done():
			return
		case <-every.C:
		}
	}
}

// A foreignLog logs that the stream has messages which no node has published, at most once in foreignEvery.
type foreignLog struct {
	logged uint64 // number of such messages that lines were written about
	at     time.Time
}

const foreignEvery = time.Minute

func (f *foreignLog) write(n *Node, now time.Time) {
	if all, last := n.shared.Foreign(); all != f.logged && now.Sub(f.at) >= foreignEvery {
		n.o.Log.Warn().Uint64("messages", all-f.logged).Uint64("last_at", uint64(last)).Msg(
			"cluster: the stream has messages that no node with cluster.secret has published. They are ignored. Find out who " +
				"else can reach the servers of NATS")
		f.logged, f.at = all, now
	}
}

// tickOnce does what is due. published is true if this process has published its state before.
func (n *Node) tickOnce(t *trimmer, published bool) error {
	ctx, cancel := context.WithTimeout(n.ctx, tickWait)
	defer cancel()
	values, err := n.bucket.All(ctx, nodePrefix)
	if err != nil {
		return err
	}
	all := states(values)
	n.seen.Store(&all)
	if published && hasElder(all, n.o.Node, n.began) {
		n.end(fmt.Errorf("another process takes part as node %s: give each node a name of its own (cluster.node)", n.o.Node))
		return nil
	}
	drained, _, err := n.bucket.Cell(drainCell + n.o.Node).Read(ctx)
	if err != nil {
		return err
	}
	n.holder.SetBegun(uint64(n.shared.Epoch()), n.isUnowned())
	n.setReason(n.whyNot(all, string(drained) == "1"))
	s := n.holder.Status()
	if s.State == lease.Owner {
		if err := n.askedToMove(ctx, s.Epoch, string(drained) == "1"); err != nil {
			return err
		}
		if err := n.reachMore(ctx, all, time.Now()); err != nil {
			return err
		}
		if err := n.trim(ctx, t, values, all); err != nil {
			return err
		}
	}
	if err := n.answerCheck(ctx); err != nil {
		return err
	}
	own, err := json.Marshal(n.State())
	if err != nil {
		return err
	}
	return n.bucket.Put(ctx, nodePrefix+n.o.Node, own)
}

// trim drops what no node needs any more.
func (n *Node) trim(ctx context.Context, t *trimmer, values []cells.Value, all []State) error {
	var forgotten []byte
	if len(all) == 1 {
		var err error
		if forgotten, _, err = n.bucket.Cell(forgetCell).Read(ctx); err != nil {
			return err
		}
	}
	if upTo := t.upTo(values, all, n.o.Node, len(forgotten) > 0, time.Now()); upTo > 0 {
		return n.journal.Trim(journal.Seq(upTo))
	}
	return nil
}

// isUnowned reports whether it is known that no node has ever begun to work: an owner begins with its epoch in the journal. So a
// bucket that was deleted and made again while an owner lives shows. If the stream was deleted together with it, nothing shows.
// Then the sessions of that owner may last until its lease ends, but nothing is sent twice: it cannot commit any more, and the
// stores of the nodes on the new stream have none of its messages.
func (n *Node) isUnowned() bool {
	if n.shared.Last() > 0 || n.holder.Status().State != lease.Standby {
		return false
	}
	unused, err := n.journal.IsUnused()
	return unused && err == nil
}

// hasElder reports whether an earlier process with the same node name is still running when a process begins: it has published a
// state since then.
func hasElder(all []State, node string, began time.Time) bool {
	return slices.ContainsFunc(all, func(s State) bool {
		return s.Node == node && s.Began.Before(began) && s.At.After(began)
	})
}

// State returns the state that this node publishes.
func (n *Node) State() State {
	s := n.holder.Status()
	return State{
		Node: n.o.Node, Began: n.began, Version: n.o.Version, State: s.State.String(), Epoch: s.Epoch,
		Reason: n.reason.Load().why, Applied: uint64(n.shared.Last()), Moved: uint64(n.shared.Moved()),
		Config: *n.config.Load(), At: time.Now(), Sum: *n.sum.Load(), Full: *n.full.Load(), Trouble: n.trouble(),
		Reach: n.smscs.reach.Load(),
	}
}

// Owner returns the name of the node that owns the work, as far as this node knows. "" means that
// no node owns the work.
func (n *Node) Owner() string { return n.holder.Status().Owner }

// states decodes the states in the values of cells. Values that cannot be decoded are left out.
func states(values []cells.Value) (all []State) {
	for _, v := range values {
		var s State
		if json.Unmarshal(v.Octets, &s) == nil && s.Node == v.Name {
			all = append(all, s)
		}
	}
	return all
}

// A reason says why this node may not take over. An empty reason means that the node may take over.
type reason struct{ kind, why string }

const stillReading = "it has not read the journal to its end yet"

// setReason sets the reason why this node may not take over.
func (n *Node) setReason(r reason) {
	if before := n.reason.Swap(&r); *before == r {
		return
	}
	n.holder.SetEligible(r.why == "")
	if r.why == "" {
		n.o.Log.Info().Msg("cluster: this node can take the work over")
	} else {
		n.o.Log.Warn().Msg("cluster: this node cannot take the work over: " + r.why)
	}
}

// whyNot returns the reason why this node may not take over, or an empty reason if the node may
// take over.
func (n *Node) whyNot(all []State, drained bool) reason {
	if drained {
		return reason{report.Drained, "an operator has drained it (pmg cluster drain --undo)"}
	}
	if uint64(n.shared.Last()) < n.first {
		return reason{report.Reading, stillReading}
	}
	if why := differs(all, n.o.Node, *n.config.Load(), n.holder.Status().Owner); why != "" {
		return reason{report.Different, why}
	}
	return reason{}
}

// differs returns how a node's configuration differs, as text. It must equal the owner's
// configuration, or that of most nodes if no node is the owner.
func differs(all []State, node, config, owner string) string {
	same, others, other := 1, 0, ""
	for _, s := range all {
		switch {
		case s.Node == node:
		case s.Config == config:
			same++
		default:
			others, other = others+1, s.Config
		}
	}
	at := slices.IndexFunc(all, func(s State) bool { return s.Node == owner })
	switch {
	case others == 0 || same > others, at >= 0 && all[at].Config == config:
		return ""
	case at >= 0:
		what, todo := unlike(config, all[at].Config)
		return what + " from that of the owner, node " + owner + ": " + todo
	}
	what, todo := unlike(config, other)
	return what + " from that of most nodes: " + todo + " (pmg cluster forget removes a node that is gone)"
}

// unlike returns what differs between two configurations, by their hashes, and what to do. A hash of the store's keys is behind
// a "-".
func unlike(config, other string) (what, todo string) {
	common, keys, _ := strings.Cut(config, "-")
	otherCommon, otherKeys, _ := strings.Cut(other, "-")
	if common == otherCommon && keys != otherKeys {
		return "its store.key_file (or old_key_file) differs", "give all nodes the same keys, and restart this one"
	}
	return "its configuration differs", "make the files alike, and reload them"
}

// askedToMove checks whether an operator wants this owner to hand over.
func (n *Node) askedToMove(ctx context.Context, epoch uint64, drained bool) error {
	octets, _, err := n.bucket.Cell(moveCell).Read(ctx)
	if err != nil {
		return err
	}
	var m Move
	if json.Unmarshal(octets, &m) != nil || m.Epoch != epoch {
		if !drained {
			return nil
		}
		m.To = ""
	}
	select {
	case n.handing <- m.To:
	default:
	}
	return nil
}

// readCheck returns the number of the latest check.
func (n *Node) readCheck(ctx context.Context) (uint64, error) {
	octets, _, err := n.bucket.Cell(checkCell).Read(ctx)
	if err != nil || len(octets) == 0 {
		return 0, err
	}
	return strconv.ParseUint(string(octets), 10, 64)
}

// ignoreCheck records the number of a check that was requested before this node started, so that
// the node does not answer it. If the servers do not respond, the node answers that check later.
func (n *Node) ignoreCheck(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, tickWait)
	defer cancel()
	if number, err := n.readCheck(ctx); err == nil {
		n.sum.Store(&Sum{Check: number})
	}
}

// answerCheck computes a hash of the store if a new check was requested.
func (n *Node) answerCheck(ctx context.Context) error {
	number, err := n.readCheck(ctx)
	if err != nil || number == n.sum.Load().Check {
		return err
	}
	n.summing.Lock()
	defer n.summing.Unlock()
	sum := Sum{Check: number, Error: "the store is being closed"}
	if !n.closed {
		at, hash, err := n.store.Sum()
		if errors.Is(err, store.ErrBehind) {
			return nil // it answers when it is not any more
		}
		if sum = (Sum{Check: number, At: uint64(at), Hash: hash}); err != nil {
			sum.Error = err.Error()
		}
	}
	n.sum.Store(&sum)
	return nil
}
