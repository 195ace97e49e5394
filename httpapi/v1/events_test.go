package v1

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pmg/httpapi/webhook"
	"pmg/protocols/httpsms/own"
	"pmg/sms"
)

// newTestStream begins a stream of an account, with at most that many events that are not
// acknowledged.
func newTestStream(t *testing.T, p *Pulls, account string, most int) *eventStream {
	t.Helper()
	s := &eventStream{account: account, most: most, over: make(chan struct{}), cut: func() {}}
	if problem := p.beginStream(s); problem != nil {
		t.Fatal(problem.Type, problem.Detail)
	}
	return s
}

// tells sends the events of n messages from an id on in a stream, and returns their ids.
func (p *Pulls) tells(t *testing.T, s *eventStream, first, n uint64, now int64) []string {
	t.Helper()
	slots, ids := slotsOf(first, n)
	for _, slot := range slots {
		if !p.hold(s, nil, slot, now) {
			t.Fatal("the stream has ended")
		}
	}
	return ids
}

// A client that comes back acknowledges what it has, and nothing else: the events behind that come again immediately,
// and those of other clients stay as they are.
func TestStreamResume(t *testing.T) {
	t.Parallel()
	p, e := newTestPulls()
	one, two := newTestStream(t, p, "shop", 10), newTestStream(t, p, "shop", 10)
	ids := p.tells(t, one, 1, 4, 0)
	others := p.tells(t, two, 11, 2, 0)
	p.endStream(one, nil, nil, 0)
	if p.resume("other", ids[1]); e.done != 0 {
		t.Error("another account has acknowledged events")
	}
	if p.resume("shop", "evt_1"); e.done != 0 {
		t.Error("an unknown event has acknowledged others")
	}
	if p.resume("shop", ids[1]); e.done != 4 {
		t.Errorf("%d have ended or gone back, want 4", e.done)
	}
	if unknown := p.acknowledge("shop", slices.Concat(ids, others)); !slices.Equal(unknown, ids) {
		t.Errorf("unknown %v, want %v", unknown, ids)
	}
}

// A stream whose client comes back before its end was noticed ends, and gives back immediately what its client has not.
func TestStreamLeft(t *testing.T) {
	t.Parallel()
	p, e := newTestPulls()
	s := newTestStream(t, p, "shop", 10)
	ids := p.tells(t, s, 1, 4, 0)
	if p.resume("shop", ids[2]); e.done != 3 || !s.stopped {
		t.Fatalf("%d were acknowledged, stopped %v", e.done, s.stopped)
	}
	slots, _ := slotsOf(5, 1)
	if p.hold(s, nil, slots[0], 0) {
		t.Error("it goes on")
	}
	if p.endStream(s, nil, slots, 0); e.done != 5 {
		t.Errorf("%d have ended or gone back, want 5", e.done)
	}
}

// A client that acknowledges by calls, and names its last event when it comes back, is known by that: later events come
// again immediately, and its old stream ends, with events or without.
func TestStreamAcknowledged(t *testing.T) {
	t.Parallel()
	p, e := newTestPulls()
	s := newTestStream(t, p, "shop", 10)
	ids := p.tells(t, s, 1, 4, 0)
	p.acknowledge("shop", []string{ids[1], ids[0]})
	p.endStream(s, nil, nil, 0)
	e.done = 0
	if p.resume("shop", ids[0]); e.done != 0 {
		t.Errorf("an event before the last one has ended %d", e.done)
	}
	if p.resume("shop", ids[1]); e.done != 2 {
		t.Errorf("%d have gone back, want 2", e.done)
	}
	again, other := newTestStream(t, p, "shop", 10), newTestStream(t, p, "shop", 10)
	again.last, other.last = ids[1], "evt_1"
	p.tells(t, again, 3, 2, 0)
	e.done = 0
	if p.resume("shop", ids[1]); !again.stopped || other.stopped || e.done != 0 {
		t.Errorf("stopped %v, the other %v, %d were acknowledged", again.stopped, other.stopped, e.done)
	}
	if p.endStream(again, nil, nil, 0); e.done != 2 {
		t.Errorf("%d have gone back, want 2", e.done)
	}
}

// A stream ends when nothing was acknowledged for a minute, and soon if its client has as many as it may. Its events
// may be acknowledged for another minute, and then come again.
func TestStreamSilent(t *testing.T) {
	t.Parallel()
	p, e := newTestPulls()
	s, full := newTestStream(t, p, "shop", 10), newTestStream(t, p, "bar", 3)
	ids := p.tells(t, s, 1, 2, 0)
	p.acknowledge("bar", p.tells(t, full, 11, 3, 0)[:1])
	if p.Expire(int64(fullTime), false); full.stopped {
		t.Error("it has ended although an event was acknowledged")
	}
	p.tells(t, full, 14, 1, int64(fullTime))
	if p.Expire(2*int64(fullTime), false); !full.stopped || s.stopped {
		t.Errorf("the full one has ended: %v, the other: %v", full.stopped, s.stopped)
	}
	e.done = 0
	if p.Expire(int64(pullAgain), false); !s.stopped || e.done != 0 {
		t.Errorf("it has ended: %v; %d have gone back", s.stopped, e.done)
	}
	p.endStream(s, nil, nil, int64(pullAgain))
	p.acknowledge("shop", ids[:1])
	if p.Expire(2*int64(pullAgain)-1, false); e.done != 1 {
		t.Errorf("%d were done with, want the acknowledged one", e.done)
	}
	if p.Expire(2*int64(pullAgain), false); e.done != 2 {
		t.Errorf("%d were done with, want both", e.done)
	}
}

