package webhook

import (
	"context"
	"sync"

	"pmg/config"
	"pmg/connector"
	"pmg/connector/worker"
	"pmg/internal/httpcall"
)

// A Service contains the couriers of all servers of clients.
type Service struct {
	rooms    Rooms
	engine   worker.Engine
	events   *Events
	dialects dialects
	caller   *httpcall.Caller
	group    *worker.Group // group of all calls

	batches batches

	mu sync.Mutex
	of map[*connector.Lane]connector.Courier
}

// New returns the service that calls the webhooks of a gateway, whose lanes are dispatched by engine.
func New(rooms Rooms, engine worker.Engine, events *Events) *Service {
	c := &Service{
		rooms: rooms, engine: engine, group: worker.NewGroup(context.Background()), events: events, dialects: newDialects(),
		caller:  httpcall.NewCaller(httpcall.Options{Holds: rooms.Holds}),
		batches: batches{of: map[string]int{}}, of: map[*connector.Lane]connector.Courier{},
	}
	c.group.Go(c.tellLows)
	return c
}

// Serve implements webhooks.Service: it delivers the messages of a lane to the client's webhook.
func (c *Service) Serve(l *connector.Lane) {
	if l.Endpoint == config.PullLane { // the lane's client fetches its events
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of[l] != nil {
		return
	}
	if l.Endpoint == config.InboxLane {
		c.of[l] = deliverToInbox(c, l)
		return
	}
	one := newCourier(c, l)
	c.of[l] = one
	one.server.CalledBy(one)
	one.Follow()
}

// Close ends the running calls. Events that were not delivered stay in the store.
func (c *Service) Close() {
	c.group.Close()
	c.caller.Close()
}
