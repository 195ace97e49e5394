package v1

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"pmg/connector"
	"pmg/connector/streams"
	"pmg/connector/worker"
	"pmg/httpapi/webhook"
	"pmg/internal/httpcall"
	"pmg/protocols/httpsms"
	"pmg/protocols/httpsms/own"
	"pmg/sms"
)

// Limits of events that clients fetch.
const (
	mostPulled   = 100  // events in an answer
	mostHeld     = 1000 // events of an account that were fetched without an acknowledgement
	mostPulls    = 8    // waiting requests of an account
	longestWait  = 30 * time.Second
	gatherTime   = 20 * time.Millisecond // events that come within this time are sent together
	maxAckBody   = 64 << 10
	pullAgain    = time.Minute // an event without an acknowledgement is sent again after this time
	pullInterval = time.Second
)

// Pulls are the events that clients have fetched, or got in streams, and have not acknowledged.
type Pulls struct {
	engine worker.Engine
	now    func() int64
	ends   <-chan struct{} // closed when the gateway ends

	mu     sync.Mutex
	of     map[string]*pulled // what the clients fetch, by account
	closed bool
}

// NewPulls returns pulls without events. now is the engine's clock, and ends is closed when the gateway ends.
func NewPulls(engine worker.Engine, now func() int64, ends <-chan struct{}) *Pulls {
	return &Pulls{engine: engine, now: now, ends: ends, of: map[string]*pulled{}}
}

// pulled are the fetched events of an account.
type pulled struct {
	waiting int // waiting requests and streams
	held    map[string]held
	streams map[*eventStream]struct{}
}

// A held event is a fetched event that is not acknowledged yet, until pullAgain ends.
type held struct {
	lane   *connector.Lane
	slot   *connector.Slot
	until  int64
	stream *eventStream // stream that has sent the event; nil: the event was fetched
	number int          // number of the event within the stream
}

// account returns the fetched events of an account. The caller holds the lock.
func (p *Pulls) account(name string) *pulled {
	of := p.of[name]
	if of == nil {
		of = &pulled{held: map[string]held{}, streams: map[*eventStream]struct{}{}}
		p.of[name] = of
	}
	return of
}

// room returns the number of further events that the account may fetch. Events that a stream has sent count in the stream's
// limit.
func (of *pulled) room() int {
	n := mostHeld - len(of.held) - of.waiting*mostPulled
	for s := range of.streams {
		n += s.held
	}
	return n
}

// begin begins a request for events. It reports false if the account has too many running requests, or the gateway ends.
func (p *Pulls) begin(account string) (room int, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	of := p.account(account)
	room = of.room()
	if p.closed || of.waiting >= mostPulls || room <= 0 {
		return 0, false
	}
	of.waiting++
	return min(room, mostPulled), true
}

// fetched ends a request for events. From now on the fetched events are held.
func (p *Pulls) fetched(account string, lane *connector.Lane, slots []*connector.Slot, now int64) {
	var back []held
	p.mu.Lock()
	of := p.of[account]
	of.waiting--
	for _, s := range slots {
		if h := (held{lane: lane, slot: s, until: now + int64(pullAgain)}); p.closed {
			back = append(back, h)
		} else {
			of.held[webhook.EventID(s.Message)] = h
		}
	}
	p.mu.Unlock()
	p.end(back, true)
}

// acknowledge ends the events with ids, and returns the unknown ids.
func (p *Pulls) acknowledge(account string, ids []string) (unknown []string) {
	unknown = []string{}
	var all []held
	var known map[string]held
	p.mu.Lock()
	of := p.of[account]
	if of != nil {
		known = of.held
	}
	for _, id := range ids {
		h, ok := known[id]
		if !ok {
			unknown = append(unknown, id)
			continue
		}
		of.drop(id, h)
		if s := h.stream; s != nil && h.number > s.number {
			s.last, s.number = id, h.number
		}
		all = append(all, h)
	}
	p.mu.Unlock()
	p.end(all, false)
	return unknown
}

// drop removes an event.
func (of *pulled) drop(id string, h held) {
	delete(of.held, id)
	if h.stream != nil {
		h.stream.held--
		h.stream.full = 0
	}
}

// end returns events to their lanes: acknowledged ones, or with again, events to be sent again.
func (p *Pulls) end(all []held, again bool) {
	for _, h := range all {
		worker.Report(p.engine, h.lane, worker.Answer{Slot: h.slot, Answer: sms.Answer{Code: sms.OK}, Unsent: again})
	}
}

// Expire returns the events that were held for too long to their lanes; or all events when the gateway ends, which then
// accepts no more requests. A stream without acknowledgements ends, and returns its events itself.
func (p *Pulls) Expire(now int64, all bool) {
	var back []held
	p.mu.Lock()
	p.closed = p.closed || all
	for account, of := range p.of {
		for s := range of.streams {
			if all || s.full != 0 && s.full <= now {
				s.stop()
			}
		}
		for id, h := range of.held {
			_, goes := of.streams[h.stream]
			switch over := all || h.until <= now; {
			case over && goes:
				h.stream.stop()
			case over:
				back = append(back, h)
				of.drop(id, h)
			}
		}
		if len(of.held)+of.waiting == 0 {
			delete(p.of, account)
		}
	}
	p.mu.Unlock()
	p.end(back, true)
}

// Keep expires events until the gateway ends.
func (p *Pulls) Keep(ctx context.Context) {
	t := time.NewTicker(pullInterval)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			p.Expire(p.now(), false)
		case <-ctx.Done():
			return
		}
	}
}

// A pull receives the events of a lane while a request for events waits.
type pull struct {
	supply *worker.Supply
	pulls  *Pulls
	lane   *connector.Lane
	most   int           // events at a time
	came   chan struct{} // signals that events have come
}

