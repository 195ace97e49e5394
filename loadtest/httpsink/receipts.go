package httpsink

import (
	"bytes"
	"container/heap"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"pmg/loadtest"
)

const (
	maxWaiting  = 1 << 20 // receipts
	maxCalls    = 1000    // under way
	callTime    = 30 * time.Second
	maxReply    = 64 << 10 // octets of an answer that are read
	firstPause  = 50 * time.Millisecond
	mostDoubled = 6 // how often the pause doubles before a receipt is sent again
)

// A delivery is what the sink reports of a message.
type delivery struct {
	*message
	id       string
	number   uint64
	accepted time.Time
	sequence int // of the state in states
	states   []string
	wait     time.Duration // before the last one
	err      string        // of the network
	text     string        // of the receipt that an SMSC behind this one would have sent, for Kannel's %A
	refused  int
	due      time.Time
	called   chan struct{} // closed after the first call; nil then
}

// A caller calls the URLs of messages with their receipts, when their time has come.
type caller struct {
	sink    *Sink
	http    http.Client
	ready   chan *delivery
	wake    chan struct{}
	ctx     context.Context
	stop    context.CancelFunc
	running sync.WaitGroup

	mu      sync.Mutex
	waiting deliveries
}

func newCaller(s *Sink) *caller {
	c := &caller{sink: s, ready: make(chan *delivery), wake: make(chan struct{}, 1)}
	c.ctx, c.stop = context.WithCancel(context.Background())
	c.http = http.Client{
		Transport: &http.Transport{
			MaxIdleConns: s.o.Window, MaxIdleConnsPerHost: s.o.Window, DisableCompression: true,
			ResponseHeaderTimeout: callTime,
		},
		Timeout:       callTime,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	c.running.Go(c.dispatch)
	for range s.o.Window {
		c.running.Go(c.work)
	}
	return c
}

// close ends the calls.
func (c *caller) close() {
	c.stop()
	c.running.Wait()
	c.http.CloseIdleConnections()
}

// full reports whether no more receipts may wait.
func (c *caller) full() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.waiting) >= maxWaiting
}

// about sends the receipts of a message. If receipts come first, it returns after the first call.
func (c *caller) about(ctx context.Context, m *message, id uint64, ordered *loadtest.Orders) {
	o := &c.sink.o.Receipt
	word, err := ordered.State()
	switch {
	case word != "":
	case o.Fails():
		word, err = "UNDELIV", "108"
	default:
		word, err = "DELIVRD", "000"
	}
	d := &delivery{
		message: m, id: o.ReceiptID(id), number: id, accepted: time.Now().UTC(), states: m.asks.states(word),
		wait: max(o.Wait(), ordered.After), err: err, text: "stat:" + word + " err:" + err,
	}
	if len(d.states) == 0 || ordered.NoReceipt {
		return
	}
	c.sink.counts.receipts.Add(1)
	if d.due = d.accepted.Add(c.sink.o.Delay + ordered.Delay); len(d.states) == 1 {
		d.due = d.due.Add(d.wait)
	}
	called := make(chan struct{})
	d.called = called
	c.add(d)
	if o.First {
		select {
		case <-called:
		case <-ctx.Done():
		case <-c.ctx.Done():
		case <-c.sink.closing:
		}
	}
}

func (c *caller) add(d *delivery) {
	c.mu.Lock()
	heap.Push(&c.waiting, d)
	c.mu.Unlock()
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// next takes the delivery that is due, or returns how long it is to the next one.
func (c *caller) next(now time.Time) (d *delivery, after time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.waiting) == 0 {
		return nil, time.Hour
	}
	if after = c.waiting[0].due.Sub(now); after > 0 {
		return nil, after
	}
	return heap.Pop(&c.waiting).(*delivery), 0
}

// dispatch gives deliveries to the workers when they are due.
func (c *caller) dispatch() {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		d, after := c.next(time.Now())
		if d != nil {
			select {
			case c.ready <- d:
			case <-c.ctx.Done():
				return
			}
			continue
		}
		timer.Reset(after)
		select {
		case <-timer.C:
		case <-c.wake:
		case <-c.ctx.Done():
			return
		}
	}
}

func (c *caller) work() {
	for {
		select {
		case d := <-c.ready:
			c.call(d)
		case <-c.ctx.Done():
			return
		}
	}
}

// call makes a call, and decides what follows.
func (c *caller) call(d *delivery) {
	n := &c.sink.counts
	status, err := c.post(d)
	if d.called != nil {
		close(d.called)
		d.called = nil
	}
	again := err != nil || status >= 500 || status == http.StatusTooManyRequests || status == http.StatusRequestTimeout
	switch {
	case c.ctx.Err() != nil && err != nil: // the sink closes: it was not delivered
		return
	case again:
		n.again.Add(1)
		d.due = time.Now().Add(firstPause << min(d.refused, mostDoubled))
		d.refused++
		c.add(d)
		return
	case status/100 != 2:
		n.receiptsRefused.Add(1)
	case d.sequence < len(d.states)-1:
		d.sequence++
		d.due, d.refused = time.Now().Add(d.wait), 0
		c.add(d)
		return
	default:
		n.answered.Add(1)
	}
	c.sink.ended()
}

// post calls with the next state, and returns the status of the answer.
func (c *caller) post(d *delivery) (status int, err error) {
	state, now := d.states[d.sequence], time.Now().UTC()
	method, u, body := http.MethodPost, d.url, []byte(nil)
	if d.fills {
		method, u = http.MethodGet, fill(d.url, state, d.text, d.id, d.message, now)
	} else {
		body = d.envelope(state, now)
	}
	req, err := http.NewRequestWithContext(c.ctx, method, u, bytes.NewReader(body))
	if err != nil || req.URL.Scheme != "http" && req.URL.Scheme != "https" {
		return http.StatusBadRequest, nil // no attempt can succeed: it is refused
	}
	if !d.fills {
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Webhook-Id", fmt.Sprintf("evt_%016x%d", d.number, d.sequence))
		req.Header.Set("Webhook-Timestamp", fmt.Sprint(now.Unix()))
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, maxReply)) // so that the connection serves the next call
	return resp.StatusCode, nil
}

// envelope returns the body of a call.
func (d *delivery) envelope(state string, at time.Time) []byte {
	type data struct {
		ID        string    `json:"id"`
		Reference string    `json:"client_reference,omitempty"`
		From      string    `json:"from"`
		To        string    `json:"to"`
		State     string    `json:"state"`
		Sequence  int       `json:"sequence"`
		Error     string    `json:"network_error,omitempty"`
		Accepted  time.Time `json:"accepted_at"`
		At        time.Time `json:"at"`
	}
	b, _ := json.Marshal(struct { // all values have a form in JSON
		Type      string    `json:"type"`
		Timestamp time.Time `json:"timestamp"`
		Data      data      `json:"data"`
	}{"message." + state, at, data{d.id, d.Reference, d.From, d.To, state, d.sequence + 1, d.err, d.accepted, at}})
	return b
}

// deliveries are a heap by the times at which they are due.
type deliveries []*delivery

func (h deliveries) Len() int           { return len(h) }
func (h deliveries) Less(i, j int) bool { return h[i].due.Before(h[j].due) }
func (h deliveries) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }

// Push implements heap.Interface.
func (h *deliveries) Push(x any) { *h = append(*h, x.(*delivery)) }

// Pop implements heap.Interface.
func (h *deliveries) Pop() any {
	last := len(*h) - 1
	d := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return d
}
