package member

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/rs/zerolog"

	"pmg/admin"
	"pmg/cluster"
	"pmg/cluster/report"
	"pmg/cluster/standby"
	"pmg/config"
	"pmg/internal/daemon"
	"pmg/internal/sock"
	"pmg/internal/tlsfiles"
	"pmg/protocols"
)

// A Standby is a process that stands by.
type Standby struct {
	Config  *config.Config                 // the configuration that was last read
	Load    func() (*config.Config, error) // reads the configuration again
	Log     zerolog.Logger
	Signals <-chan os.Signal
	Opened  map[string][]sock.Listening // listening sockets, by name of the connector; those of operators are AdminSocket
	Version string

	node    atomic.Pointer[cluster.Node] // nil: the servers cannot be used yet
	trouble atomic.Pointer[string]       // why the servers cannot be used; nil: no attempt has failed
}

// AdminSocket is the name of the sockets for admin.address among those of connectors. No connector can have this name.
const AdminSocket = "admin.address"

// ErrStopped is the error of a process that was stopped by a signal.
var ErrStopped = errors.New("stopped by a signal")

// Wait takes part in the cluster, and returns when this node owns the work. Until then the node's sockets listen, and
// refuse connections. Afterwards Opened contains all sockets, and Config is the configuration that was last read.
func (w *Standby) Wait() (*Member, error) {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	if err := w.listen(); err != nil {
		return nil, err
	}
	sockets, err := w.sockets()
	if err != nil {
		return nil, err
	}
	door, err := standby.Open(sockets, w.state, admin.StandbyMetrics(w.Config.Admin, w.report, w.Log))
	if err != nil {
		return nil, err
	}
	defer func() { _ = door.Close() }() // the sockets stay open
	manager := daemon.NewManager(os.Getenv, os.Getpid())
	if err := manager.Ready(); err != nil {
		w.Log.Warn().Err(err).Msg("cannot notify the service manager")
	}
	go func() { _ = manager.Watch(ctx, func() bool { return true }) }()
	obeys := make(chan struct{})
	var obeying sync.WaitGroup
	obeying.Go(func() { w.obey(obeys, cancel) })
	following, unfollow := context.WithCancel(ctx)
	if dir := w.Config.Managed.Dir; dir != "" {
		obeying.Go(func() { w.follow(following, dir) })
	}
	m, err := w.takeOver(ctx, cancel)
	unfollow()
	close(obeys)
	obeying.Wait() // no signal is lost
	if why := context.Cause(ctx); why != nil {
		err = errors.Join(why, err)
	}
	if err != nil && m != nil {
		m.closeUnused(err)
	}
	return m, err
}

// takeOver takes part in the cluster, and returns when this node owns the work.
func (w *Standby) takeOver(ctx context.Context, cancel context.CancelCauseFunc) (*Member, error) {
	m := &Member{log: w.Log, fault: make(chan error, 1)}
	o, err := optionsOf(w.Config, w.Log, func(err error) {
		select {
		case m.fault <- err:
		default:
		}
		cancel(fmt.Errorf("the store has failed: %w", err))
	})
	if err != nil {
		return nil, err
	}
	o.Version, o.Failed = w.Version, w.failed
	if m.node, err = cluster.Open(ctx, o); err != nil {
		return nil, err
	}
	w.node.Store(m.node)
	w.Log.Info().Str("node", o.Node).Str("version", w.Version).Int("pid", os.Getpid()).Msg("standing by")
	epoch, err := m.node.TakeOver(ctx)
	if err != nil {
		return m, err
	}
	w.Log.Info().Uint64("epoch", epoch).Msg("this node owns the work of the cluster")
	return m, nil
}

// failed records why the servers cannot be used, and logs the reason if it differs from the one before.
func (w *Standby) failed(err error) {
	why := err.Error()
	if before := w.trouble.Swap(&why); before == nil || *before != why {
		w.Log.Warn().Err(err).Msg("cannot use the servers of the cluster yet")
	}
}

// obey reloads the configuration at each SIGHUP, and ends standing by at another signal.
func (w *Standby) obey(until <-chan struct{}, end context.CancelCauseFunc) {
	for {
		select {
		case <-until:
			return
		case sig := <-w.Signals:
			if sig != syscall.SIGHUP {
				end(ErrStopped)
				return
			}
			w.reload()
		}
	}
}

