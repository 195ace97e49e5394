package httpsink

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"pmg/loadtest"
)

const (
	maxRequests = 10_000  // under way
	maxSubmit   = 1 << 20 // octets of a body that submits a message
	answerTime  = 10 * time.Second
)

func (s *Sink) routes() http.Handler {
	m := http.NewServeMux()
	m.HandleFunc("POST /v1/messages", s.submit(api{}))
	m.HandleFunc("GET /cgi-bin/sendsms", s.submit(kannel{}))
	m.HandleFunc("POST /cgi-bin/sendsms", s.submit(kannel{}))
	m.HandleFunc("GET /messages", func(w http.ResponseWriter, _ *http.Request) { show(w, s.shown.messages.all()) })
	m.HandleFunc("GET /events", func(w http.ResponseWriter, _ *http.Request) { show(w, s.shown.events.all()) })
	m.HandleFunc("POST /v1/", http.NotFound) // another request of the API is no webhook
	m.HandleFunc("POST /", s.webhook)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer s.counts.underWay.Add(-1)
		if s.counts.underWay.Add(1) > maxRequests {
			s.counts.throttled.Add(1)
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		m.ServeHTTP(w, r)
	})
}

// show answers with what has come last, the oldest first, as JSON.
func show[T any](w http.ResponseWriter, all []T) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string][]T{"last": all}) // the client has gone otherwise
}

// A fate is what becomes of a request.
type fate uint8

const (
	taken fate = iota
	late       // taken, and answered later
	throttled
	full
	refused
	badDestination
	malformed
	unauthenticated
	ordered // refused with the status that its text orders
	dropped // the connection is closed
	ignored // never answered
)

func every(nth, n int64) bool { return n > 0 && nth%n == 0 }

// fate returns what the faults of every nth request do with one.
func (s *Sink) fate(nth int64) fate {
	switch f := &s.o.Faults; {
	case f.Mute:
		return ignored
	case every(nth, f.DropEvery):
		return dropped
	case every(nth, f.ThrottleEvery):
		return throttled
	case every(nth, f.RefuseEvery):
		return refused
	case every(nth, f.LateEvery):
		return late
	}
	return taken
}

// fateOf returns what becomes of a message, whose request is taken otherwise.
func (s *Sink) fateOf(m *message) fate {
	to := func(prefix string) bool {
		return prefix != "" && strings.HasPrefix(strings.TrimPrefix(m.To, "+"), prefix)
	}
	switch f := &s.o.Faults; {
	case s.o.SystemID != "" && m.username != s.o.SystemID, s.o.Password != "" && m.password != s.o.Password:
		return unauthenticated
	case to(f.CloseTo), f.CloseText != "" && strings.Contains(m.Text, f.CloseText):
		return dropped
	case to(f.ThrottleTo):
		return throttled
	case to(f.FullTo), s.receipts != nil && m.asks != (asked{}) && s.receipts.full():
		return full
	case to(f.RefuseTo):
		return badDestination
	}
	return taken
}

// An answer is what a request is answered with.
type answer struct {
	status int
	kind   string // of the body
	body   string
}

// A dialect is how messages are submitted.
type dialect interface {
	read(w http.ResponseWriter, r *http.Request) (*message, error)
	accepted(m *message, id string) answer
	refused(f fate) answer
}

// submit returns the handler of requests that submit a message.
func (s *Sink) submit(d dialect) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c := &s.counts
		nth, now := c.submits.Add(1), s.now()
		c.first.CompareAndSwap(0, now)
		c.last.Store(now)
		c.answersLater.Add(1)
		defer func() {
			c.answersLater.Add(-1)
			s.ended()
		}()
		m, err := d.read(w, r)
		if hungUp(err) {
			return
		}
		f := s.fate(nth)
		switch {
		case f != taken && f != late:
		case err != nil:
			f = malformed
		default:
			if other := s.fateOf(m); other != taken {
				f = other
			}
		}
		var o loadtest.Orders
		if s.o.Orders && (f == taken || f == late) {
			f, o = s.obey(m, f)
		}
		s.count(f)
		after := s.delay(f) + o.Delay
		switch f {
		case ignored:
			s.wait(r.Context(), time.Duration(1<<62))
			drop(w)
		case dropped:
			drop(w)
		case taken, late:
			s.write(w, r, after, d.accepted(m, s.accept(r.Context(), m, &o)))
		case ordered:
			s.write(w, r, after, answer{status: int(o.Status)})
		default:
			s.write(w, r, after, d.refused(f))
		}
	}
}

// hungUp reports whether a body could not be read because its client is gone: that is no malformed request.
func hungUp(err error) bool {
	var cut net.Error
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &cut)
}

// obey returns what becomes of a message whose text gives orders. Statuses are those of HTTP.
func (s *Sink) obey(m *message, f fate) (fate, loadtest.Orders) {
	o, err := loadtest.ParseOrders([]byte(m.Text))
	if err != nil || o.Status != 0 && (o.Status < 200 || o.Status > 599) {
		s.counts.malformed.Add(1)
		return f, loadtest.Orders{}
	}
	switch {
	case o.NoAnswer:
		return ignored, o
	case o.Status != 0:
		return ordered, o
	}
	return f, o
}

// count counts a submit that is not accepted, or late.
func (s *Sink) count(f fate) {
	switch c := &s.counts; f {
	case throttled, full:
		c.throttled.Add(1)
	case refused, badDestination, unauthenticated, ordered:
		c.refused.Add(1)
	case malformed:
		c.malformed.Add(1)
	case dropped:
		c.dropped.Add(1)
	case late:
		c.late.Add(1)
	}
}

// accept accepts a message, unless it has come before, and returns its id as the answer has it.
func (s *Sink) accept(ctx context.Context, m *message, o *loadtest.Orders) string {
	c := &s.counts
	id := s.lastID.Add(1)
	if m.deduplicate && m.Reference != "" {
		if first, known := s.references.add(m.username+"\x00"+m.Reference, id); known {
			c.repeated.Add(1)
			return s.o.Receipt.AnswerID(first)
		}
	}
	c.accepted.Add(1)
	if number, ok := loadtest.ParseNumber([]byte(m.Text)); ok {
		s.seen.Mark([]int64{number})
	} else {
		c.unnumbered.Add(1)
	}
	s.shown.messages.add(m.shown(s.o.Receipt.AnswerID(id)))
	if s.receipts != nil {
		s.receipts.about(ctx, m, id, o)
	}
	return s.o.Receipt.AnswerID(id)
}

// delay returns how long it takes until a request is answered.
func (s *Sink) delay(f fate) time.Duration {
	if f == late {
		return s.o.Delay + s.o.Late
	}
	return s.o.Delay
}

// write answers a request, after a time.
func (s *Sink) write(w http.ResponseWriter, r *http.Request, after time.Duration, a answer) {
	s.wait(r.Context(), after)
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(answerTime)) // a connection that is gone has none
	if a.kind != "" {
		w.Header().Set("Content-Type", a.kind)
	}
	w.WriteHeader(a.status)
	_, _ = w.Write([]byte(a.body)) // the client has gone otherwise
}

// wait waits until a time is over, the client has gone, or the sink closes.
func (s *Sink) wait(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	case <-s.closing:
	}
}

// drop closes the connection of a request.
func drop(w http.ResponseWriter) {
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		_ = conn.Close()
	}
}
