package classic

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"

	"pmg/connector"
)

// An acceptor is where a connector's clients come in. group.mu guards it.
type acceptor struct {
	sockets []net.Listener
	shut    bool
	free    sync.Cond // an instance was given back, or the acceptor is shut
}

// listen opens the connector's sockets, all of them or none.
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
			return fmt.Errorf("cannot listen on %s: %w", address, err)
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

// shut closes the sockets; who accepts on them ends. The caller holds the lock.
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

// acceptFrom accepts clients while an instance is free; the others wait in the
// kernel's backlog, and none is lost. Only where several sockets share the last
// instance does a client that came second wait accepted.
func (g *group) acceptFrom(s net.Listener) {
	for g.awaitFree() {
		socket, err := s.Accept()
		if err != nil {
			if !g.acceptFailed(err) {
				return
			}
			continue
		}
		if !g.gateway.Admit(g.Connector, remote(socket)) {
			_ = socket.Close()
			continue
		}
		i := g.acquire()
		if i == nil {
			g.gateway.Leave(remote(socket))
			_ = socket.Close()
			return
		}
		c := g.newConn(i, socket)
		c.begin()
		serve := func() {
			c.serve()
			g.release(i)
		}
		if !g.engine.run(serve) { // the session ends immediately
			serve()
		}
	}
}

func remote(socket net.Conn) netip.AddrPort {
	a := socket.RemoteAddr().(*net.TCPAddr).AddrPort()
	return netip.AddrPortFrom(a.Addr().Unmap(), a.Port())
}

// awaitFree waits until an instance is free. False: the acceptor is shut.
func (g *group) awaitFree() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for !g.acceptor.shut && !g.HasFree() {
		g.gateway.NoInstance(g.Connector)
		g.acceptor.free.Wait()
	}
	return !g.acceptor.shut
}

// acquire takes an instance, and waits for one if need be; nil: the acceptor is shut.
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

// acceptFailed waits before the next try: without descriptors until one is given
// back, by us or, which nobody tells, by others. False: the acceptor is shut.
func (g *group) acceptFailed(err error) bool {
	if errors.Is(err, net.ErrClosed) {
		return false
	}
	g.gateway.AcceptFailed(g.Connector, err)
	select {
	case <-g.engine.ctx.Done():
	case <-g.engine.freed:
	case <-time.After(time.Second):
	}
	return true
}
