package classic

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"

	"pmg/connector"
	"pmg/internal/sock"
)

// An acceptor holds the listening sockets of a connector. group.mu guards it.
type acceptor struct {
	sockets []net.Listener
	shut    bool
	free    sync.Cond // an instance has become free, or the acceptor was shut
}

// listen opens the connector's listening sockets, all of them or none.
func (g *group) listen() error {
	if !g.Config().Listens() {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, address := range g.Config().AllAddresses() {
		s, err := net.Listen("tcp", address)
		if err != nil {
			g.shut()
			return fmt.Errorf("cannot start connector %s: %w", g.Name, sock.ListenError(address, err))
		}
		g.acceptor.sockets = append(g.acceptor.sockets, s)
	}
	return nil
}

func (g *group) unlisten() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut()
}

// shut closes the sockets, which ends the goroutines that accept on them. The caller holds
// the lock.
func (g *group) shut() {
	for _, s := range g.acceptor.sockets {
		_ = s.Close()
	}
	g.acceptor.sockets, g.acceptor.shut = nil, true
	g.acceptor.free.Broadcast()
}

func (g *group) addresses() (all []netip.AddrPort) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, s := range g.acceptor.sockets {
		all = append(all, s.Addr().(*net.TCPAddr).AddrPort())
	}
	return all
}

func (g *group) acceptAll() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, s := range g.acceptor.sockets {
		g.engine.run(func() { g.acceptFrom(s) })
	}
}

// acceptFrom accepts clients while an instance is free. Further clients wait in the
// kernel's backlog and are not refused. If several sockets compete for the last free
// instance, a client may be accepted and then wait for one.
func (g *group) acceptFrom(s net.Listener) {
	for g.awaitFree() {
		socket, err := s.Accept()
		if err != nil {
			if !g.acceptFailed(err) {
				return
			}
			continue
		}
		if !g.gateway.Sessions.Admit(g.Connector, remote(socket)) {
			_ = socket.Close()
			continue
		}
		i := g.acquire()
		if i == nil {
			g.gateway.Sessions.Leave(g.Connector, nil, remote(socket))
			_ = socket.Close()
			return
		}
		c := g.newConn(i, socket)
		c.begin()
		serve := func() {
			c.serve()
			g.release(i)
		}
		if !g.engine.run(serve) { // the engine is closed
			serve()
		}
	}
}

func remote(socket net.Conn) netip.AddrPort {
	a := socket.RemoteAddr().(*net.TCPAddr).AddrPort()
	return netip.AddrPortFrom(a.Addr().Unmap(), a.Port())
}

// awaitFree waits until an instance is free. It returns false when the acceptor is shut.
func (g *group) awaitFree() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for !g.acceptor.shut && !g.HasFree() {
		g.gateway.Sessions.NoInstance(g.Connector)
		g.acceptor.free.Wait()
	}
	return !g.acceptor.shut
}

// acquire takes an instance, and waits for one if necessary. It returns nil when the
// acceptor is shut.
func (g *group) acquire() *connector.Instance {
	g.mu.Lock()
	defer g.mu.Unlock()
	for !g.acceptor.shut {
		if i := g.Acquire(); i != nil {
			return i
		}
		g.acceptor.free.Wait()
	}
	return nil
}

func (g *group) release(i *connector.Instance) {
	g.mu.Lock()
	defer g.mu.Unlock()
	i.SetLink(nil)
	g.Return(i)
	g.acceptor.free.Broadcast()
}

// acceptFailed waits before accept is tried again. If descriptors have run out, it waits
// until a connection frees one, but not for long, because other code may free one as well.
// It returns false when the acceptor is shut.
func (g *group) acceptFailed(err error) bool {
	if errors.Is(err, net.ErrClosed) {
		return false
	}
	g.gateway.Sessions.AcceptFailed(g.Connector, err)
	select {
	case <-g.engine.ctx.Done():
	case <-g.engine.freed:
	case <-time.After(time.Second):
	}
	return true
}
