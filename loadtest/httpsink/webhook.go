package httpsink

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"
)

const (
	maxCall   = 16 << 20 // octets of the body of a call
	maxEvents = 1000     // of a call
	maxKept   = 16 << 10 // octets of an event that is shown
)

// An Event is what a webhook is called with.
type Event struct {
	ID        string          `json:"id,omitempty"` // the header webhook-id, the same at each attempt; empty: none was sent
	Type      string          `json:"type"`
	Timestamp string          `json:"timestamp,omitempty"`
	Data      json.RawMessage `json:"data"`
}

// A shownEvent is an event as GET /events shows it.
type shownEvent struct {
	At   time.Time `json:"at"`
	Path string    `json:"path"`
	Event
}

// readEvents reads the body of a call that has a webhook-id: an event, or several that have ids of their own.
func readEvents(id string, body []byte) ([]Event, error) {
	var one Event
	if err := json.Unmarshal(body, &one); err != nil {
		return nil, err
	}
	all := []Event{{id, one.Type, one.Timestamp, one.Data}}
	if one.Type == "batch" {
		if err := json.Unmarshal(one.Data, &all); err != nil {
			return nil, err
		}
	}
	if len(all) > maxEvents {
		return nil, errors.New("there are too many events")
	}
	for _, e := range all {
		if e.Type == "" || len(e.Type) > maxType || len(e.Timestamp) > maxType || len(e.ID) > maxName {
			return nil, errors.New("an event has no type, or a type, time or id that is too long")
		}
	}
	return all, nil
}

// webhook takes a call of a webhook.
func (s *Sink) webhook(w http.ResponseWriter, r *http.Request) {
	c := &s.counts
	f := s.fate(c.calls.Add(1))
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxCall))
	if hungUp(err) {
		return
	}
	id := r.Header.Get("Webhook-Id")
	switch {
	case f == ignored:
		c.eventsRefused.Add(1)
		s.wait(r.Context(), time.Duration(1<<62))
		drop(w)
		return
	case f == dropped:
		c.eventsRefused.Add(1)
		drop(w)
		return
	case f == throttled:
		c.eventsRefused.Add(1)
		s.write(w, r, s.delay(f), answer{status: http.StatusTooManyRequests})
		return
	case f == refused:
		c.eventsRefused.Add(1)
		s.write(w, r, s.delay(f), answer{status: http.StatusInternalServerError})
		return
	case err == nil && s.key != nil && !s.key.signed(r.Header, body, time.Now()):
		c.forged.Add(1)
		s.write(w, r, s.delay(f), answer{status: http.StatusUnauthorized})
		return
	}
	var all []Event
	if err == nil {
		all, err = readEvents(id, body)
	}
	if err == nil {
		err = s.told(all, r.URL.Path)
	}
	if err != nil {
		c.malformed.Add(1)
		s.write(w, r, s.delay(f), answer{status: http.StatusBadRequest})
		return
	}
	s.write(w, r, s.delay(f), answer{status: http.StatusNoContent})
}

// told counts events, each for the first time and again.
func (s *Sink) told(all []Event, path string) error {
	for _, e := range all {
		if e.ID != "" {
			if _, known := s.events.add(e.ID, struct{}{}); known {
				s.counts.eventsAgain.Add(1)
				continue
			}
		}
		if s.o.Told != nil {
			if err := s.o.Told(e); err != nil {
				s.events.forget(e.ID)
				return err
			}
		}
		s.types.add(e.Type)
		if len(e.Data) > maxKept {
			e.Data = nil
		}
		e.Data = append(json.RawMessage(nil), e.Data...) // the rest of the body is not kept
		s.shown.events.add(shownEvent{time.Now().UTC(), path[:min(len(path), maxName)], e})
		s.counts.events.Add(1)
	}
	return nil
}
