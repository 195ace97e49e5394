package intake

import (
	"testing"

	"github.com/rs/zerolog"

	"pmg/config"
	"pmg/connector"
	"pmg/gateway/convert"
	"pmg/gateway/credit"
	"pmg/gateway/hooks"
	"pmg/gateway/lists"
	"pmg/gateway/networks"
	"pmg/gateway/roomtest"
	"pmg/gateway/settle"
	"pmg/plugin"
)

const (
	now    = int64(1_800_000_000_000_000_000) // an arbitrary time
	second = int64(1_000_000_000)
)

// newDesk makes a Checker for a configuration.
func newDesk(t testing.TB, yaml string) *Checker {
	t.Helper()
	return deskOn(roomtest.New(t, yaml))
}

// deskOn makes a Checker on what all rooms share.
func deskOn(g *roomtest.Ground) *Checker {
	d, _ := deskAndSettler(g)
	return d
}

// deskAndSettler makes the settler, too, whose events a Checker writes.
func deskAndSettler(g *roomtest.Ground) (*Checker, *settle.Settler) {
	c := convert.New(g.Node, g.Table)
	s := settle.New(g.Node, g.Keeper, g.Table, c, hooks.New(nil))
	h := hooks.New(func(p *config.Plugin) plugin.Plugin {
		if p.URL != "" {
			return service{}
		}
		return hooks.Open(zerolog.Nop())(p)
	})
	h.Apply(g.Node.Config())
	l := lists.New(g.Node, g.Keeper)
	opened, err := l.Open(g.Node.Config())
	if err != nil {
		panic(err)
	}
	l.Apply(opened)
	of := networks.New(g.Node)
	table, err := of.Open(g.Node.Config())
	if err != nil {
		panic(err)
	}
	of.Apply(table)
	money := credit.New(g.Node, g.Keeper)
	lists, err := money.Open(g.Node.Config())
	if err != nil {
		panic(err)
	}
	money.Apply(lists, g.Node.Config())
	return New(g.Node, g.Keeper, g.Table, c, s.Receipts, &s.Events, h, l, of, money), s
}

// shareOf returns an account's share of the operator's lane.
func shareOf(d *Checker, account string) *connector.Share {
	return d.table.Share(d.table.LaneOf(d.table.Connector("operator")), d.node.Origins.Of(account, "clients"))
}
