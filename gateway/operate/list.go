package operate

import (
	"context"
	"errors"

	"pmg/connector/account"
	"pmg/gateway/receipts"
	"pmg/protocols"
	"pmg/sms"
	"pmg/store"
)

// listLooks is the number of messages, of all accounts, that a list examines, in a few tenths of a second.
const listLooks = 100_000

// Errors of lists: too many other lists are in progress; the messages of earlier runs are not in their queues yet; the store
// cannot list messages.
var (
	ErrBusy     = errOperationBusy
	ErrNotReady = errors.New("the gateway is starting")
	ErrNoList   = receipts.ErrNoList
)

// List calls f for each message of a client whose id is lower than the given one (0: for all), the latest first, until f returns
// false. It may omit messages that were accepted before the time since, by the wall clock. It also stops after a number of
// messages of all clients. It returns the id with which to call List again, or 0 if there are no more messages.
func (d *Operations) List(
	ctx context.Context, client *account.Account, below uint64, since int64, f func(*Known) bool,
) (last uint64, err error) {
	if !d.keep.Recovered() {
		return 0, ErrNotReady
	}
	if !client.Search() {
		return 0, ErrBusy
	}
	defer client.EndSearch()
	defer d.searching.Add(-1)
	if d.searching.Add(1) > maxSearching {
		return 0, ErrBusy
	}
	ctx, done := context.WithTimeout(ctx, operationTimeout)
	defer done()
	wall, looked := d.node.Clock.WallNow(), 0
	next, err := receipts.List(d.keep, below, since, listLooks, func(k *receipts.Known) error {
		last = k.ID
		if looked++; looked%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		one, arrived := listed(client.SystemID, k, wall)
		switch {
		// earlier messages are older, unless the clock was set by more than a day
		case arrived != 0 && arrived < since-store.DayLength:
			last = 0
			return errSearched
		case one == nil || f(one):
			return nil
		}
		return errSearched
	})
	switch {
	case errors.Is(err, errSearched):
		return last, nil
	case err != nil:
		return 0, err
	}
	return next, nil
}

// listed returns the client's view of a message, and the time of its acceptance (0: unknown). It returns nil if the message is
// not the client's.
func listed(client string, k *receipts.Known, wall int64) (*Known, int64) {
	if k.Record == nil {
		v := &k.Left
		if string(v.Account) != client || !isKnownAs(k.ID, v.ID, v.Submitted) {
			return nil, v.Arrived
		}
		return &Known{
			Left: v, Fate: k.Fate,
			Result: protocols.Result{ID: k.ID, State: k.Fate.State, Error: k.Fate.Error, Since: k.Fate.Since},
		}, v.Arrived
	}
	h, err := store.DecodeHead(k.Record)
	if err != nil || string(h.Account) != client {
		return nil, h.Arrived
	}
	m := newFound(&k.Entry).message
	if m == nil || m.Kind != sms.Submit || m.Offset != 0 || !isKnownAs(k.ID, m.ID, m.SubmittedOctets()) {
		return nil, h.Arrived
	}
	return &Known{Waits: m, Result: protocols.Result{ID: k.ID, State: waitsAs(m, wall)}}, h.Arrived
}

// isKnownAs reports whether a client knows a message by an id: the message's own, or those of the messages that were joined or
// cut to make it.
func isKnownAs(id, own uint64, submitted []byte) bool {
	s, _ := sms.ReadSubmitted(submitted)
	for _, j := range s.Joined {
		if j.ID == id {
			return true
		}
	}
	return len(s.Joined) == 0 && id == own
}
