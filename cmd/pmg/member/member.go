// Package member makes the process of a gateway a member of a cluster: the process stands by, and provides
// the parts of the cluster that the gateway needs while it works. A gateway without a cluster has a nil
// Member.
//
// # Start reading
//
// standby.go, then member.go.
package member

import (
	"context"
	"errors"
	"time"

	"github.com/rs/zerolog"

	"pmg/cluster"
	"pmg/cluster/report"
	"pmg/config"
	"pmg/store"
)

// A Member is a process that owns the work.
type Member struct {
	node  *cluster.Node
	log   zerolog.Logger
	fault chan error // receives the error of a store that has failed
}

// Store returns the store of the gateway, and a channel that gets an error when it has failed.
func (m *Member) Store() (store.Store, <-chan error) { return m.node.Store(), m.fault }

// Asked receives the node to which the work is to move, empty for any.
func (m *Member) Asked() <-chan string {
	if m == nil {
		return nil
	}
	return m.node.Asked()
}

// Done is closed when this node no longer owns the work.
func (m *Member) Done() <-chan struct{} {
	if m == nil {
		return nil
	}
	return m.node.Done()
}

// Lost returns the reason why this node no longer owns the work, nil while it does.
func (m *Member) Lost() error {
	if m == nil {
		return nil
	}
	return m.node.Err()
}

// Holds returns the function that the writer calls before it sends, nil for a gateway without a cluster.
func (m *Member) Holds() func() bool {
	if m == nil {
		return nil
	}
	return m.node.Holds
}

// Report returns the function that reports what this node knows of its cluster, nil for a gateway without a cluster.
func (m *Member) Report() func() *report.Report {
	if m == nil {
		return nil
	}
	return m.node.Report
}

// SetConfig records that the gateway has another configuration.
func (m *Member) SetConfig(c *config.Config) error {
	if m == nil {
		return nil
	}
	hash, err := c.Common()
	if err == nil {
		m.node.SetConfig(hash, smscsOf(c))
	}
	return err
}

// SetDown sets the function that returns the names of the connectors that have had no session with their SMSC for a time.
func (m *Member) SetDown(down func(longer time.Duration) []string) {
	if m != nil {
		m.node.SetDown(down)
	}
}

// handOverTimeout is how long a node that ends tries to say that another may take over immediately.
const handOverTimeout = 5 * time.Second

// HandOver hands the work over to the node next, or to any node if next is empty, after the gateway has ended
// and its store is closed.
func (m *Member) HandOver(next string) {
	ctx, cancel := context.WithTimeout(context.Background(), handOverTimeout)
	defer cancel()
	if err := m.node.Release(ctx, next); err != nil {
		m.log.Warn().Err(err).Msg("the other nodes take over when the lease has run out")
		return
	}
	m.log.Info().Msg("the work is handed over")
}

// Close ends the node's part.
func (m *Member) Close() error { return m.node.Close() }

// closeUnused ends the part of a node whose gateway did not start. If the node was stopped just after it took
// over, another node may take over immediately.
func (m *Member) closeUnused(why error) {
	if errors.Is(why, ErrStopped) {
		m.HandOver("")
	}
	if err := m.Close(); err != nil {
		m.log.Error().Err(err).Msg("cannot end cleanly")
	}
}
