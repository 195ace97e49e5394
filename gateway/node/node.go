// Package node holds what all parts of a gateway share: its log and the limits of repeated entries,
// its clocks, the configuration in force, and the memory of its messages.
//
// # Start reading
//
// node.go, clock.go, repeats.go, sampled.go, origins.go.
package node

import (
	"math"
	"net/netip"
	"runtime"
	"sync/atomic"

	"github.com/rs/zerolog"

	"pmg/config"
	"pmg/connector"
	"pmg/internal/turns"
	"pmg/sms"
)

// A Node is shared by all parts of a gateway. It is safe for concurrent use.
type Node struct {
	Log       zerolog.Logger
	Repeats   Repeats
	LogLimits LogLimits
	Clock     Clock
	Messages  sms.Pool
	Memory    connector.Memory
	Origins   Origins

	// Handshakes limits the TLS handshakes of all protocols. At most half of the processors compute handshakes, so that a
	// burst of them leaves the others to established sessions.
	Handshakes *turns.Turns[netip.Prefix]

	// Pass is called by the gateway's own goroutines before they begin work, and returns when they may continue. It does
	// nothing, except in a simulation, which runs one goroutine at a time.
	Pass func(goroutine string)

	cfg      atomic.Pointer[config.Config]
	draining atomic.Bool
}

// New makes a node with a configuration.
func New(cfg *config.Config, log zerolog.Logger) *Node {
	n := &Node{
		Log: log, LogLimits: newStorms(), Clock: newClock(),
		Handshakes: turns.New[netip.Prefix](max(runtime.GOMAXPROCS(0)/2, 1), math.MaxInt), Pass: func(string) {},
	}
	n.cfg.Store(cfg)
	return n
}

// Config returns the configuration in force.
func (n *Node) Config() *config.Config { return n.cfg.Load() }

// SetConfig puts a configuration in force.
func (n *Node) SetConfig(cfg *config.Config) { n.cfg.Store(cfg) }

// Drain begins to refuse new messages, because the gateway is stopping.
func (n *Node) Drain() { n.draining.Store(true) }

// Draining reports whether Drain was called.
func (n *Node) Draining() bool { return n.draining.Load() }

// NotInformed logs that a plugin was not informed of the end of a message. Repeated entries are
// suppressed for a while.
func (n *Node) NotInformed(plugin string, err error) {
	if n.Repeats.First("result: " + plugin) {
		n.Log.Error().Err(err).Str("plugin", plugin).Msg("a plugin is not informed how a message has ended")
	}
}

// NoVerdict logs that a plugin has no verdict. Repeated entries are suppressed for a while.
func (n *Node) NoVerdict(plugin string, err error) {
	if n.Repeats.First("plugin: " + plugin) {
		n.Log.Error().Err(err).Str("plugin", plugin).Msg("a plugin has no verdict: its on_failure decides")
	}
}
