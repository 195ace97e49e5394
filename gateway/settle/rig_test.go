package settle

import (
	"testing"

	"pmg/connector"
	"pmg/gateway/convert"
	"pmg/gateway/receipts"
	"pmg/gateway/roomtest"
)

const (
	now    = int64(1_800_000_000_000_000_000) // an arbitrary time
	second = int64(1_000_000_000)
)

// start makes a desk whose operator has options.
func start(t *testing.T, options string) (*Desk, *connector.Connector) {
	t.Helper()
	d := startWith(t, roomtest.Operator(options))
	return d, d.table.Connector("operator")
}

// startWith makes a desk for a configuration.
func startWith(t *testing.T, yaml string) *Desk {
	t.Helper()
	g := roomtest.New(t, yaml)
	return NewDesk(g.Node, g.Keeper, g.Table, convert.NewDesk(g.Node, g.Table), receipts.NewDesk(g.Node, g.Keeper, g.Table))
}
