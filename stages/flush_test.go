package stages

import (
	"testing"

	"github.com/rs/zerolog"

	"pmg/config"
	"pmg/connector"
	"pmg/gateway"
	"pmg/protocols"
	"pmg/protocols/smpp"
	"pmg/stages/flow"
)

// F20: a panic in Flush skips the lane that caused it. The next Flush dispatches for the
// remaining lanes, each of them once.
func TestFlushAfterPanic(t *testing.T) {
	t.Parallel()
	cfg, _, err := config.Parse([]byte(`
pdulog: {enabled: false}
connectors: [{name: operator, direction: out, address: "127.0.0.1:1", system_id: pmg, password: secret, static: false}]
`), config.Options{Protocols: []string{"smpp"}})
	if err != nil {
		t.Fatal(err)
	}
	g, err := gateway.New(cfg, zerolog.Nop(), func(string, *config.Config) (protocols.Driver, error) {
		return smpp.New(smpp.Options{}), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	d := &dispatcher{Deps: &Deps{Gateway: g, groups: newGroups(1)}}
	sound := g.Table.LaneOf(g.Table.Connector("operator"))
	broken := &connector.Lane{} // it has no connector, so every use of it panics
	d.touch(sound)
	d.touch(broken)
	flush := func() (panicked bool) {
		defer func() { panicked = recover() != nil }()
		d.Flush(&flow.Out[Job]{})
		return false
	}
	if !flush() {
		t.Error("the first Flush does not panic")
	}
	if flush() {
		t.Error("the second Flush panics as well")
	}
	if len(d.touched) != 0 || sound.Touched || broken.Touched {
		t.Errorf("%d lanes are left", len(d.touched))
	}
}
