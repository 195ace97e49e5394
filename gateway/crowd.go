package gateway

import (
	"pmg/config"
	"pmg/connector"
	"pmg/sms"
)

// A Crowd is the submits that wait for room in a connector's full queue, oldest
// first: their answers, being late, slow their clients down. T is what an
// architecture keeps of a submit. It is not safe for concurrent use.
type Crowd[T any] struct {
	gateway *Gateway
	to      *connector.Connector
	waiting []waiting[T]
}

type waiting[T any] struct {
	message *sms.Message
	submit  T
	until   int64 // refused then
}

// NewCrowd makes the crowd before a connector.
func NewCrowd[T any](g *Gateway, to *connector.Connector) *Crowd[T] {
	return &Crowd[T]{gateway: g, to: to}
}

// Wait makes a submit wait. False: it is to be refused instead.
func (c *Crowd[T]) Wait(now int64, m *sms.Message, submit T) bool {
	cfg := c.to.Config()
	if cfg.QueueFull == config.Refuse || cfg.QueueWait == 0 {
		return false
	}
	if len(c.waiting) == 0 {
		c.gateway.Log.Debug().Str("connector", c.to.Name).Int64("queued", c.to.Queued.Load()).Msg("queue full; answers are delayed")
	}
	c.waiting = append(c.waiting, waiting[T]{m, submit, now + int64(cfg.QueueWait)})
	c.to.Starved.Store(true)
	return true
}

// LetIn hands as many submits as there is room for to accept, and those that
// have waited too long to refuse.
func (c *Crowd[T]) LetIn(now int64, accept func(*sms.Message, T), refuse func(*sms.Message, T)) {
	n := 0
	for n < len(c.waiting) {
		w := c.waiting[n]
		room := c.to.Room() > 0
		if !room && now < w.until {
			break
		}
		n++
		if room {
			accept(w.message, w.submit)
		} else {
			refuse(w.message, w.submit)
		}
	}
	clear(c.waiting[:n])
	c.keep(c.waiting[n:])
}

// Drop takes out the submits of whom nobody waits for an answer, and hands them
// to discard. They were never accepted.
func (c *Crowd[T]) Drop(gone func(T) bool, discard func(T)) {
	kept := c.waiting[:0]
	for _, w := range c.waiting {
		if !gone(w.submit) {
			kept = append(kept, w)
			continue
		}
		w.message.Release()
		discard(w.submit)
	}
	clear(c.waiting[len(kept):])
	c.keep(kept)
}

// keep makes a part of the list the whole. Its place in memory moves on as the
// list is appended to, so that letting in costs the same before any crowd.
func (c *Crowd[T]) keep(part []waiting[T]) {
	c.waiting = part
	c.to.Starved.Store(len(part) > 0)
}
