package story

import (
	"context"
	"errors"
	"strings"
	"time"

	"pmg/gateway/operate"
	"pmg/pdulog"
	"pmg/protocols/httpsms"
	"pmg/sms"
)

// A Finder finds the stories of messages.
type Finder struct {
	Dir    string // of the pdu logs
	Events string // directory of the events; "": they are not read
	Most   int    // of how many messages the events and the store are asked
	Room   int    // how many octets of lines are kept; 0: as many as there are
	Wide   bool   // messages are found that only the events know

	// Waiting returns where messages wait, as far as that is known; nil: it is not.
	Waiting func(ctx context.Context, ids []uint64) []operate.StoredMessage
}

// A Found is what a search has found.
type Found struct {
	Lines   [][]byte // of the pdu logs, in the order of their times
	Stories []*Story // in the order of their first lines
	Cut     bool     // there are too many messages: not all are followed, or of those in the pdu logs nothing else was asked
	Late    bool     // the context's time was over before all files were read
}

// A Query says which messages are meant.
type Query struct {
	What    string // the gateway's id, the UUID in its place, an SMSC's id, a client's reference, or a number
	IsID    bool   // it is no number, even if it has digits only
	Account string // of messages with a number; "": all
	Since   time.Time
	Until   time.Time // exclusive
}

// Search finds messages. Digits are first taken for a number. Where the time of ctx ends before all files were read, it returns
// what it has found.
func (f *Finder) Search(ctx context.Context, q Query) (*Found, error) {
	if id, err := httpsms.ParseID(q.What); err == nil && strings.Contains(q.What, "-") { // a UUID, as clients have it
		q.What = sms.FormatID(id)
	}
	t := &pdulog.Trace{Number: q.What, Account: q.Account, Room: f.Room, Filter: pdulog.Filter{Since: q.Since, Until: q.Until}}
	if q.IsID || pdulog.MessageID(q.What) {
		t.ID = q.What
	}
	found, err := f.find(ctx, t)
	if err == nil && len(found.Lines)+len(found.Stories) == 0 && t.ID == "" && !found.Late { // an SMSC's id may have digits only, too
		t.ID = q.What
		found, err = f.find(ctx, t)
	}
	return found, err
}

func (f *Finder) find(ctx context.Context, t *pdulog.Trace) (*Found, error) {
	lines, err := t.Trace(ctx, f.Dir)
	late := errors.Is(err, context.DeadlineExceeded)
	if err != nil && !late {
		return nil, err
	}
	told := newTeller(lines)
	if t.Cut {
		return &Found{Lines: lines, Stories: told.all, Cut: true, Late: late}, nil
	}
	if t.ID != "" {
		told.know(t.ID)
	}
	if f.Events != "" && !late {
		if f.Wide {
			told.wanted = t
		}
		err := told.readEvents(ctx, f.Events, t.Filter.Since, f.Most)
		if t.Also = told.unseen; err == nil && len(t.Also) > 0 && t.ID != "" { // a protocol whose receipts have no ids
			lines, err = t.Trace(ctx, f.Dir)
		}
		if late = errors.Is(err, context.DeadlineExceeded); err != nil && !late {
			return nil, err
		}
	}
	f.wait(ctx, told)
	return &Found{Lines: lines, Stories: told.all, Cut: told.cut, Late: late}, nil
}

// wait adds where messages wait.
func (f *Finder) wait(ctx context.Context, t *teller) {
	if f.Waiting == nil || len(t.all) == 0 {
		return
	}
	var ids []uint64
	for _, s := range t.all[:min(len(t.all), f.Most)] {
		if id, err := sms.ParseID(s.ID); err == nil {
			ids = append(ids, id)
		}
	}
	for _, m := range f.Waiting(ctx, ids) {
		if s := t.by[m.ID]; s != nil {
			s.Waits = &m
		}
	}
}
