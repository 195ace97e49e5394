package convert

import (
	"sync"

	"pmg/gateway/node"
	"pmg/gateway/route"
	"pmg/sms/fit"
	"pmg/sms/rewrite"
)

// A Desk makes messages ones that the peers of a lane take. It is safe for concurrent use.
type Desk struct {
	node  *node.Node
	table *route.Table

	Tell       func(rewrite.Step) // set before a message comes, by pmg explain alone: gets what rules do
	addresses  sync.Pool          // of *rewrite.Addresses
	converters sync.Pool          // of *fit.Converter
	references *references
}

// NewDesk makes a desk for the lanes of a table.
func NewDesk(n *node.Node, t *route.Table) *Desk {
	return &Desk{
		node: n, table: t, references: newReferences(), converters: sync.Pool{New: func() any { return &fit.Converter{} }},
	}
}
