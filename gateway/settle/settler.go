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

// A Settler decides what becomes of messages that were sent, and ends them. It is safe for concurrent use.
type Settler struct {
	node     *node.Node
	keep     *keep.Keeper
	table    *route.Table
	convert  *convert.Converter
	receipts *receipts.Matcher

	Events  EventLog
	Traces  Traces
	Dead    *deadletters.DeadLetters
	steps   []Step
	endings sync.Pool // of *ending
}

// New makes the settler of a gateway.
func New(n *node.Node, k *keep.Keeper, t *route.Table, c *convert.Converter, r *receipts.Matcher) *Settler {
	d := &Settler{
		node: n, keep: k, table: t, convert: c, receipts: r,
		Dead: deadletters.New(n, k), steps: Steps(),
	}
	d.endings.New = func() any { return newEnding(d) }
	r.Ends = func(m *sms.Message, e keep.Ending) { d.Forget(m, e, nil) }
	d.Dead.Ends = r.Ends
	return d
}
