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

// The maximum numbers of operations in progress, over all sessions. They wait for disks and lanes. An account may use
// 1/shareOperating of the places that other accounts leave, so that an account without operations always finds some. Fewer may
// read all messages.
const (
	maxAllOperating = 256
	shareOperating  = 4
	maxSearching    = 4
)

// Operations performs requests of clients and operators about waiting messages. It is safe for concurrent use.
type Operations struct {
	node     *node.Node
	keep     *keep.Keeper
	table    *route.Table
	receipts *receipts.Matcher
	settler  *settle.Settler
	intake   *intake.Checker

	operating atomic.Int64 // operations in progress
	searching atomic.Int64 // operations in progress that read all messages
	orders    orders
}

// New makes the operations of a gateway.
func New(n *node.Node, k *keep.Keeper, t *route.Table, r *receipts.Matcher, s *settle.Settler, i *intake.Checker) *Operations {
	return &Operations{node: n, keep: k, table: t, receipts: r, settler: s, intake: i}
}

// sync returns when all earlier writes are on the disk.
func (d *Operations) sync() error {
	if err := d.keep.Batches.Sync(); err != nil {
		return fmt.Errorf("%w: %w", errNotCommitted, err)
	}
	return nil
}

// MayBegin reports whether an account may begin another operation.
func (d *Operations) MayBegin(client *account.Account) bool {
	own := client.Operate(0)
	others := d.operating.Load() - own
	return own < (maxAllOperating-others)/shareOperating
}

// Begin returns an operation for a client, in the client's protocol. The caller runs it.
func (d *Operations) Begin(client *account.Account, spoken sms.Protocol, asked protocols.Operation) *Operation {
	o := &Operation{Operation: asked, operations: d, client: client, spoken: spoken}
	o.order = d.orders.take(o.ID)
	d.operating.Add(1)
	client.Operate(1)
	return o
}