// reload reads the configuration again. Options of this node alone take effect at its next start.
func (w *Standby) reload() {
	cfg, err := w.Load()
	node := w.node.Load()
	if err == nil && (node == nil || cfg.Cluster.Node != w.Config.Cluster.Node) {
		err = errors.New("this node does not take part in the cluster yet, or has another name: restart it")
	}
	var hash string
	if err == nil {
		live := cfg.LiveFrom(w.Config) // the store is open, with the keys of before
		cfg.Store, cfg.Cluster = live.Store, live.Cluster
		hash, err = cfg.Common()
	}
	if err != nil {
		w.Log.Error().Err(err).Msg("cannot reload; nothing has changed")
		return
	}
	node.SetConfig(hash, smscsOf(cfg))
	w.Config = cfg
	w.Log.Info().Msg("configuration reloaded; it takes effect when this node takes the work over")
}

// listen opens the sockets of the connectors and of operators that are not open yet.
func (w *Standby) listen() error {
	open := func(name string, addresses ...string) error {
		for _, address := range addresses {
			s, err := sock.Listen(address)
			if err != nil {
				return err
			}
			w.Opened[name] = append(w.Opened[name], s)
		}
		return nil
	}
	if a := w.Config.Admin.Address; a != "" && w.Opened[AdminSocket] == nil {
		if err := open(AdminSocket, a); err != nil {
			return fmt.Errorf("cannot start admin (admin.address): %w", err)
		}
	}
	for i := range w.Config.Connectors {
		if c := &w.Config.Connectors[i]; c.Listens() && w.Opened[c.Name] == nil {
			if err := open(c.Name, c.AllAddresses()...); err != nil {
				return fmt.Errorf("cannot start connector %s: %w", c.Name, err)
			}
		}
	}
	return nil
}

// sockets returns the listening sockets, with their protocols and encryption.
func (w *Standby) sockets() (all []standby.Socket, err error) {
	add := func(name string, t *config.TLS, p standby.Protocol) error {
		one := standby.Socket{Protocol: p}
		if t.Enabled {
			files, err := tlsfiles.Open(t.Options(true), true)
			if err != nil {
				return fmt.Errorf("cannot listen for %s: %w", name, err)
			}
			one.TLS = files.Following(func(err error) {
				w.Log.Error().Err(err).Str("of", name).
					Msg("cannot take over changed files of tls; those that were read before stay in force")
			})
		}
		for _, one.Listening = range w.Opened[name] {
			all = append(all, one)
		}
		return nil
	}
	err = add(AdminSocket, &w.Config.Admin.TLS, standby.Admin)
	for i := range w.Config.Connectors {
		switch c := &w.Config.Connectors[i]; {
		case c.Role() != protocols.Server:
			err = errors.Join(err, add(c.Name, &config.TLS{}, standby.Other))
		case c.Protocol == "smpp":
			err = errors.Join(err, add(c.Name, &c.TLS, standby.SMPP))
		case c.Protocol == "http":
			err = errors.Join(err, add(c.Name, &c.TLS, standby.HTTP))
		case c.Protocol == "ucp":
			err = errors.Join(err, add(c.Name, &c.TLS, standby.UCP))
		default:
			err = errors.Join(err, add(c.Name, &config.TLS{}, standby.Other))
		}
	}
	return all, err
}

// report returns what this node knows of the cluster, nil until the node takes part.
func (w *Standby) report() *report.Report {
	if n := w.node.Load(); n != nil {
		return n.Report()
	}
	return nil
}

// state returns this node's description of itself.
func (w *Standby) state() (any, string) {
	n := w.node.Load()
	if n == nil {
		s := cluster.State{Node: w.Config.Cluster.Node, State: "connecting"}
		if why := w.trouble.Load(); why != nil {
			s.Reason = "it cannot use the servers of the cluster yet: " + *why
			return s, "this node stands by: " + s.Reason
		}
		return s, "this node stands by: the servers of the cluster do not answer yet"
	}
	s, line := n.State(), "this node stands by, and no node owns the work"
	if owner := n.Owner(); owner != "" {
		line = "this node stands by: node " + owner + " owns the work"
	}
	if s.Reason != "" {
		line += "; it cannot take over, because " + s.Reason
	}
	if s.Trouble != "" {
		line += "; the servers of NATS: " + s.Trouble
	}
	return s, line
}
