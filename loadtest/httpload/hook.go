package httpload

import (
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"pmg/loadtest"
	"pmg/loadtest/httpsink"
)

// A hook counts the events of messages.
type hook struct {
	url  string
	sink *httpsink.Sink

	mu      sync.Mutex
	known   map[string]int // events of ended messages that were accepted, by id
	early   map[string]int // events of ended messages whose answer has not come yet, by id
	states  map[string]int64
	ended   int64 // messages whose end has come
	doubled int64
	last    time.Time
}

func newHook() (*hook, error) {
	h := &hook{known: map[string]int{}, early: map[string]int{}, states: map[string]int64{}}
	o := httpsink.Options{Told: h.told}
	o.Listen = "127.0.0.1:0"
	var err error
	if h.sink, err = httpsink.Start(o); err != nil {
		return nil, fmt.Errorf("cannot receive events: %w", err)
	}
	h.url = "http://" + h.sink.Addr() + "/events"
	return h, nil
}

func (h *hook) close() { _ = h.sink.Close() }

// told is called once for each event; one that comes again has the id of the first.
func (h *hook) told(e httpsink.Event) error {
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

// counted records that the end of a message came n times. The caller holds the lock.
func (h *hook) counted(id string, n int) {
	if h.known[id] = n; n == 1 {
		h.ended++
	} else if n > 1 {
		h.doubled++
	}
}

// accepted records that a message was accepted.
func (h *hook) accepted(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := h.early[id]
	delete(h.early, id)
	if h.counted(id, min(n, 1)); n > 1 {
		h.doubled += int64(n - 1)
	}
}

// count returns the number of messages whose end has come.
func (h *hook) count() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.ended
}

// wait waits until the ends of so many messages have come, or none in a time.
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

func (h *hook) fill(r *loadtest.LoadResult, began time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	r.Receipts, r.ReceiptsMissing, r.ReceiptsDoubled = h.ended, r.Accepted-h.ended, h.doubled
	r.ReceiptsUnknown, r.ReceiptStates, r.Malformed = int64(len(h.early)), h.states, h.sink.Result().Malformed
	if took := h.last.Sub(began).Seconds(); took > 0 {
		r.ReceiptsPerSecond = float64(h.ended) / took
	}
}
