package settle

import (
	"sync"

	"pmg/gateway/convert"
	"pmg/gateway/deadletters"
	"pmg/gateway/keep"
	"pmg/gateway/node"
	"pmg/gateway/receipts"
	"pmg/gateway/route"
	"pmg/sms"
)

// A Desk decides what becomes of messages that were sent, and ends them. It is safe for concurrent use.
type Desk struct {
	node     *node.Node
	keep     *keep.Keeper
	table    *route.Table
	convert  *convert.Desk
	receipts *receipts.Desk

	Events  EventLog
	Traces  Traces
	Dead    *deadletters.Desk
	steps   []Step
	endings sync.Pool // of *ending
}

// NewDesk makes a desk for the lanes of a table.
func NewDesk(n *node.Node, k *keep.Keeper, t *route.Table, c *convert.Desk, r *receipts.Desk) *Desk {
	d := &Desk{
		node: n, keep: k, table: t, convert: c, receipts: r,
		Dead: deadletters.NewDesk(n, k), steps: Steps(),
	}
	d.endings.New = func() any { return newEnding(d) }
	r.Ends = func(m *sms.Message, e keep.Ending) { d.Forget(m, e, nil) }
	d.Dead.Ends = r.Ends
	return d
}
