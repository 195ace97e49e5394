package webhook

import (
	"context"
	"sync"

	"pmg/config"
	"pmg/connector"
	"pmg/internal/httpcall"
)

// An Engine runs work where a lane is dispatched for, and then dispatches the lane. It reports false if the gateway ends.
type Engine interface {
	Do(l *connector.Lane, f func(now int64)) bool
}

// Service are the couriers of all servers of clients.
type Service struct {
	rooms    Rooms
	engine   Engine
	events   *Events
	dialects dialects
	caller   *httpcall.Caller
	ctx      context.Context
	cancel   context.CancelFunc
	under    sync.WaitGroup

	batches batches

	mu     sync.Mutex
	of     map[*connector.Lane]*courier
	closed bool
}

// New returns what calls the webhooks of a gateway, whose lanes are dispatched by engine.
func New(rooms Rooms, engine Engine, events *Events) *Service {
	c := &Service{
		rooms: rooms, engine: engine, events: events, dialects: newDialects(),
		caller:  httpcall.NewCaller(httpcall.Options{Holds: rooms.Holds}),
		batches: batches{of: map[string]int{}}, of: map[*connector.Lane]*courier{},
	}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	c.under.Go(c.tellLows)
	return c
}

// Serve implements webhooks.Service: it delivers the messages of a lane to the client's webhook.
func (c *Service) Serve(l *connector.Lane) {
	if l.Endpoint == config.PullLane { // its client comes for what it has
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of[l] != nil {
		return
	}
	server := c.rooms.Servers.Server(l)
	one := &courier{service: c, lane: l, server: server, under: map[uint64][]*connector.Slot{}}
	c.of[l] = one
	one.server.CalledBy(one)
	one.Follow()
}

// start runs f on a goroutine and reports true, unless the gateway is ending. Events that were not delivered stay in the store.
func (c *Service) start(f func()) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.under.Go(f)
	}
	return !c.closed
}

// Close ends the calls that are under way.
func (c *Service) Close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.cancel()
	c.under.Wait()
	c.caller.Close()
}
