package intake

import (
	"testing"

	"pmg/gateway/convert"
	"pmg/gateway/receipts"
	"pmg/gateway/roomtest"
	"pmg/gateway/settle"
)

// newDesk makes a desk for a configuration.
func newDesk(t *testing.T, yaml string) *Desk {
	t.Helper()
	g := roomtest.New(t, yaml)
	c, r := convert.NewDesk(g.Node, g.Table), receipts.NewDesk(g.Node, g.Keeper, g.Table)
	return NewDesk(g.Node, g.Keeper, g.Table, c, r, settle.NewDesk(g.Node, g.Keeper, g.Table, c, r))
}
