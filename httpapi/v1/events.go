package v1

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"pmg/config"
	"pmg/connector"
	"pmg/httpapi/webhook"
	"pmg/protocols/httpsms"
	"pmg/protocols/httpsms/own"
	"pmg/sms"
)

// Limits of streams of events.
const (
	mostStreams = 4                // streams of an account
	quietTime   = 15 * time.Second // time after which a stream without events sends a comment, so that it is not closed
	fullTime    = 2 * time.Second  // a full stream ends after this time without an acknowledgement
	endTime     = time.Second      // time that a client has to receive data when its stream must end
	comeBack    = time.Second      // time after which a client is asked to reconnect
)

// An eventStream sends a client the events of its account as they come (server-sent events). A client that
// cannot acknowledge while it listens acknowledges when it comes back: Last-Event-ID names the last event
// that the client has. Therefore a stream ends when nothing was acknowledged for too long.
//
//	goes ──stop: no acknowledgement, login, shutdown──► over ──► ended: its events are held for pullAgain,
//	  └──the client goes, or does not read─────────────────────────▲    or given back immediately
type eventStream struct {
	account string
	most    int           // maximum number of events that are sent without an acknowledgement
	over    chan struct{} // closed: the stream must end
	cut     func()        // makes writes in progress end soon

	// Guarded by the lock of pulls:
	stopped bool   // over is closed
	left    bool   // the client has opened another stream
	told    int    // number of events sent
	held    int    // number of events that were sent and not acknowledged
	full    int64  // time at which a full stream without an acknowledgement ends; 0: the stream is not full
	last    string // the last event that the client has; "": unknown, or not acknowledged
	number  int    // number of the event last within the stream; 0: an event of an earlier stream
}

// stop ends a stream. The caller holds the lock of pulls.
func (s *eventStream) stop() {
	if !s.stopped {
		s.stopped = true
		close(s.over)
		s.cut()
	}
}

// beginStream begins a stream. It returns the reason why the stream may not begin, nil if it may.
func (p *Pulls) beginStream(s *eventStream) *own.Problem {
	p.mu.Lock()
	defer p.mu.Unlock()
	of := p.account(s.account)
	switch {
	case p.closed:
		return own.NewProblem("unavailable", "")
	case len(of.streams) >= mostStreams:
		return own.NewProblem("too-many-streams", fmt.Sprintf("the account has %d streams", mostStreams))
	case of.waiting >= mostPulls || of.room() < mostPulled:
		return own.NewProblem(
			"rate-limited",
			fmt.Sprintf("%d requests wait, or too many of %d events were not acknowledged", mostPulls, mostHeld),
		)
	}
	of.waiting++
	of.streams[s] = struct{}{}
	return nil
}

// hold records an event that a stream is about to send. It reports false if the stream must end.
func (p *Pulls) hold(s *eventStream, l *connector.Lane, slot *connector.Slot, now int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.stopped {
		return false
	}
	s.told++
	if s.held++; s.held >= s.most {
		s.full = now + int64(fullTime)
	}
	p.of[s.account].held[webhook.EventID(slot.Message)] = held{l, slot, now + int64(pullAgain), s, s.told}
	return true
}

// endStream ends a stream, whose lane sends nothing more. The events that the stream has sent are held, so that the client can
// reconnect and name the last one that it has. The other events, rest, are returned to the lane.
func (p *Pulls) endStream(s *eventStream, l *connector.Lane, rest []*connector.Slot, now int64) {
	var back []held
	p.mu.Lock()
	of := p.of[s.account]
	of.waiting--
	delete(of.streams, s)
	for id, h := range of.held {
		switch {
		case h.stream != s:
		case p.closed || s.left:
			back = append(back, h)
			of.drop(id, h)
		default:
			h.until = now + int64(pullAgain)
			of.held[id] = h
		}
	}
	p.mu.Unlock()
	for _, slot := range rest {
		back = append(back, held{lane: l, slot: slot})
	}
	p.end(back, true)
}

// left returns the ended stream in which a client got the event last, and the number of the event in that stream.
// It returns nil if the event is unknown.
func (of *pulled) left(last string) (s *eventStream, number int) {
	if h := of.held[last]; h.stream != nil {
		return h.stream, h.number
	}
	for s := range of.streams {
		if s.last == last {
			return s, s.number
		}
	}
	for _, h := range of.held {
		if h.stream != nil && h.stream.last == last {
			return h.stream, h.stream.number
		}
	}
	return nil, 0
}

// resume acknowledges the events of a stream up to the last event, which the client names when it comes back.
// Later events are sent again. An unknown event, for instance after a restart, is ignored.
func (p *Pulls) resume(account, last string) {
	var had, back []held
	p.mu.Lock()
	of := p.account(account)
	s, number := of.left(last)
	if s == nil {
		p.mu.Unlock()
		return
	}
	_, goes := of.streams[s]
	for id, h := range of.held {
		switch {
		case h.stream != s:
		case h.number <= number:
			had = append(had, h)
			of.drop(id, h)
		case !goes:
			back = append(back, h)
			of.drop(id, h)
		}
	}
	if goes { // the stream ends and then returns its events: the gateway has not noticed yet that the client is gone
		s.left = true
		s.stop()
	}
	p.mu.Unlock()
	p.end(had, false)
	p.end(back, true)
}

