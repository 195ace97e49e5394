package v1

import (
	"slices"
	"testing"

	"pmg/connector"
	"pmg/httpapi/webhook"
	"pmg/sms"
)

// A doneEngine counts what is done with lanes, and does nothing.
type doneEngine struct{ done int }

func (e *doneEngine) Do(*connector.Lane, func(int64)) bool { e.done++; return true }

// newTestPulls returns pulls, and what counts the events that they give back or end.
func newTestPulls() (*Pulls, *doneEngine) {
	e := &doneEngine{}
	return NewPulls(e, nil, nil), e
}

// slotsOf returns slots of messages with ids, and the ids of their events.
func slotsOf(first, n uint64) (slots []*connector.Slot, events []string) {
	for id := first; id < first+n; id++ {
		m := &sms.Message{ID: id}
		slots = append(slots, &connector.Slot{Message: m})
		events = append(events, webhook.EventID(m))
	}
	return slots, events
}

// An event that was fetched is given back a minute later, neither before nor twice, unless its client acknowledged it.
func TestPullAgain(t *testing.T) {
	t.Parallel()
	p, e := newTestPulls()
	const fetched = 5
	slots, ids := slotsOf(1, 2)
	if _, ok := p.begin("shop"); !ok {
		t.Fatal("a first request was refused")
	}
	p.fetched("shop", nil, slots, fetched)
	over := int64(fetched) + int64(pullAgain)
	if p.Expire(over-1, false); e.done != 0 {
		t.Errorf("%d events were given back within the minute", e.done)
	}
	if unknown := p.acknowledge("other", ids); !slices.Equal(unknown, ids) || e.done != 0 {
		t.Errorf("another account acknowledged them: unknown %v, done %d", unknown, e.done)
	}
	if unknown := p.acknowledge("shop", ids[:1]); len(unknown) != 0 || e.done != 1 {
		t.Errorf("unknown %v, done %d", unknown, e.done)
	}
	for range 2 {
		if p.Expire(over, false); e.done != 2 {
			t.Errorf("%d were done with, want the acknowledged one and the one that is over", e.done)
		}
	}
	if unknown := p.acknowledge("shop", ids); !slices.Equal(unknown, ids) || e.done != 2 {
		t.Errorf("acknowledged later: unknown %v, done %d", unknown, e.done)
	}
	if len(p.of) != 0 {
		t.Errorf("an account without events is kept: %v", p.of)
	}
}

// An account may have so many requests and events under way, and others have their own.
func TestPullBounds(t *testing.T) {
	t.Parallel()
	p, _ := newTestPulls()
	for i := range mostPulls {
		if room, ok := p.begin("shop"); !ok || room != mostPulled {
			t.Fatalf("request %d: %d, %v", i, room, ok)
		}
	}
	if _, ok := p.begin("shop"); ok {
		t.Error("one request more was taken")
	}
	if _, ok := p.begin("other"); !ok {
		t.Error("another account was refused")
	}
	for i := range uint64(mostPulls) {
		slots, _ := slotsOf(1+i*mostPulled, mostPulled)
		p.fetched("shop", nil, slots, 0)
	}
	for n := mostHeld - mostPulls*mostPulled; n > 0; n -= mostPulled {
		room, ok := p.begin("shop")
		if !ok || room != min(n, mostPulled) {
			t.Fatalf("with room for %d: %d, %v", n, room, ok)
		}
		slots, _ := slotsOf(uint64(1+mostHeld-n), uint64(room))
		p.fetched("shop", nil, slots, 0)
	}
	if _, ok := p.begin("shop"); ok {
		t.Errorf("more than %d events were fetched", mostHeld)
	}
	_, ids := slotsOf(7, 1)
	p.acknowledge("shop", ids)
	if room, ok := p.begin("shop"); !ok || room != 1 {
		t.Errorf("after one was acknowledged: %d, %v", room, ok)
	}
}

// When the gateway ends, everything is given back: what was fetched before, and what a request brings that ends later.
func TestPullsEnd(t *testing.T) {
	t.Parallel()
	p, e := newTestPulls()
	before, _ := slotsOf(1, 3)
	later, ids := slotsOf(4, 2)
	p.begin("shop")
	p.begin("shop")
	p.fetched("shop", nil, before, 0)
	if p.Expire(0, true); e.done != 3 {
		t.Errorf("%d were given back, want 3", e.done)
	}
	if p.fetched("shop", nil, later, 0); e.done != 5 {
		t.Errorf("%d were given back, want 5", e.done)
	}
	if unknown := p.acknowledge("shop", ids); !slices.Equal(unknown, ids) {
		t.Errorf("unknown %v", unknown)
	}
	if _, ok := p.begin("shop"); ok {
		t.Error("a request was taken after the end")
	}
}

// Requests that wait may each bring as many events as one may have, so that those count as if they were fetched.
func TestPullRoom(t *testing.T) {
	t.Parallel()
	const short = 30 // by which the last request finds less room than it may fill
	for held, want := range map[uint64]int{
		mostHeld - mostPulled:             0,
		mostHeld - 2*mostPulled + short:   mostPulled - short,
		mostHeld - 2*mostPulled:           mostPulled,
		mostHeld - 2*mostPulled - 2*short: mostPulled,
	} {
		p, _ := newTestPulls()
		p.begin("shop")
		slots, _ := slotsOf(1, held)
		p.fetched("shop", nil, slots, 0)
		p.begin("shop") // waits
		if room, ok := p.begin("shop"); room != want || ok != (want > 0) {
			t.Errorf("%d are held, one request waits: %d, %v; want %d", held, room, ok, want)
		}
	}
}
