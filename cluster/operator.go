package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"pmg/cluster/cells"
	"pmg/cluster/lease"
	"pmg/store/journal/nats"
)

// An Operator sends requests to the nodes of a cluster without being a node.
type Operator struct {
	o      Options
	bucket *cells.Bucket
}

// OpenOperator connects to the servers. It uses only the options about the servers and the bucket.
func OpenOperator(ctx context.Context, o Options) (*Operator, error) {
	b, err := cells.Open(ctx, cells.Options{
		Servers: o.Servers, Connect: o.Connect, Bucket: Bucket(o.Stream), Replicas: max(o.Replicas, 1),
	})
	if err != nil {
		return nil, nats.Explain(ctx, natsOptions(&o), err)
	}
	return &Operator{o, b}, nil
}

// Try returns an error if the servers do not take what is written, with what they say that is wrong with them.
func (o *Operator) Try(ctx context.Context) error {
	return nats.Explain(ctx, natsOptions(&o.o), o.bucket.Put(ctx, tryCell, []byte("1")))
}

// Close ends the connection.
func (o *Operator) Close() { o.bucket.Close() }

// Nodes returns the latest published states of all nodes, in the order of their names.
func (o *Operator) Nodes(ctx context.Context) ([]State, error) {
	values, err := o.bucket.All(ctx, nodePrefix)
	return states(values), err
}

// Owner returns the current value of the owner's cell. If no node has owned the work yet, the
// value's epoch is 0.
func (o *Operator) Owner(ctx context.Context) (v lease.Value, err error) {
	octets, version, err := o.bucket.Cell(ownerCell).Read(ctx)
	if err != nil || version == 0 {
		return v, err
	}
	return lease.Decode(octets)
}

// askEvery is the interval at which an operator checks whether the nodes have done what was
// requested.
const askEvery = 100 * time.Millisecond

// Move asks the owner to hand the work over to the node to, or to any node if to is empty. It waits
// until another node owns the work, and returns that node's name.
func (o *Operator) Move(ctx context.Context, to string) (owner string, err error) {
	v, err := o.Owner(ctx)
	if err != nil {
		return "", err
	}
	if v.Epoch == 0 || v.Vacant {
		return "", fmt.Errorf("no node owns the work: pmg cluster status says why")
	}
	if err := o.mayTakeOver(ctx, v.Node, to); err != nil {
		return "", err
	}
	octets, err := json.Marshal(Move{v.Epoch, to})
	if err == nil {
		err = o.bucket.Put(ctx, moveCell, octets)
	}
	if err != nil {
		return "", err
	}
	for {
		now, err := o.Owner(ctx)
		if err == nil && now.Epoch > v.Epoch && !now.Vacant {
			return now.Node, nil
		}
		select {
		case <-ctx.Done():
			return "", fmt.Errorf("node %s has not handed over yet: %w", v.Node, ctx.Err())
		case <-time.After(askEvery):
		}
	}
}

// mayTakeOver returns an error if no node, or not the node to, can take the work over.
func (o *Operator) mayTakeOver(ctx context.Context, owner, to string) error {
	all, err := o.Nodes(ctx)
	if err != nil {
		return err
	}
	if to == owner {
		return fmt.Errorf("node %s owns the work already", to)
	}
	can := func(s State) bool { return s.MayTakeOver(owner, time.Now()) }
	if to == "" {
		if !slices.ContainsFunc(all, can) {
			return fmt.Errorf("no other node can take the work over: pmg cluster status says why")
		}
		return nil
	}
	at := slices.IndexFunc(all, func(s State) bool { return s.Node == to })
	switch {
	case at < 0:
		return fmt.Errorf("there is no node %s", to)
	case all[at].Reason != "":
		return fmt.Errorf("node %s cannot take the work over: %s", to, all[at].Reason)
	case !can(all[at]):
		return fmt.Errorf("node %s has said nothing for %s", to, time.Since(all[at].At).Round(time.Second))
	}
	return nil
}

// Drain keeps the work away from a node. If the node is the owner, it hands the work over. Unless forced, Drain refuses the last
// node that can own the work.
func (o *Operator) Drain(ctx context.Context, node string, forced bool) error {
	all, err := o.known(ctx, node)
	if err != nil {
		return err
	}
	if !forced && !canDoWithout(all, node, time.Now()) {
		return fmt.Errorf("without node %s no node can own the work, and nothing would be accepted or sent: pmg cluster status "+
			"says why the others cannot; --force drains it all the same", node)
	}
	return o.bucket.Put(ctx, drainCell+node, []byte("1"))
}

// canDoWithout reports whether another node than this one can own the work.
func canDoWithout(all []State, node string, now time.Time) bool {
	return slices.ContainsFunc(all, func(s State) bool { return s.MayTakeOver(node, now) })
}

// Undrain sets that a node may own the work again.
func (o *Operator) Undrain(ctx context.Context, node string) error {
	if _, err := o.known(ctx, node); err != nil {
		return err
	}
	return o.bucket.Put(ctx, drainCell+node, []byte("0"))
}

// known returns the states of all nodes, one of which must be this node's.
func (o *Operator) known(ctx context.Context, node string) ([]State, error) {
	all, err := o.Nodes(ctx)
	if err == nil && !slices.ContainsFunc(all, func(s State) bool { return s.Node == node }) {
		err = fmt.Errorf("there is no node %s", node)
	}
	return all, err
}

// Forget removes the published state of a node. A node that is running publishes its state again.
// When all nodes but the owner are forgotten, the owner trims the journal alone.
func (o *Operator) Forget(ctx context.Context, node string) error {
	if _, err := o.known(ctx, node); err != nil {
		return err
	}
	if err := o.bucket.Put(ctx, forgetCell, []byte("1")); err != nil {
		return err
	}
	return o.bucket.Remove(ctx, nodePrefix+node)
}

// Check asks each node for a hash of its store, and waits for the answers. The state of a node that
// does not answer before ctx ends has its previous sum.
func (o *Operator) Check(ctx context.Context, number uint64) ([]State, error) {
	if err := o.bucket.Put(ctx, checkCell, []byte(strconv.FormatUint(number, 10))); err != nil {
		return nil, err
	}
	for {
		all, err := o.Nodes(ctx)
		waits := func(s State) bool { return s.Sum.Check != number && !s.IsSilent(time.Now()) }
		if err == nil && !slices.ContainsFunc(all, waits) {
			return all, nil
		}
		select {
		case <-ctx.Done():
			return all, fmt.Errorf("not all nodes have answered: %w", ctx.Err())
		case <-time.After(askEvery):
		}
	}
}

// Compare compares the answers to a check. wrong describes copies that differ although they have
// the same records. same is how many copies could be compared. Copies with other records could not
// be compared.
func Compare(all []State, number uint64) (same int, wrong []string) {
	byPlace := map[uint64][]State{}
	for _, s := range all {
		switch {
		case s.Sum.Check != number:
		case s.Sum.Error != "":
			wrong = append(wrong, fmt.Sprintf("node %s cannot read its store: %s", s.Node, s.Sum.Error))
		default:
			byPlace[s.Sum.At] = append(byPlace[s.Sum.At], s)
		}
	}
	for place, group := range byPlace {
		same = max(same, len(group))
		for _, s := range group[1:] {
			if s.Sum.Hash != group[0].Sum.Hash {
				wrong = append(wrong, fmt.Sprintf("at record %d node %s has %s, and node %s has %s",
					place, group[0].Node, group[0].Sum.Hash, s.Node, s.Sum.Hash))
			}
		}
	}
	return same, wrong
}
