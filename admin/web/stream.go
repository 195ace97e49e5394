package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// Times of a stream.
const (
	interval  = 2 * time.Second  // pause between two readings of the page's state
	writeTime = 10 * time.Second // time limit for the browser to receive data
	quietTime = 20 * time.Second // time after which a stream without changes sends a comment, so that it is not closed
)

// push sends the events that next returns in each interval, until next fails, the browser disconnects, or its user may no
// longer see the page. A stream ends if the browser does not read it.
func (s *site) push(w http.ResponseWriter, r *http.Request, every time.Duration, next func() (string, error)) {
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	_ = out.SetReadDeadline(time.Time{})
	t := time.NewTicker(every)
	defer t.Stop()
	for written := time.Now(); ; {
		text, err := next()
		if err != nil {
			return
		}
		if text == "" && time.Since(written) > quietTime {
			text = ":\n\n"
		}
		if text != "" {
			_ = out.SetWriteDeadline(time.Now().Add(writeTime))
			if _, err := io.WriteString(w, text); err != nil || out.Flush() != nil {
				return
			}
			written = time.Now()
		}
		select {
		case <-t.C:
		case <-r.Context().Done():
			return
		}
		if !s.server.Guard().StillAllowed(r) {
			return
		}
	}
}

// stream sends the changed cells of a page, as events with an object of texts by key. An event of type stale means that the
// page has other rows.
func (s *site) stream(p *page) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if p.model(r) == nil {
			http.NotFound(w, r)
			return
		}
		var before map[string]string
		s.push(w, r, interval, func() (string, error) {
			cells, err := s.cells(p, r)
			text := events(before, cells)
			if before = cells; text == staleEvent {
				before = nil // the browser reloads the page a little later: the next event contains all cells
			}
			return text, err
		})
	}
}

// staleEvent means that the page has other rows.
const staleEvent = "event: stale\ndata: {}\n\n"

// errGone means that the object of a page no longer exists.
var errGone = errors.New("the object no longer exists")

// cells returns the present values of a page's cells.
func (s *site) cells(p *page, r *http.Request) (map[string]string, error) {
	v := s.view(p, r)
	if v.Model == nil {
		return nil, errGone
	}
	return v.cells, s.Run(p.Template(), v)
}

// events returns the event with the cells that differ from the cells before, or with all cells if before is nil.
func events(before, cells map[string]string) string {
	changed := map[string]string{}
	same := before == nil || len(before) == len(cells)
	for key, text := range cells {
		old, known := before[key]
		if same = same && (known || before == nil); !known || old != text {
			changed[key] = text
		}
	}
	switch {
	case !same:
		return staleEvent
	case len(changed) == 0:
		return ""
	}
	b, err := json.Marshal(changed)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("data: %s\n\n", b)
}
