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
	// Wake ends a pause. changed means that the options have changed.
	Wake(changed bool)
	// Close ends the courier. The lane must not send anything more.
	Close()
}

// reach begins to deliver the messages of a connector.
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

// courierOf returns the courier of a connector's messages, nil if there is none.
func (x *Engine) courierOf(c *connector.Connector) courier {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.out[c]
}

// smscOf returns the HTTP client of a connector's SMSC, nil if the connector has none.
func (x *Engine) smscOf(c *connector.Connector) *httpsmsc.SMSC {
	v, _ := x.courierOf(c).(*httpsmsc.SMSC)
	return v
}

// reached returns the time since when the SMSC of a connector that is called by HTTP is reachable; 0: it is not reachable.
func (x *Engine) reached(c *connector.Connector) int64 {
	if v := x.smscOf(c); v != nil {
		return v.ReachedAt()
	}
	return 0
}

// Sandbox returns the SMSC of a connector of protocol test, nil if the connector has none.
func (x *Engine) Sandbox(c *connector.Connector) *sandbox.SMSC {
	v, _ := x.courierOf(c).(*sandbox.SMSC)
	return v
}

// takeCourier removes and returns the courier of a connector.
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

// goneInterval is the pause between checks whether a removed connector has sent its messages.
const goneInterval = 200 * time.Millisecond

// leave closes the courier of a removed connector when its lane is empty.
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
