package loadtest

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// MOOptions are a sink's options for mobile-originated messages. Each has its number in its
// text, as those of a load have.
type MOOptions struct {
	Count int64    // how many are sent; 0: without end, if there is a rate
	Rate  float64  // messages a second; 0: as fast as they are answered
	From  string   // source address
	To    []string // destination addresses, which take turns
}

func (o *MOOptions) check() error {
	if o.Count < 0 || o.Count > maxNumber || o.Rate < 0 {
		return errors.New("the number and the rate of mobile-originated messages cannot be negative")
	}
	for _, a := range append([]string{o.From}, o.To...) {
		if len(a) > maxAddress {
			return fmt.Errorf("%q is not an address: it has more than %d digits", a, maxAddress)
		}
	}
	return nil
}

// A moSource makes a sink's own messages.
type moSource struct {
	supply supply
	from   shortAddress
	to     []shortAddress
}

// startMO begins the sink's own messages, when the first session can receive them.
func (s *Sink) startMO() {
	o := &s.o.MO
	if o.Count == 0 && o.Rate == 0 || s.mo.Load() != nil {
		return
	}
	m := &moSource{}
	m.from.set(moAddress(o.From))
	m.to = make([]shortAddress, len(o.To))
	for i, to := range o.To {
		m.to[i].set(moAddress(to))
	}
	m.supply.limit = o.Count
	if o.Rate > 0 {
		m.supply.plan = newPlan(s.now(), o.Rate)
		s.running.Go(func() { s.paceMO(m) })
	}
	s.mo.Store(m)
}

// moAddress returns an international number, or a short number, which is in no plan.
func moAddress(digits string) address {
	const longestShort = 6
	if len(digits) <= longestShort {
		return address{digits: []byte(digits)}
	}
	return address{international, isdn, []byte(digits)}
}

// takeMO takes the next message of the sink's own, if one is due.
func (s *Sink) takeMO() (d delivery, ok bool) {
	m := s.mo.Load()
	if m == nil {
		return d, false
	}
	number, n := m.supply.take(s.now(), 1)
	if n == 0 {
		return d, false
	}
	s.counts.mo.Add(1)
	return delivery{mo: true, number: number, source: m.from, destination: m.to[number%int64(len(m.to))]}, true
}

// paceMO wakes a session whenever messages are due, until the sink closes.
func (s *Sink) paceMO(m *moSource) {
	tick := time.NewTicker(max(time.Duration(m.supply.plan.slot), time.Millisecond))
	defer tick.Stop()
	for {
		select {
		case <-s.closing:
			return
		case <-tick.C:
		}
		if m.supply.ready(s.now(), 1) > 0 {
			s.wakeReceiver()
		}
	}
}

// wakeReceiver wakes a session whose window has room.
func (s *Sink) wakeReceiver() {
	s.mu.Lock()
	receivers := len(s.receivers)
	s.mu.Unlock()
	for range receivers {
		if to := s.anyReceiver(); to != nil && to.mail.hasRoom() {
			to.mail.wakeUp()
			return
		}
	}
}

// anyReceiver returns the receivers one after the other, nil if there is none.
func (s *Sink) anyReceiver() *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.receivers) == 0 {
		return nil
	}
	s.nextReceiver++
	return s.receivers[s.nextReceiver%len(s.receivers)]
}

// A word is the text of a message that a test sends.
type word struct {
	text  string
	ended chan bool // receives whether the peer has accepted it, or refused it for good
}

// Send sends a mobile's message, and waits until the peer has accepted it: as a receipt, it is sent again when it is refused for
// the moment, or when its session ends. The sink must have receipts or messages of its own. When ctx ends, the message may still
// arrive.
func (s *Sink) Send(ctx context.Context, from, to, text string) error {
	if !s.o.delivers() {
		return errors.New("cannot send a message: the sink has neither receipts nor messages of its own")
	}
	d := delivery{mo: true, word: &word{text, make(chan bool, 1)}}
	d.source.set(moAddress(from))
	d.destination.set(moAddress(to))
	s.counts.mo.Add(1)
	s.dispatch([]delivery{d})
	select {
	case <-ctx.Done():
		return fmt.Errorf("cannot send a message: %w", ctx.Err())
	case accepted := <-d.word.ended:
		if !accepted {
			return errors.New("cannot send a message: the peer refuses it")
		}
		return nil
	}
}
