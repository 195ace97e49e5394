package keep

import (
	"fmt"
	"sync/atomic"

	"pmg/gateway/node"
)

// A Space is the free space of a file system.
type Space struct {
	Free, Total       int64 // octets, free and in total
	Inodes, AllInodes int64 // inodes, free and in total; both 0: the file system has no limit
}

// space watches the room on the file system of the store. While there is too little, no
// message is accepted, so that those that wait can still be sent: deleting them needs
// room at first.
type space struct {
	probe   func() (Space, error) // set before the engine starts; nil: the space is not watched
	last    atomic.Pointer[Space]
	low     atomic.Pointer[string] // why no messages are accepted; nil: messages are accepted
	probing node.Single
	told    bool         // the log says that no messages are accepted; guarded by probing
	budget  atomic.Int64 // octets that may be stored before the file system is checked again
}

// shareOfRoom is the share of the room, 1/shareOfRoom, that messages may use until the next check. It is
// small because the store writes each message to the journal and to tables, and again when it merges tables.
const shareOfRoom = 4

// Spend records that octets are stored. Many messages may fill a small file system between two regular checks of the
// free space. So Spend asks for a check when much was stored since the last one, and no message is accepted until
// that check.
func (k *Keeper) Spend(octets int) {
	s := &k.space
	if s.probe == nil || s.budget.Add(-int64(octets)) >= 0 {
		return
	}
	why := "much has been stored within a second, and the file system of store.dir has not answered how much room is left"
	s.low.CompareAndSwap(nil, &why)
	s.probing.Begin(k.CheckSpace)
}

// WatchSpace sets probe: the gateway refuses messages while it reports too little room. It is
// called before an engine starts; CheckSpace follows. probe may hang.
func (k *Keeper) WatchSpace(probe func() (Space, error)) { k.space.probe = probe }

// The least room that a store is left with.
const (
	mostSpace    = int64(1 << 30) // used if store.min_free is not set
	tablesSpace  = int64(64 << 20)
	leastInodes  = int64(1000)
	shareOfSpace = 20 // a twentieth
)

// leastSpace returns how many octets must be free on a file system. It returns the configured value
// if it is set. Otherwise it returns a twentieth of the total, but at least what the store needs to
// write its tables, and at most half.
func leastSpace(configured, total int64) int64 {
	if configured > 0 {
		return configured
	}
	return min(mostSpace, max(total/shareOfSpace, min(tablesSpace, total/2)))
}

// shortage returns why no message may be accepted, or "". again is true while no messages are
// accepted: then some more room is required, so that the gateway does not stop again after the
// next message.
func (s Space) shortage(configured int64, again bool) string {
	least := leastSpace(configured, s.Total)
	inodes := min(leastInodes, s.AllInodes/shareOfSpace)
	asked, askedInodes := least, inodes
	if again {
		asked += max(0, min(least/8, (s.Total-least)/2))
		askedInodes += inodes / 8
	}
	switch {
	case s.Free < asked:
		return fmt.Sprintf(
			"only %d MiB are free on the file system of store.dir, and store.min_free keeps %d MiB", s.Free>>20, least>>20,
		)
	case s.AllInodes > 0 && s.Inodes < askedInodes:
		return fmt.Sprintf(
			"only %d files can still be made on the file system of store.dir, and %d are kept for the store", s.Inodes,
			inodes,
		)
	}
	return ""
}

// CheckSpace checks the free space of the store's file system.
func (k *Keeper) CheckSpace() {
	s := &k.space
	if s.probe == nil {
		return
	}
	room, err := s.probe()
	if err != nil {
		if k.node.Repeats.First("space") {
			k.node.Log.Error().Err(err).Msg("cannot find out how much room there is on the file system of store.dir")
		}
		return
	}
	s.last.Store(&room)
	s.budget.Store(max(0, room.Free-leastSpace(int64(k.node.Config().Store.MinFree), room.Total)) / shareOfRoom)
	why := room.shortage(int64(k.node.Config().Store.MinFree), s.low.Load() != nil)
	if st := k.upkeep.last.Load(); why == "" && st != nil && st.Full {
		why = "the file system of store.dir is full, and the reserve of the store (store.ballast) is in use"
	}
	if why == "" {
		s.low.Store(nil)
	} else {
		s.low.Store(&why)
	}
	switch {
	case why == "" && s.told:
		s.told = false
		k.node.Log.Info().Int64("free", room.Free).Msg("messages are accepted again: there is room for the store")
	case why != "" && !s.told:
		s.told = true
		k.node.Log.Error().Int64("free", room.Free).Msg(
			"no message is accepted until there is room: " + why + "; those that wait are still sent",
		)
	}
}
