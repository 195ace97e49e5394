package httpload

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"pmg/loadtest"
)

// maxEvents is the largest body of a call, in octets.
const maxEvents = 16 << 20

// A hook is a server that is called with what becomes of messages.
type hook struct {
	url    string
	server http.Server

	mu        sync.Mutex
	known     map[string]int // calls that tell the end of a message, by its id; of those that were accepted
	early     map[string]int // and of others
	states    map[string]int64
	ended     int64 // messages whose end was told
	doubled   int64
	malformed int64
	last      time.Time
}

func newHook() (*hook, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("cannot receive events: %w", err)
	}
	h := &hook{url: "http://" + l.Addr().String() + "/events", known: map[string]int{}, early: map[string]int{}, states: map[string]int64{}}
	h.server = http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = h.server.Serve(l) }() // close ends it
	return h, nil
}

func (h *hook) close() { _ = h.server.Close() }

// An event is what a call tells, or a list of events if it tells several.
type event struct {
	Type string
	Data json.RawMessage
}

// ServeHTTP implements http.Handler.
func (h *hook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var one event
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxEvents))
	if err == nil {
		err = json.Unmarshal(body, &one)
	}
	all := []event{one}
	if err == nil && one.Type == "batch" {
		err = json.Unmarshal(one.Data, &all)
	}
	for _, e := range all {
		if err == nil {
			err = h.told(e)
		}
	}
	if err != nil {
		h.mu.Lock()
		h.malformed++
		h.mu.Unlock()
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (h *hook) told(e event) error {
	var data struct{ ID, State string }
	if err := json.Unmarshal(e.Data, &data); err != nil {
		return err
	}
	if data.State == "sent" || data.State == "buffered" {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last = time.Now()
	h.states[data.State]++
	if n, ok := h.known[data.ID]; ok {
		h.counted(data.ID, n+1)
	} else {
		h.early[data.ID]++
	}
	return nil
}

// counted notes that the end of a message was told n times. The caller holds the lock.
func (h *hook) counted(id string, n int) {
	if h.known[id] = n; n == 1 {
		h.ended++
	} else if n > 1 {
		h.doubled++
	}
}

// accepted notes that a message was accepted.
func (h *hook) accepted(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := h.early[id]
	delete(h.early, id)
	if h.counted(id, min(n, 1)); n > 1 {
		h.doubled += int64(n - 1)
	}
}

// count returns of how many messages the end was told.
func (h *hook) count() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.ended
}

// wait waits until the end of so many messages was told, or of none in a time.
func (h *hook) wait(accepted int64, timeout time.Duration) {
	for began := time.Now(); h.count() < accepted; time.Sleep(10 * time.Millisecond) {
		h.mu.Lock()
		last := h.last
		h.mu.Unlock()
		if time.Since(began) > timeout && time.Since(last) > timeout {
			return
		}
	}
}

// fill fills in what a result has of receipts.
func (h *hook) fill(r *loadtest.LoadResult, began time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	r.Receipts, r.ReceiptsMissing, r.ReceiptsDoubled = h.ended, r.Accepted-h.ended, h.doubled
	r.ReceiptsUnknown, r.ReceiptStates, r.Malformed = int64(len(h.early)), h.states, h.malformed
	if took := h.last.Sub(began).Seconds(); took > 0 {
		r.ReceiptsPerSecond = float64(h.ended) / took
	}
}
