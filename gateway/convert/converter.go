package convert

import (
	"sync"

	"pmg/gateway/node"
	"pmg/gateway/route"
	"pmg/sms"
	"pmg/sms/fit"
	"pmg/sms/rewrite"
)

// A Converter converts messages to the form that the peers of a lane accept. It is safe for
// concurrent use.
type Converter struct {
	node  *node.Node
	table *route.Table

	Tell       func(rewrite.Step) // called with each step of the rules; set before a message comes, by pmg explain only
	addresses  sync.Pool          // of *rewrite.Addresses
	converters sync.Pool          // of *fit.Converter
	references *references
	unrouted   *fit.Form // the form for texts of messages without a route
}

// New makes the converter of a gateway.
func New(n *node.Node, t *route.Table) *Converter {
	return &Converter{
		node: n, table: t, references: newReferences(), converters: sync.Pool{New: func() any { return &fit.Converter{} }},
		unrouted: fit.New(sms.Default, sms.NewAlphabets(sms.UCS2, sms.Latin1, sms.ASCII, sms.Binary, sms.Other), fit.Keep),
	}
}
