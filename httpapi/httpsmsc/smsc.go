package httpsmsc

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"pmg/connector"
	"pmg/connector/worker"
	"pmg/httpapi/server"
	"pmg/internal/httpcall"
)

// An SMSC checks whether the SMSC of a connector can be reached by HTTP, and opens the connector's lane while it can.
//
//	try ──► reached: open ──► a call does not reach it: shut ──► rest ──┐
//	 ▲ └──► not reached ──► rest ──┐                                    │
//	 └─────────────────────────────┴────────────────────────────────────┘
type SMSC struct {
	rooms     Rooms
	engine    worker.Engine
	connector *connector.Connector
	lane      *connector.Lane
	instance  *connector.Instance // counts the failed attempts
	log       *server.Log
	again     chan bool // ends a pause; true: the options have changed
	current   atomic.Pointer[courier]
	since     atomic.Int64  // time by the engine's clock since when the SMSC is reachable; 0: it is not reachable
	group     *worker.Group // group of all calls
}

// ReachedAt returns since when the SMSC is reachable, by the engine's clock; 0: it is not reachable.
func (v *SMSC) ReachedAt() int64 { return v.since.Load() }

// New begins to call the SMSC of a connector.
func New(ctx context.Context, rooms Rooms, engine worker.Engine, c *connector.Connector) (*SMSC, error) {
	v := &SMSC{
		rooms: rooms, engine: engine, connector: c, lane: rooms.Lanes.LaneOf(c), instance: c.Acquire(),
		log:   server.NewLog(c, &rooms.Node.Clock),
		again: make(chan bool, 1), group: worker.NewGroup(ctx),
	}
	w, err := newCourier(v)
	if err != nil {
		v.group.Close()
		c.Return(v.instance)
		return nil, err
	}
	v.current.Store(w)
	v.group.Go(v.keep)
	return v, nil
}

// Close ends the running calls. It is called when the lane sends nothing more: the engine has ended, or the lane is empty.
func (v *SMSC) Close() {
	v.group.Close()
	v.current.Load().close()
	v.connector.Return(v.instance)
	v.log.Close()
}

// Wake ends the pause. If the options have changed, a new client is made.
func (v *SMSC) Wake(changed bool) {
	for {
		select {
		case v.again <- changed:
			return
		default:
		}
		select {
		case earlier := <-v.again: // the earlier value was not received yet
			changed = changed || earlier
		default:
		}
	}
}

// keep checks the SMSC, and opens and shuts its lane, until the gateway ends.
func (v *SMSC) keep() {
	for v.group.Err() == nil {
		w := v.current.Load()
		why := w.try(v.group)
		changed := false
		if why == "" {
			v.open(w)
			for why == "" && !changed && v.group.Err() == nil {
				select {
				case why = <-w.lost:
				case changed = <-v.again:
				case <-v.group.Done():
				}
			}
			v.shut(w)
		}
		if why != "" && v.group.Err() == nil {
			changed = v.rest(w, why)
		}
		if changed {
			v.renew()
		}
	}
}

// rest waits until the next attempt to reach the SMSC. It reports whether the options have changed meanwhile.
func (v *SMSC) rest(w *courier, why string) (changed bool) {
	rooms := &v.rooms
	if w.works.Swap(false) {
		v.instance.Failures = 0
	}
	rest := rooms.Links.ConnectFailed(rooms.Node.Clock.Now(), v.instance, errors.New(why))
	t := time.NewTimer(rest)
	defer t.Stop()
	select {
	case <-t.C:
	case changed = <-v.again:
	case <-v.group.Done():
	}
	return changed
}

// renew makes a courier with the present options. The options were checked; if they cannot be used nevertheless, the earlier
// ones stay in use.
func (v *SMSC) renew() {
	w, err := newCourier(v)
	if err != nil {
		v.rooms.Node.Log.Error().Err(err).Str("connector", v.connector.Name).Msg("the earlier options stay in force")
		return
	}
	v.current.Swap(w).close()
}

// open opens the lane.
func (v *SMSC) open(w *courier) {
	select {
	case <-w.lost: // reason of an earlier attempt
	default:
	}
	v.engine.Do(v.lane, func(now int64) {
		if !w.worker.IsOpen() && !v.lane.Gone() {
			v.rooms.Links.Reached(now, v.connector)
			w.worker.Open(w.worker, w.window)
			v.since.Store(now)
		}
	})
}

// shut stops the lane from giving messages.
func (v *SMSC) shut(w *courier) {
	v.engine.Do(v.lane, func(int64) {
		if w.worker.IsOpen() {
			w.worker.Shut()
			v.since.Store(0)
		}
	})
}

// senderOptions returns the options of the HTTP client for a connector's SMSC at a host.
func senderOptions(c *connector.Connector, host string, holds func() bool) (o httpcall.Options) {
	cfg := c.Config()
	o = httpcall.Options{
		Connections: cfg.Instances * cfg.MostRequests(), ConnectTimeout: cfg.ConnectTimeout, Timeout: cfg.ResponseTimeout,
		Holds: holds,
	}
	if files := c.TLS(); files != nil {
		o.TLS = files.Config(host)
	}
	return o
}
