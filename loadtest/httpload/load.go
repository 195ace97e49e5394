package httpload

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"pmg/loadtest"
)

// Options are those of a load. Of LoadOptions those have no meaning that are about sessions. Bound is called before the first
// request; a connection is opened by its first.
type Options struct {
	loadtest.LoadOptions
	Way Way
}

// A Way is how messages are sent.
type Way uint8

// The ways.
const (
	Single Way = iota // one by one on each connection
	Keyed             // the same, each with an Idempotency-Key of its own
	Stream            // each connection sends a stream, with a window of lines unanswered
)

// A run is a load that runs.
type run struct {
	Options
	url     string
	hook    *hook // nil: no receipts are asked for
	next    atomic.Int64
	began   time.Time
	stopped <-chan struct{}

	taken, sent, answered, accepted, throttled, refused, resent, again, lost atomic.Int64

	numbers loadtest.Numbers // of messages that were accepted

	mu       sync.Mutex
	statuses map[string]int64
	latency  *hdrhistogram.Histogram
}

func (o *Options) check() error {
	switch {
	case o.Connections < 1 || o.Window < 1:
		return errors.New("at least one connection, and a window of one, are needed")
	case o.Messages == 0 && o.Duration <= 0:
		return errors.New("a number of messages or a duration is needed")
	case o.Messages < 0 || o.First < 0 || o.Rate < 0 || o.Retry < 0 || o.Reconnect < 0 || o.Timeout <= 0:
		return errors.New("numbers and times cannot be negative")
	case o.Coding != loadtest.PlainCoding || o.Parts > 1 || o.MO > 0 || len(o.Accounts) > 1 || o.Separate:
		return errors.New("coding, parts, mo, bind and several accounts have no meaning with protocol http")
	case len(o.MOTo) > 0:
		return errors.New("messages from mobiles have no meaning with protocol http: an account's webhook receives them")
	case o.Way == Stream && (o.Reconnect > 0 || o.Rate > 0):
		return errors.New("a stream is sent once, as fast as it is answered: reconnect and rate have no meaning with it")
	case o.Way == Stream && o.Retry >= o.Timeout:
		return errors.New("a stream is given up after the timeout: retry must be shorter")
	}
	return nil
}

// Load sends messages, and waits for the answers and, where they are asked for, the receipts. It returns an error only if it
// cannot begin. The end of ctx ends the sending.
func Load(ctx context.Context, o Options) (*loadtest.LoadResult, error) {
	if err := o.check(); err != nil {
		return nil, fmt.Errorf("cannot start load: %w", err)
	}
	if len(o.Accounts) == 1 {
		o.SystemID, o.Password = o.Accounts[0].SystemID, o.Accounts[0].Password
	}
	if o.Way != Stream {
		o.Window = 1
	}
	r := &run{
		Options: o, url: o.To, statuses: map[string]int64{},
		latency: hdrhistogram.New(int64(100*time.Nanosecond), int64(10*time.Minute), 2),
	}
	if !strings.Contains(r.url, "://") {
		r.url = "http://" + r.url
	}
	if o.Receipts {
		var err error
		if r.hook, err = newHook(); err != nil {
			return nil, fmt.Errorf("cannot start load: %w", err)
		}
		defer r.hook.close()
	}
	if o.Duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.Duration)
		defer cancel()
	}
	if o.Bound != nil {
		o.Bound()
	}
	r.stopped, r.began = ctx.Done(), time.Now()
	shown := r.show()
	var all sync.WaitGroup
	for range o.Connections {
		if o.Way == Stream {
			all.Go(newStreaming(r).stream)
		} else {
			all.Go(r.single)
		}
	}
	all.Wait()
	took := time.Since(r.began)
	if r.hook != nil {
		r.hook.wait(r.accepted.Load(), o.Timeout)
	}
	shown()
	if o.Answered != nil {
		o.Answered()
	}
	return r.result(took), nil
}

