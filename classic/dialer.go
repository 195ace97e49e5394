package classic

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"pmg/connector"
	"pmg/sms"
)

// dial connects an instance in a goroutine of its own, which goes on as the
// reader of its sessions, one after the other. code tells how the last one went.
func (g *group) dial(i *connector.Instance, code sms.Code) {
	g.engine.run(func() {
		for again := true; again; {
			socket := g.connect(i, code)
			if socket == nil {
				return
			}
			c := g.newConn(i, socket)
			c.begin()
			c.serve()
			again, code = g.closed(c)
		}
	})
}

// closed has an instance back, and tells whether to connect it again.
func (g *group) closed(c *conn) (again bool, code sms.Code) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.box.Closed(&c.Link)
}

// connect returns a connected socket; nil when the instance is not needed any more.
// It begins at once after a session that worked, and after a rest otherwise.
func (g *group) connect(i *connector.Instance, code sms.Code) net.Conn {
	err := errors.New("session not accepted")
	if code == sms.OK {
		i.Failures, err = 0, nil
	}
	for {
		if err != nil {
			rest(g.dialing, g.gateway.ConnectFailed(i, err))
			if !g.needed(i) {
				return nil
			}
		}
		var socket net.Conn
		if socket, err = g.connectAny(i); err == nil {
			return socket
		}
		if g.dialing.Err() != nil {
			return nil
		}
	}
}

func rest(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

// needed tells whether the instance is still to be connected; if not, it is given back.
func (g *group) needed(i *connector.Instance) bool {
	if g.dialing.Err() != nil {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.Config().IsStatic() || g.Queued.Load() > 0 {
		return true
	}
	g.box.Park(i)
	return false
}

// connectAny tries the connector's addresses, each with all that its name stands for.
func (g *group) connectAny(i *connector.Instance) (socket net.Conn, err error) {
	cfg := g.Config()
	addresses := cfg.AllAddresses()
	for n := range addresses {
		address := addresses[(i.Address+n)%len(addresses)]
		d := net.Dialer{Timeout: cfg.ConnectTimeout}
		if socket, err = d.DialContext(g.dialing, "tcp", address); err == nil {
			return socket, nil
		}
		err = fmt.Errorf("cannot connect to %s: %w", address, err)
	}
	return nil, err
}
