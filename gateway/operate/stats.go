package operate

import (
	"fmt"

	"pmg/store"
)

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