// show shows the progress until what it returns is called.
func (r *run) show() (end func()) {
	if r.Progress == nil {
		return func() {}
	}
	done := make(chan struct{})
	var ended sync.WaitGroup
	ended.Go(func() {
		t := time.NewTicker(100 * time.Millisecond)
		defer t.Stop()
		for {
			select {
			case <-t.C:
				c := loadtest.Counts{
					Seconds: time.Since(r.began).Seconds(), Sent: r.sent.Load(), Answered: r.answered.Load(),
					Accepted:  r.accepted.Load(),
					Throttled: r.throttled.Load(), Refused: r.refused.Load(),
				}
				if r.hook != nil {
					c.Receipts = r.hook.count()
				}
				r.Progress(c)
			case <-done:
				return
			}
		}
	})
	return func() {
		close(done)
		ended.Wait()
	}
}

// take returns the number of the next message, and the time from which its latency counts. It reports false when all are
// taken, or the load ends.
func (r *run) take() (n int64, planned time.Time, ok bool) {
	select {
	case <-r.stopped:
		return 0, planned, false
	default:
	}
	i := r.next.Add(1) - 1
	if r.Messages > 0 && i >= r.Messages {
		return 0, planned, false
	}
	planned = time.Now()
	if r.Rate > 0 {
		planned = r.began.Add(time.Duration(float64(i) / r.Rate * float64(time.Second)))
		if !r.pause(time.Until(planned)) {
			return 0, planned, false
		}
	}
	r.taken.Add(1)
	return r.First + i, planned, true
}

// pause waits, and reports false if the load ends meanwhile.
func (r *run) pause(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-r.stopped:
		return false
	}
}

// body returns a message as JSON. It can be sent again: its number is its reference.
func (r *run) body(n int64) []byte {
	text := fmt.Sprintf("#%012d %s", n, r.Text)
	if fill := r.Size - len(text); fill > 0 && r.Text == "" {
		text += strings.Repeat("x", fill)
	}
	m := map[string]any{
		"from": r.Source, "to": fmt.Sprintf("%s%07d", r.Destination, n%10_000_000), "text": text, "receipt": "none",
	}
	if r.hook != nil {
		m["receipt"], m["callback_url"] = "final", r.hook.url
	}
	if r.Reconnect > 0 || r.Retry > 0 {
		m["client_reference"], m["deduplicate"] = fmt.Sprintf("%s %d", r.began.Format(time.RFC3339Nano), n), true
	}
	b, _ := json.Marshal(m) // all values have a form in JSON
	return b
}

// count counts the answer to the message with a number, and reports whether it is to be sent again.
func (r *run) count(n int64, status int, id string, planned time.Time) (again bool) {
	r.answered.Add(1)
	r.mu.Lock()
	_ = r.latency.RecordValue(max(int64(time.Since(planned)), 1))
	if status != 202 {
		r.statuses[fmt.Sprint(status)]++
	}
	r.mu.Unlock()
	switch status {
	case 202:
		r.accepted.Add(1)
		r.numbers.Mark([]int64{n})
		if r.hook != nil {
			r.hook.accepted(id)
		}
	case 429, 503:
		r.throttled.Add(1)
		return r.Retry > 0
	default:
		r.refused.Add(1)
	}
	return false
}

func (r *run) result(took time.Duration) *loadtest.LoadResult {
	us := func(q float64) float64 { return float64(r.latency.ValueAtPercentile(q)) / 1e3 }
	result := &loadtest.LoadResult{
		Connections: r.Connections, Window: r.Window, Messages: r.taken.Load(), Sent: r.sent.Load(), Answered: r.answered.Load(),
		Accepted: r.accepted.Load(), Throttled: r.throttled.Load(), Refused: r.refused.Load(), Statuses: r.statuses,
		Resent:    r.resent.Load(),
		SentAgain: r.again.Load(), ConnectionsLost: r.lost.Load(), Unanswered: r.sent.Load() - r.answered.Load() - r.again.Load(),
		Seconds: took.Seconds(), MessagesPerSecond: float64(r.accepted.Load()) / took.Seconds(),
		Latency: loadtest.Latency{P50: us(50), P90: us(90), P99: us(99), P999: us(99.9), Max: float64(r.latency.Max()) / 1e3},
	}
	if r.hook != nil {
		r.hook.fill(result, r.began)
	}
	return result.Of(&r.numbers)
}
