package bench

import (
	"context"

	"pmg/loadtest/child"
)

// A status is the part of a gateway's status that the bench uses.
type status struct {
	Stages     []StageWork
	Connectors []connectorStatus
}

type connectorStatus struct {
	Name                   string
	Accepted, Sent, Queued int64
}

// connector returns the status of a connector by name, or zeros if there is none.
func (s *status) connector(name string) (c connectorStatus) {
	for _, c := range s.Connectors {
		if c.Name == name {
			return c
		}
	}
	return c
}

// statusOf asks a gateway for it.
func statusOf(c *child.Child) (s status, err error) {
	err = c.Status(&s)
	return s, err
}

// startGateway starts a gateway and waits until it is ready for traffic.
func startGateway(ctx context.Context, command []string, g gatewayConfig) (*child.Child, error) {
	c, err := child.StartGateway(ctx, command, g.yaml)
	if err != nil {
		return nil, err
	}
	if err := c.Ready(ctx); err != nil {
		c.Stop()
		return nil, err
	}
	return c, nil
}
