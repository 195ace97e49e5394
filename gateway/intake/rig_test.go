package intake

import (
	"testing"

	"pmg/connector"
	"pmg/gateway/convert"
	"pmg/gateway/receipts"
	"pmg/gateway/roomtest"
	"pmg/gateway/settle"
)

const (
	now    = int64(1_800_000_000_000_000_000) // an arbitrary time
	second = int64(1_000_000_000)
)

// newDesk makes a Checker for a configuration.
func newDesk(t *testing.T, yaml string) *Checker {
	t.Helper()
	return deskOn(roomtest.New(t, yaml))
}

// deskOn makes a Checker on what all rooms share.
func deskOn(g *roomtest.Ground) *Checker {
	c, r := convert.New(g.Node, g.Table), receipts.New(g.Node, g.Keeper, g.Table)
	return New(g.Node, g.Keeper, g.Table, c, r, settle.New(g.Node, g.Keeper, g.Table, c, r))
}

// shareOf returns an account's share of the operator's lane.
func shareOf(d *Checker, account string) *connector.Share {
	return d.table.Share(d.table.LaneOf(d.table.Connector("operator")), d.node.Origins.Of(account, "clients"))
}
