package gateway

import (
	"errors"
	"fmt"
	"time"

	"pmg/config"
	"pmg/connector"
	"pmg/internal/nearest"
)

// ErrUnknown is the error if no connector has the given name.
var ErrUnknown = errors.New("no such connector")

// errStopped is the error if the engine accepts no calls any more.
var errStopped = errors.New("the gateway is stopping")

// Hold keeps the messages of an out connector from leaving, for a time or, with 0, until Release.
// Hold is for an SMSC that must not be sent messages for a while. Waiting messages go to other
// targets of their routes, as if the connector were down, or continue to wait. A restart ends the
// hold.
func (g *Gateway) Hold(e Engine, name string, lasts time.Duration, by string) (*connector.Hold, error) {
	c, err := g.toSMSC(name)
	if err != nil {
		return nil, err
	}
	h := &connector.Hold{Since: e.Counters().Now, By: by}
	if lasts > 0 {
		h.Until = h.Since + int64(lasts)
	}
	c.SetHold(h)
	event := g.Node.Log.Warn().Str("connector", name).Str("operator", by)
	if lasts > 0 {
		event = event.Stringer("for", lasts)
	}
	event.Msg("an operator holds the connector: nothing is sent to it")
	return h, nil
}

// Release ends the hold of a connector. was is false if there was no hold.
func (g *Gateway) Release(e Engine, name, by string) (was bool, err error) {
	c, err := g.toSMSC(name)
	if err != nil || c.Hold() == nil {
		return false, err
	}
	c.SetHold(nil)
	if !e.Do(g.Table.LaneOf(c), func(int64) {}) {
		return false, errStopped
	}
	g.Node.Log.Info().Str("connector", name).Str("operator", by).Msg(
		"an operator releases the connector: messages are sent to it again",
	)
	return true, nil
}

// Connect immediately connects the instances of an out connector that rest after a failure.
func (g *Gateway) Connect(e Engine, name, by string) (*connector.Connector, error) {
	c, err := g.toSMSC(name)
	if err != nil {
		return nil, err
	}
	if c.Config().Listens() {
		return nil, fmt.Errorf("connector %s waits for the SMSC to connect", name)
	}
	g.Node.Log.Info().Str("connector", name).Str("operator", by).Msg("an operator has the connector connected now")
	e.Connect(c)
	return c, nil
}

func (g *Gateway) toSMSC(name string) (*connector.Connector, error) {
	c := g.Table.Connector(name)
	if c != nil && c.Config().Direction == config.Out {
		return c, nil
	}
	if c != nil {
		return nil, fmt.Errorf("connector %s is for clients; only one with direction: out leads to an SMSC", name)
	}
	var names []string
	for _, c := range g.Table.Connectors() {
		if !c.Removed.Load() && c.Config().Direction == config.Out {
			names = append(names, c.Name)
		}
	}
	if near := nearest.Word(name, names); near != "" {
		return nil, fmt.Errorf("%w: %s; did you mean %s?", ErrUnknown, name, near)
	}
	return nil, fmt.Errorf("%w: %s", ErrUnknown, name)
}
