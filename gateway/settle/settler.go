package settle

import (
	"sync"

	"pmg/gateway/convert"
	"pmg/gateway/deadletters"
	"pmg/gateway/hooks"
	"pmg/gateway/keep"
	"pmg/gateway/node"
	"pmg/gateway/receipts"
	"pmg/gateway/route"
	"pmg/sms"
)

// A Settler decides how messages that were sent continue, and ends messages. It is safe for
// concurrent use.
type Settler struct {
	node    *node.Node
	keep    *keep.Keeper
	table   *route.Table
	convert *convert.Converter
	hooks   *hooks.Hooks

	Receipts *receipts.Matcher
	Events   EventLog
	Traces   Traces
	Dead     *deadletters.DeadLetters
	Low      chan Low // receives balances that have become low
	steps    []Step
	endings  sync.Pool // of *ending

	questioner hooks.Questioner
}

// New makes the settler of a gateway, and the receipts and dead letters that it ends.
func New(n *node.Node, k *keep.Keeper, t *route.Table, c *convert.Converter, h *hooks.Hooks) *Settler {
	d := &Settler{node: n, keep: k, table: t, convert: c, hooks: h, steps: Steps(), Low: make(chan Low, mostLow)}
	end := func(m *sms.Message, e keep.Ending) { d.Forget(m, e, nil) }
	d.Receipts, d.Dead = receipts.New(n, k, t, h, &d.Events, end), deadletters.New(n, k, end)
	d.endings.New = func() any { return newEnding(d) }
	return d
}
