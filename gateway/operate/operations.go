package operate

import (
	"fmt"
	"sync/atomic"

	"pmg/connector/account"
	"pmg/gateway/intake"
	"pmg/gateway/keep"
	"pmg/gateway/node"
	"pmg/gateway/receipts"
	"pmg/gateway/route"
	"pmg/gateway/settle"
	"pmg/protocols"
	"pmg/sms"
)

// How many operations may be under way for all sessions. They wait for disks and lanes. An account may use
// one in shareOperating of those that the others leave, so that some are always left for an account without
// any. Few read all messages.
const (
	maxAllOperating = 256
	shareOperating  = 4
	maxSearching    = 4
)

// Operations are what clients and operators ask about messages that wait. It is safe for concurrent use.
type Operations struct {
	node     *node.Node
	keep     *keep.Keeper
	table    *route.Table
	receipts *receipts.Matcher
	settler  *settle.Settler
	intake   *intake.Checker

	operating atomic.Int64 // operations under way
	searching atomic.Int64 // operations under way that read all messages
	orders    orders
}

// New makes the operations of a gateway.
func New(n *node.Node, k *keep.Keeper, t *route.Table, r *receipts.Matcher, s *settle.Settler, i *intake.Checker) *Operations {
	return &Operations{node: n, keep: k, table: t, receipts: r, settler: s, intake: i}
}

// sync returns when everything written so far is safe.
func (d *Operations) sync() error {
	if err := d.keep.Batches.Sync(); err != nil {
		return fmt.Errorf("%w: %w", errNotCommitted, err)
	}
	return nil
}

// MayBegin reports whether an account may have another operation under way.
func (d *Operations) MayBegin(client *account.Account) bool {
	own := client.Operate(0)
	others := d.operating.Load() - own
	return own < (maxAllOperating-others)/shareOperating
}

// Begin returns an operation for a client, which speaks a protocol. Run follows.
func (d *Operations) Begin(client *account.Account, spoken sms.Protocol, asked protocols.Operation) *Operation {
	o := &Operation{Operation: asked, operations: d, client: client, spoken: spoken}
	o.order = d.orders.take(o.ID)
	d.operating.Add(1)
	client.Operate(1)
	return o
}
