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
	table := roomtest.Table(t, yaml)
	c, r := convert.NewDesk(table), receipts.NewDesk(table)
	return NewDesk(table, c, r, settle.NewDesk(table, c, r))
}