// When the gateway ends, streams end. They give back their events only when their lane gives them nothing more.
func TestStreamsEnd(t *testing.T) {
	t.Parallel()
	p, e := newTestPulls()
	s := newTestStream(t, p, "shop", 10)
	p.tells(t, s, 1, 3, 0)
	if p.Expire(0, true); !s.stopped || e.done != 0 {
		t.Errorf("stopped %v, %d have gone back", s.stopped, e.done)
	}
	if p.endStream(s, nil, nil, 0); e.done != 3 {
		t.Errorf("%d have gone back, want 3", e.done)
	}
	if problem := p.beginStream(s); problem == nil || problem.Status != http.StatusServiceUnavailable {
		t.Errorf("another one: %v", problem)
	}
}

// The number of an account's streams is limited, and it may fetch beside them. Their events count in its limit
// of events.
func TestStreamBounds(t *testing.T) {
	t.Parallel()
	p, _ := newTestPulls()
	var all []*eventStream
	for i := range uint64(mostStreams) {
		s := newTestStream(t, p, "shop", mostPulled)
		p.tells(t, s, 1+i*mostPulled, mostPulled, 0)
		all = append(all, s)
	}
	if problem := p.beginStream(&eventStream{account: "shop"}); problem == nil || problem.Type != "/problems/too-many-streams" {
		t.Errorf("one more: %v", problem)
	}
	newTestStream(t, p, "other", 1)
	for range mostPulls - mostStreams {
		if room, ok := p.begin("shop"); !ok || room != mostPulled {
			t.Errorf("fetches %d, %v", room, ok)
		}
	}
	if _, ok := p.begin("shop"); ok {
		t.Error("streams do not count as requests")
	}
	p.endStream(all[0], nil, nil, 0)
	if room, ok := p.begin("shop"); !ok || room != mostPulled {
		t.Errorf("in the place of a stream: fetches %d, %v", room, ok)
	}
	p.begin("full")
	slots, _ := slotsOf(1, mostHeld-mostPulled+1)
	p.fetched("full", nil, slots, 0)
	if problem := p.beginStream(&eventStream{account: "full"}); problem == nil || problem.Type != "/problems/rate-limited" {
		t.Errorf("of an account that has too many events: %v", problem)
	}
}

// A page is the answer that a stream writes.
type page struct {
	strings.Builder
	deadlines int
}

func (*page) Header() http.Header                  { return nil }
func (*page) WriteHeader(int)                      {}
func (*page) Flush()                               {}
func (p *page) SetWriteDeadline(_ time.Time) error { p.deadlines++; return nil }

// A stream sends events in the form of server-sent events, and says that it goes on while none come. Before it sends
// any, it checks whether its client may still have them.
func TestStreamText(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, _ := newTestPulls()
		w, may := &page{}, true
		given, _ := p.open(nil, 10)
		tell := &eventWriter{
			w: w, out: http.NewResponseController(w), stream: newTestStream(t, p, "shop", 10), pull: given, pulls: p, now: func() int64 { return 0 },
			may: func() bool { return may }, event: func(m *sms.Message) own.Event {
				return own.Event{ID: webhook.EventID(m), Type: "inbound.received", Data: 1}
			},
		}
		give := func(id, n uint64) {
			slots, _ := slotsOf(id, n)
			for _, s := range slots {
				given.supply.Give(0, s)
			}
			synctest.Wait()
		}
		ended := make(chan struct{})
		go func() { defer close(ended); tell.run(context.Background()) }()
		give(1, 2)
		time.Sleep(quietTime + time.Second)
		give(3, 1)
		may = false
		give(4, 1)
		<-ended
		want := "retry: 1000\n\n"
		for id := range uint64(3) {
			m := &sms.Message{ID: id + 1}
			data, _ := json.Marshal(own.Event{ID: webhook.EventID(m), Type: "inbound.received", Data: 1})
			if want += fmt.Sprintf("id: %s\nevent: inbound.received\ndata: %s\n\n", webhook.EventID(m), data); id == 1 {
				want += ":\n\n"
			}
		}
		if w.String() != want || w.deadlines == 0 {
			t.Errorf("%s\nwant\n%s", w, want)
		}
		if left := given.take(); len(left) != 1 {
			t.Errorf("%d were not told, want 1", len(left))
		}
	})
}
