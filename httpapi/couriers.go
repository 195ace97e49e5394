package httpapi

import (
	"time"

	"pmg/config"
	"pmg/connector"
	"pmg/httpapi/httpsmsc"
	"pmg/sandbox"
)

// A courier carries the messages of an out connector without sessions: to an SMSC that is called by HTTP, or to the sandbox.
type courier interface {
	// Wake ends a rest. changed says that other options are in force.
	Wake(changed bool)
	// Close ends it. The lane gives nothing more.
	Close()
}

// reach begins to carry the messages of a connector.
func (x *Engine) reach(c *connector.Connector) (err error) {
	var v courier
	if c.Config().Transport() == config.Nowhere {
		v = sandbox.Start(x.ctx, x.gateway, x, c)
	} else if v, err = httpsmsc.New(x.ctx, forSMSCs(x.gateway, x.holds), x, c); err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.out[c] = v
	return nil
}

// courierOf returns what carries the messages of a connector, nil if nothing here does.
func (x *Engine) courierOf(c *connector.Connector) courier {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.out[c]
}

// smscOf returns the HTTP client of a connector's SMSC, nil if it has none.
func (x *Engine) smscOf(c *connector.Connector) *httpsmsc.SMSC {
	v, _ := x.courierOf(c).(*httpsmsc.SMSC)
	return v
}

// reached returns since when the SMSC of a connector, which is called by HTTP, has been reached; 0 if it is not.
func (x *Engine) reached(c *connector.Connector) int64 {
	if v := x.smscOf(c); v != nil {
		return v.ReachedAt()
	}
	return 0
}

// Sandbox returns the SMSC of a connector of protocol test, nil if it has none.
func (x *Engine) Sandbox(c *connector.Connector) *sandbox.SMSC {
	v, _ := x.courierOf(c).(*sandbox.SMSC)
	return v
}

// takeCourier removes and returns what carries the messages of a connector.
func (x *Engine) takeCourier(c *connector.Connector) courier {
	x.mu.Lock()
	defer x.mu.Unlock()
	v := x.out[c]
	delete(x.out, c)
	return v
}

// Rebind implements gateway.Service.
func (x *Engine) Rebind(c *connector.Connector) {
	if v := x.courierOf(c); v != nil {
		v.Wake(true)
		return
	}
	x.Engine.Rebind(c)
}

// Connect implements gateway.Service.
func (x *Engine) Connect(c *connector.Connector) {
	if v := x.courierOf(c); v != nil {
		v.Wake(false)
		return
	}
	x.Engine.Connect(c)
}

// goneInterval is how often a connector that was removed is asked whether it has sent what it had.
const goneInterval = 200 * time.Millisecond

// leave closes a courier when its lane has nothing more to send, because the connector was removed.
func (x *Engine) leave(c *connector.Connector, v courier) {
	t := time.NewTicker(goneInterval)
	defer t.Stop()
	for lane := x.gateway.Table.LaneOf(c); !x.isGone(lane); {
		select {
		case <-t.C:
		case <-x.ctx.Done():
		}
	}
	v.Close()
}

// isGone reports whether the lane has nothing more to send, or the gateway ends.
func (x *Engine) isGone(lane *connector.Lane) (gone bool) {
	answer := make(chan bool, 1)
	if !x.Do(lane, func(int64) { answer <- lane.Gone() }) {
		return true
	}
	select {
	case gone = <-answer:
		return gone
	case <-x.ctx.Done():
		return true
	}
}
