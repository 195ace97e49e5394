package operate

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"pmg/config"
	"pmg/events"
	"pmg/gateway/keep"
	"pmg/gateway/settle"
	"pmg/sms"
	"pmg/store"
)

// ChangeStopped changes messages with ids from from on, up to a limit, in the store of a gateway
// that is stopped, and returns them with what was done to each. A message that is moved or
// retried is in its queue when the gateway has started: there its route is decided, and
// where a connector that it was moved to is gone. cfg is that gateway's configuration, nil
// if it is not known.
func ChangeStopped(in store.Store, cfg *config.Config, c QueueChange, s Selection, from uint64, limit int) (QueuePage, error) {
	if c.What == MoveMessages && cfg != nil {
		if err := checkTarget(cfg, c.To); err != nil {
			return QueuePage{}, fmt.Errorf("cannot %s messages: %w", c.What, err)
		}
	}
	all, looked, next, err := s.find(in, from, limit, time.Now())
	p := newPage(in, all, looked, next, s)
	if err == nil && !c.DryRun && len(all) > 0 {
		err = c.changeStopped(in, cfg, all)
		for i := range all {
			p.Messages[i].Result = c.resultStopped(all[i])
		}
	}
	if err != nil {
		return QueuePage{}, fmt.Errorf("cannot %s messages: %w", c.What, err)
	}
	return p, nil
}

// changeStopped changes messages in one commit.
func (c *QueueChange) changeStopped(in store.Store, cfg *config.Config, all []*found) error {
	var b store.Batch
	if c.What == DeleteMessages {
		return deleteStopped(in, cfg, &b, all)
	}
	for _, f := range all {
		if f.err != nil {
			continue
		}
		m := f.message
		m.ForgetAttempts()
		if c.What == MoveMessages {
			b.Keep(m, store.State{Lane: store.Lane{Connector: c.To}})
			continue
		}
		b.Delete(f.id, len(f.record)) // a message of no lane is routed when the gateway starts
		m.Origin = f.origin()
		b.Put(m, store.Lane{})
	}
	return in.Commit(&b)
}

// resultStopped returns what was done to a message.
func (c *QueueChange) resultStopped(f *found) string {
	if f.err != nil && c.What != DeleteMessages {
		return ResultBad
	}
	return c.past()
}

// deleteStopped deletes messages, with their events if events.dir is set. Events that cannot be
// written now are in the store, and the next start writes them.
func deleteStopped(in store.Store, cfg *config.Config, b *store.Batch, all []*found) error {
	for _, f := range all {
		b.Delete(f.id, len(f.record))
	}
	if cfg == nil || cfg.Events.Dir == "" {
		return in.Commit(b)
	}
	var written atomic.Uint64
	w, err := events.Open(settle.EventOptions(&cfg.Events, zerolog.Nop()), in, written.Store)
	if err != nil {
		return err
	}
	log, now := settle.EventLog{Writer: w}, time.Now().UnixNano()
	for _, f := range all {
		if f.err != nil {
			continue // nothing is known of it but its id
		}
		m := f.message
		m.Origin = f.origin()
		log.Note(b, m, &keep.Ending{State: events.Deleted, Lane: f.lane(), Answer: sms.Answer{Code: sms.Deleted, At: now}, Attempts: settle.AttemptsOf(m, sms.Deleted, 0)}, 0)
	}
	if err := in.Commit(b); err != nil {
		return errors.Join(err, w.Close())
	}
	_ = w.Close()
	b.Reset()
	b.DropEvents(written.Load())
	return in.Commit(b)
}

// StoreStats is what operators see of a store, whether its gateway runs or not.
type StoreStats struct {
	store.Stats
	Dir         string `json:"dir,omitempty"`
	Parked      int64  `json:"parked"`
	Quarantined int64  `json:"quarantined"`
	Orphans     int64  `json:"orphans"`
}

// StoreStats returns what is known of the gateway's store at this moment, for which it waits
// where the disk hangs; StoreStatus does not. It reports false if there is no store.
func (d *Desk) StoreStats() (s StoreStats, ok bool) {
	if d.Store == nil {
		return s, false
	}
	s.Stats = d.Store.Stats()
	s.Parked, s.Quarantined, s.Orphans = d.Aside(store.Parked), d.Aside(store.Quarantined), d.Aside(store.Orphan)
	if d.Store.Durable() {
		s.Dir = d.Config().Store.Dir
	}
	return s, true
}

// StatsOfStopped returns what is known of the store of a gateway that is stopped. It reads
// all of it.
func StatsOfStopped(in store.Store, dir string) (StoreStats, error) {
	s := StoreStats{Stats: in.Stats(), Dir: dir}
	for from, more := uint64(0), true; more; {
		next, err := in.Scan(from, pageLooks, func(e *store.Entry) error {
			state, err := store.DecodeState(e.State)
			switch {
			case e.State == nil || err != nil:
			case state.Aside == store.Parked:
				s.Parked++
			case state.Aside == store.Quarantined:
				s.Quarantined++
			case state.Aside == store.Orphan:
				s.Orphans++
			}
			return nil
		})
		if err != nil {
			return s, fmt.Errorf("cannot read store: %w", err)
		}
		from, more = next, next != 0
	}
	return s, nil
}