// open starts the supply of events from a lane, n at a time. It reports false if the gateway ends.
func (p *Pulls) open(l *connector.Lane, n int) (*pull, bool) {
	came := make(chan struct{}, 1)
	supply := worker.NewSupply(p.engine, l, func() {
		select {
		case came <- struct{}{}:
		default:
		}
	})
	return &pull{supply, p, l, n, came}, p.engine.Do(l, func(int64) { supply.Open(supply, n) })
}

// take returns the events that came since the last call.
func (p *pull) take() []*connector.Slot { return p.supply.Take(p.most) }

// shut stops the supply of events, and returns after it has stopped.
func (p *pull) shut() {
	shut := make(chan struct{})
	if p.pulls.engine.Do(p.lane, func(int64) { p.supply.Shut(); close(shut) }) {
		select {
		case <-shut:
		case <-p.pulls.ends: // events that the lane has supplied stay in the store
		}
	}
}

// fetch returns up to n events that a lane supplies within a time, or until over is closed.
func (h *handler) fetch(l *connector.Lane, n int, wait time.Duration, over <-chan struct{}) []*connector.Slot {
	p, ok := h.api.pulls.open(l, n)
	if !ok {
		return nil
	}
	t := time.NewTimer(max(wait, gatherTime))
	defer t.Stop()
	for waiting := true; waiting; {
		select {
		case <-p.came:
			t.Reset(gatherTime)
			waiting = p.supply.Len() < n
		case <-t.C:
			waiting = false
		case <-h.x.Request.Context().Done():
			waiting = false
		case <-over:
			waiting = false
		}
	}
	p.shut()
	return p.take()
}

// fetchedFrom returns the lane of the account's events, nil if there is none. It has the events of messages without a URL,
// even if the account may receive by sessions.
func (h *handler) fetchedFrom() *connector.Lane {
	return h.api.rooms.Routes.ClientLane(h.x.Account.SystemID, []byte{})
}

// getEvents answers with the events that wait for the account. Events that are not acknowledged in time are sent again.
func (h *handler) getEvents() {
	a := h.x.Account.Config()
	limit, wait, ok := pullQuery(h.x.Request.URL.Query())
	switch {
	case !ok:
		why := fmt.Sprintf("limit must be from 1 to %d, and wait a duration up to %s", mostPulled, longestWait)
		h.problem(own.NewProblem("invalid-message", why))
		return
	case !a.Pull:
		h.problem(own.NewProblem("forbidden", "the account may not fetch events: pull is false"))
		return
	}
	if h.wantsStream() {
		h.streamEvents(limit)
		return
	}
	all := h.api.pulls
	room, ok := all.begin(a.SystemID)
	if !ok {
		h.x.CloseBehind()
		why := fmt.Sprintf("%d requests wait, or %d events were fetched and not acknowledged", mostPulls, mostHeld)
		h.problem(own.NewProblem("rate-limited", why))
		return
	}
	var slots []*connector.Slot
	l := h.fetchedFrom()
	defer func() { all.fetched(a.SystemID, l, slots, h.api.rooms.Node.Clock.Now()) }()
	if l == nil {
		h.problem(own.NewProblem("unavailable", ""))
		return
	}
	life, ok := h.x.BeginStream("fetch", h.mayStream, func() {})
	if !ok {
		h.problem(own.NewProblem("unavailable", ""))
		return
	}
	defer h.x.Connector.Streams.End(life)
	h.x.Extend()
	slots = h.fetch(l, min(limit, room), wait, life.Over())
	if life.Reason() == streams.Revoked {
		for _, s := range slots {
			all.end([]held{{lane: l, slot: s}}, true)
		}
		slots = nil
		h.unauthenticated()
		return
	}
	events := make([]own.Event, 0, len(slots))
	for _, s := range slots {
		events = append(events, h.told(l, s.Message))
	}
	h.answerJSON(http.StatusOK, struct {
		Events []own.Event `json:"events"`
	}{events})
}

// pullQuery returns the limit of events in a request, and the time that the request waits for an event.
func pullQuery(query url.Values) (limit int, wait time.Duration, ok bool) {
	limit, err := strconv.Atoi(cmp.Or(query.Get("limit"), strconv.Itoa(mostPulled)))
	if err != nil || limit < 1 || limit > mostPulled {
		return 0, 0, false
	}
	wait, err = time.ParseDuration(cmp.Or(query.Get("wait"), "0s"))
	return limit, wait, err == nil && wait >= 0 && wait <= longestWait
}

// told returns the event of a message, and logs it.
func (h *handler) told(l *connector.Lane, m *sms.Message) own.Event {
	e, end := h.api.events.Of(l, m)
	defer end()
	event := own.EventOf(e)
	event.ID = webhook.EventID(m)
	h.api.events.Log(
		l, m, e, &httpsms.Call{Method: h.x.Request.Method, URL: h.x.Request.URL.Path},
		httpcall.Outcome{Status: http.StatusOK},
	)
	return event
}

// postAcknowledged ends the events that the client has received.
func (h *handler) postAcknowledged() {
	body, ok := h.readJSON(maxAckBody)
	if !ok {
		return
	}
	var asked struct {
		IDs []string `json:"ids"`
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&asked); err != nil || asked.IDs == nil || len(asked.IDs) > mostHeld {
		h.problem(own.NewProblem("invalid-message", fmt.Sprintf(`it must be {"ids": [...]} with at most %d ids of events`, mostHeld)))
		return
	}
	h.answerJSON(http.StatusOK, struct {
		Unknown []string `json:"unknown"`
	}{h.api.pulls.acknowledge(h.x.Account.SystemID, asked.IDs)})
}
