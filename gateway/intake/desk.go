package intake

import (
	"sync/atomic"

	"pmg/gateway/convert"
	"pmg/gateway/keep"
	"pmg/gateway/node"
	"pmg/gateway/receipts"
	"pmg/gateway/route"
	"pmg/gateway/settle"
)

// A Desk takes in messages. It is safe for concurrent use.
type Desk struct {
	node     *node.Node
	keep     *keep.Keeper
	table    *route.Table
	convert  *convert.Desk
	receipts *receipts.Desk
	settler  *settle.Desk

	Steps    []Step // Steps, unless a test adds one, or pmg explain notes what each does
	unrouted atomic.Int64
	joining  joining
}

// NewDesk makes a desk for the lanes of a table.
func NewDesk(n *node.Node, k *keep.Keeper, t *route.Table, c *convert.Desk, r *receipts.Desk, s *settle.Desk) *Desk {
	return &Desk{node: n, keep: k, table: t, convert: c, receipts: r, settler: s, Steps: Steps()}
}

// Unrouted returns how many messages had no route.
func (d *Desk) Unrouted() int64 { return d.unrouted.Load() }
