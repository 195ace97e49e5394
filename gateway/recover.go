package gateway

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"pmg/config"
	"pmg/connector"
	"pmg/connector/queue"
	"pmg/gateway/keep"
	"pmg/sms"
	"pmg/store"
)

// recoverAtATime is how many messages recovery reads before it passes them to the lanes, which
// takes a few milliseconds.
const recoverAtATime = 4096

// A recovery returns the messages that earlier runs have left in the store to their
// lanes. The gateway serves meanwhile.
type recovery struct {
	gateway *Gateway
	engine  Engine
	cfg     *config.Config
	ahead   int64
	last    uint64 // highest id of earlier runs
	began   int64
	arrived int64 // time of arrival of the previous message

	places map[string]*connector.Share // shares by the names in records
	key    []byte                      // storage for keys of places
	parts  map[*connector.Share][]queue.Waiting
	shares []*connector.Share // shares with messages in parts, in the order of their first messages

	found, aside, lost int
	unknown            int // number of messages that were under way when the gateway was killed, and are not sent again
}

// Recover returns the messages of earlier runs to their lanes, until ctx is done. The log
// says how many there were.
func (g *Gateway) Recover(ctx context.Context, e Engine) {
	g.Keeper.Outgoing.Begin(e.Do)
	if !g.Keeper.Durable() {
		return
	}
	began := time.Now()
	g.Keeper.Loads.Begin(e.Do)
	r := &recovery{
		gateway: g, engine: e, cfg: g.Node.Config(), ahead: g.Node.Clock.Ahead(), last: g.Keeper.LastStored,
		began:  g.Node.Clock.Now(),
		places: map[string]*connector.Share{}, parts: map[*connector.Share][]queue.Waiting{},
	}
	err := r.run(ctx)
	g.Keeper.SetRecovered()
	if ctx.Err() != nil {
		return // the gateway is stopping; unread messages stay in the store
	}
	log := g.Node.Log.Info()
	if err != nil {
		log = g.Node.Log.Error().Err(err)
	}
	if r.aside > 0 {
		log.Int("aside", r.aside)
	}
	if r.unknown > 0 {
		log.Int("unknown", r.unknown)
	}
	if r.lost > 0 {
		log.Int("unreadable", r.lost)
	}
	if err != nil {
		all := "messages of earlier runs cannot be read: stop the gateway, and run pmg store repair"
		g.upkeep.unread.CompareAndSwap(nil, &all)
		log.Int("messages", r.found).Msg("cannot read all messages of earlier runs; they stay in the store")
	} else if r.found+r.aside+r.lost+r.unknown > 0 {
		log.Int("messages", r.found).Stringer("took", time.Since(began).Round(time.Millisecond)).
			Msg("messages of earlier runs are in their queues again")
	}
}

// run reads all messages of earlier runs. It goes on behind those that cannot be read, and returns
// why they could not.
func (r *recovery) run(ctx context.Context) (failed error) {
	for from := uint64(0); from != noMore; {
		next, err := r.page(from)
		if !r.hand(ctx) {
			return ctx.Err()
		}
		if err != nil {
			failed = errors.Join(failed, err)
			if next, err = r.behind(next); err != nil {
				return failed
			}
		}
		from = next
	}
	return failed
}

// noMore is returned instead of the next id if there is none.
const noMore = math.MaxUint64

// page reads some messages, and returns the id to go on with: after an error, the first one that
// was not read.
func (r *recovery) page(from uint64) (next uint64, err error) {
	at := from
	next, err = r.gateway.Keeper.Index.Scan(from, recoverAtATime, func(e *store.Entry) error {
		if at = e.ID + 1; e.ID <= r.last {
			r.entry(e)
		}
		return nil
	})
	switch {
	case err != nil:
		return at, fmt.Errorf("cannot read store: %w", err)
	case next == 0 || next > r.last:
		return noMore, nil
	}
	return next, nil
}

// behind returns about the lowest readable id behind one that cannot be read: a file of the store
// is read in blocks, and one is damaged. It looks at distances that double, and then between the
// last two.
func (r *recovery) behind(bad uint64) (good uint64, err error) {
	first := bad
	read := func(from uint64) bool {
		_, err = r.gateway.Keeper.Index.Scan(from, 1, func(*store.Entry) error { return nil })
		return err == nil
	}
	step := uint64(1)
	for good = bad + step; !read(good); good = bad + step {
		if good > r.last {
			return 0, err
		}
		bad = good
		step *= 2
	}
	for bad+1 < good {
		if middle := bad + (good-bad)/2; read(middle) {
			good = middle
		} else {
			bad = middle
		}
	}
	r.gateway.showUnread(first, min(good-1, r.last))
	return good, nil
}

// showUnread shows the operator the messages that recovery could not read, for as long as the
// gateway runs.
func (g *Gateway) showUnread(first, last uint64) {
	problem := fmt.Sprintf(
		"messages of earlier runs cannot be read, those from %s to %s among them: stop the gateway, and run pmg store repair",
		sms.FormatID(first), sms.FormatID(last),
	)
	g.upkeep.unread.CompareAndSwap(nil, &problem)
	g.Node.Log.Error().Str("from", sms.FormatID(first)).Str("to", sms.FormatID(last)).
		Msg("cannot read messages of earlier runs; they stay in the store: stop the gateway, and run pmg store repair")
}

