package intake

import (
	"sync/atomic"

	"pmg/gateway/convert"
	"pmg/gateway/credit"
	"pmg/gateway/hooks"
	"pmg/gateway/keep"
	"pmg/gateway/lists"
	"pmg/gateway/networks"
	"pmg/gateway/node"
	"pmg/gateway/receipts"
	"pmg/gateway/route"
	"pmg/gateway/settle"
)

// A Checker takes messages through the ordered steps: each refuses, changes or passes them. It is safe for concurrent use.
type Checker struct {
	node     *node.Node
	keep     *keep.Keeper
	table    *route.Table
	convert  *convert.Converter
	receipts *receipts.Matcher
	hooks    *hooks.Hooks
	lists    *lists.Lists
	Networks *networks.Networks
	Credit   *credit.Accountant

	questioner hooks.Questioner
	steps      []Step // set before a message comes, by New, by tests and by pmg explain
	inForce    atomic.Pointer[inForce]
	Joiner     Joiner
	unrouted   atomic.Int64
}

// New makes the checker of a gateway.
func New(
	n *node.Node, k *keep.Keeper, t *route.Table, c *convert.Converter, r *receipts.Matcher, e *settle.EventLog,
	h *hooks.Hooks, l *lists.Lists, of *networks.Networks, money *credit.Accountant,
) *Checker {
	d := &Checker{
		node: n, keep: k, table: t, convert: c, receipts: r, hooks: h, lists: l, Networks: of, Credit: money,
		Joiner: Joiner{node: n, keep: k, table: t, convert: c, events: e},
	}
	d.Use(Steps())
	return d
}

// Unrouted returns how many messages had no route.
func (d *Checker) Unrouted() int64 { return d.unrouted.Load() }