// stop ends a stream from outside: the login is no longer valid, or an operator or a shutdown ends the stream.
func (p *Pulls) stop(s *eventStream) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s.stop()
}

// wantsStream reports whether the client wants events as they come.
func (h *handler) wantsStream() bool {
	for accepted := range strings.SplitSeq(strings.Join(h.x.Request.Header.Values("Accept"), ","), ",") {
		kind, _, _ := strings.Cut(accepted, ";")
		if strings.EqualFold(strings.TrimSpace(kind), streamType) {
			return h.x.Request.Method == http.MethodGet
		}
	}
	return false
}

const streamType = "text/event-stream"

// streamEvents sends events as they come, until the client disconnects. At most most events are sent without an
// acknowledgement.
func (h *handler) streamEvents(most int) {
	l := h.fetchedFrom()
	if l == nil {
		h.problem(own.NewProblem("unavailable", ""))
		return
	}
	last := h.x.Request.Header.Get("Last-Event-ID")
	if !strings.HasPrefix(last, webhook.EventPrefix) {
		last = "" // no event has such an id
	} else {
		h.api.pulls.resume(h.x.Account.SystemID, last)
	}
	c := http.NewResponseController(h.x.Writer)
	s := &eventStream{
		account: h.x.Account.SystemID, most: most, last: last, over: make(chan struct{}),
		cut: func() { _ = c.SetWriteDeadline(time.Now().Add(endTime)) },
	}
	life, ok := h.x.BeginStream("events", h.mayStream, func() { h.api.pulls.stop(s) })
	if !ok {
		h.problem(own.NewProblem("unavailable", ""))
		return
	}
	defer h.x.Connector.Streams.End(life)
	if problem := h.api.pulls.beginStream(s); problem != nil {
		h.x.CloseBehind() // a refused stream frees its connection for other clients
		h.problem(problem)
		return
	}
	p, _ := h.api.pulls.open(l, most) // the stream ends with the gateway
	t := &eventWriter{
		w: h.x.Writer, out: c, stream: s, pull: p, pulls: h.api.pulls, now: h.api.rooms.Node.Clock.Now,
		patience: h.api.rooms.Node.Config().Limits.PDUTimeout,
		may:      h.mayStream, event: func(m *sms.Message) own.Event { return h.told(l, m) },
	}
	defer func() {
		p.shut()
		h.api.pulls.endStream(s, l, append(t.rest, p.take()...), h.api.rooms.Node.Clock.Now())
	}()
	header := h.x.Writer.Header()
	header.Set("Content-Type", streamType)
	header.Set("Cache-Control", "no-store")
	header.Set("X-Accel-Buffering", "no") // nginx passes data on immediately
	_ = c.SetReadDeadline(time.Time{})
	h.x.LogRequest(httpsms.Ask, nil, http.StatusOK, httpsms.Result{})
	t.run(h.x.Request.Context())
}

// mayStream reports whether the client of a stream may still get its account's events.
func (h *handler) mayStream() bool {
	a := h.api.rooms.Routes.Account(h.x.Account.SystemID)
	return a != nil && a.Pull && h.isStillKnown(config.ReadScope)
}

// An eventWriter writes the events of a stream.
type eventWriter struct {
	w        io.Writer
	out      *http.ResponseController // controller of w
	stream   *eventStream
	pull     *pull
	pulls    *Pulls
	now      func() int64
	patience time.Duration // time that the client has to receive data
	may      func() bool   // reports whether the client may still get the events
	event    func(*sms.Message) own.Event
	rest     []*connector.Slot // events that are still to be sent
}

// run sends events until the stream must end, or its client disconnects.
func (t *eventWriter) run(client context.Context) {
	quiet := time.NewTicker(quietTime)
	defer quiet.Stop()
	if !t.write(fmt.Sprintf("retry: %d\n\n", comeBack.Milliseconds())) || t.out.Flush() != nil {
		return
	}
	for {
		text := ""
		select {
		case <-t.pull.came:
		case <-quiet.C:
			text = ":\n\n"
		case <-t.stream.over:
			return
		case <-client.Done():
			return
		}
		if !t.may() || !t.write(text) || !t.tellAll() || t.out.Flush() != nil {
			return
		}
	}
}

// tellAll sends the events that have come. It reports false if the stream must end.
func (t *eventWriter) tellAll() bool {
	for t.rest = t.pull.take(); len(t.rest) > 0; {
		slot := t.rest[0]
		event := t.event(slot.Message) // before the event is held: from then on any client of the account may acknowledge it
		data, err := json.Marshal(event)
		if err != nil || !t.pulls.hold(t.stream, t.pull.lane, slot, t.now()) {
			return false
		}
		t.rest = t.rest[1:]
		if !t.write(fmt.Sprintf("id: %s\nevent: %s\ndata: %s\n\n", event.ID, event.Type, data)) {
			return false
		}
	}
	return true
}

// write writes text. It reports false if the client does not read it in time, or the stream must end.
func (t *eventWriter) write(text string) bool {
	_ = t.out.SetWriteDeadline(time.Now().Add(t.patience))
	select {
	case <-t.stream.over: // stop closes over before it sets the deadline: either over is seen, or the deadline is in effect
		return false
	default:
	}
	_, err := io.WriteString(t.w, text)
	return err == nil
}