// hand gives the lanes what was read, and waits until they have it. It returns false if the lanes
// accept no messages any more.
func (r *recovery) hand(ctx context.Context) bool {
	for _, s := range r.shares {
		part := r.parts[s]
		if len(part) == 0 {
			continue
		}
		s.Lane.Queues.Unfit(r.last)
		done := make(chan struct{})
		ok := r.engine.Do(s.Lane, func(now int64) {
			for _, w := range part {
				s.Lane.Queues.Restore(now, s, w)
			}
			close(done)
		})
		if !ok {
			return false
		}
		select {
		case <-done:
		case <-ctx.Done():
			return false
		}
		r.parts[s] = part[:0]
	}
	return ctx.Err() == nil
}

// entry finds the place of a message.
func (r *recovery) entry(e *store.Entry) {
	h, err := store.DecodeHead(e.Record)
	var s store.State
	if err == nil && e.State != nil {
		s, err = store.DecodeState(e.State)
	}
	if err != nil {
		r.lost++
		r.gateway.Keeper.LogUnreadable(e.ID, err)
		return
	}
	if h.Price > 0 {
		r.gateway.Node.Origins.TallyOf(string(h.Account)).Credit.Found(h.Price)
	}
	if s.Aside == store.Asked {
		r.asked(e, &h, s.Lane)
		return
	}
	if s.Aside != store.InLane {
		r.gateway.Keeper.CountAside(r.gateway.Node.Origins.Of(string(h.Account), string(h.Connector)), s.Aside, 1)
		if s.Aside == store.Orphan {
			r.gateway.Receipts.Orphans.Find(e)
		} else if s.Aside == store.Dead {
			r.gateway.Settler.Dead.Add(e.ID, s.Lane.Account, s.NotBefore, int64(len(e.Record)))
		}
		r.aside++
		return
	}
	if s.UnderWay && r.ends(e, s.Lane) {
		r.unknown++
		return
	}
	share := r.share(e, &h, s.Lane)
	if share == nil {
		r.aside++
		return
	}
	r.found++
	if _, known := r.parts[share]; !known {
		r.shares = append(r.shares, share)
	}
	// Messages leave in the order of their ids, even if the wall clock went back between them.
	r.arrived = max(r.arrived, min(h.Arrived-r.ahead, r.began))
	r.parts[share] = append(r.parts[share], queue.Waiting{
		ID: e.ID, Priority: h.Priority,
		Arrived: r.arrived, DeliverAt: r.engineTime(h.DeliverAt),
		NotBefore: r.gateway.Keeper.NotBefore(s.NotBefore, r.ahead), Expires: r.engineTime(h.Expires),
	})
}

// asked continues to ask plugins about a receipt that had no verdict yet.
func (r *recovery) asked(e *store.Entry, h *store.Head, lane store.Lane) {
	share := r.share(e, h, lane)
	if share == nil {
		r.aside++
		return
	}
	m, _, err := r.gateway.Keeper.Decode(e)
	if err != nil {
		r.lost++
		r.gateway.Keeper.LogUnreadable(e.ID, err)
		return
	}
	r.found++
	r.gateway.Keeper.CountAside(nil, store.Asked, 1)
	r.gateway.Receipts.Asking.Begin(m, share)
}

// ends ends a message that was under way when the gateway was killed. It returns false if such
// messages must be sent again.
func (r *recovery) ends(e *store.Entry, lane store.Lane) bool {
	g := r.gateway
	l := g.Table.LaneNamed(r.cfg, lane)
	if l == nil || l.Config().OnUnknown != config.Fail {
		return false
	}
	m, _, err := g.Keeper.Decode(e)
	if err != nil {
		return false // the message is checked again when it is due
	}
	defer m.Release()
	g.Settler.EndUnsent(g.Node.Clock.Now(), l, m, sms.Lost)
	g.Keeper.Commit()
	return true
}

// engineTime returns a stored time by the engine's clock; 0 stays 0.
func (r *recovery) engineTime(wall int64) int64 {
	if wall == 0 {
		return 0
	}
	return wall - r.ahead
}

// share returns the share of a message: in the lane in which it has waited, or where that is gone,
// in the lane that its route leads to now. Without a route the message is parked, and share returns
// nil.
func (r *recovery) share(e *store.Entry, h *store.Head, moved store.Lane) *connector.Share {
	if moved == (store.Lane{}) {
		r.key = r.key[:0]
		for _, name := range [][]byte{h.Account, h.Connector, h.LaneConnector, h.LaneAccount} {
			r.key = append(append(r.key, name...), 0)
		}
		if s := r.places[string(r.key)]; s != nil {
			return s
		}
		moved = store.Lane{Connector: string(h.LaneConnector), Account: string(h.LaneAccount)}
	}
	g := r.gateway
	origin := g.Node.Origins.Of(string(h.Account), string(h.Connector))
	if lane := g.Table.LaneNamed(r.cfg, moved); lane != nil {
		s := g.Table.Share(lane, origin)
		if e.State == nil {
			r.places[string(bytes.Clone(r.key))] = s
		}
		return s
	}
	m, _, err := g.Keeper.Decode(e)
	if err != nil {
		g.Keeper.LogUnreadable(e.ID, err)
		return nil
	}
	defer m.Release()
	if lane := g.Table.Route(m); lane != nil {
		return g.Table.Share(lane, origin)
	}
	why := keep.Accepted{Message: m}.Aside()
	g.Keeper.SetAside(m, store.Lane{}, why, keep.AsideReasons[why])
	if why == store.Orphan {
		g.Receipts.Orphans.Keep(m)
	}
	return nil
}
