package story

import (
	"context"
	"strings"

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

	// Waiting returns where messages wait, as far as that is known; nil: it is not.
	Waiting func(ctx context.Context, ids []uint64) []operate.StoredMessage
}

// A Found is what a search has found.
type Found struct {
	Lines   [][]byte // of the pdu logs, in the order of their times
	Stories []*Story // in the order of their first lines
	Cut     bool     // there are too many messages: not all are followed, and the pdu logs alone were asked
}

// Search finds the messages that a text means: the gateway's id, the UUID in its place, an SMSC's id, or a number. One of digits
// is first taken for a number, unless isID.
func (f *Finder) Search(ctx context.Context, what string, isID bool, filter pdulog.Filter) (*Found, error) {
	if id, err := httpsms.ParseID(what); err == nil && strings.Contains(what, "-") { // a UUID, as clients have it
		what = sms.FormatID(id)
	}
	t := &pdulog.Trace{Number: what, Filter: filter}
	if isID || pdulog.MessageID(what) {
		t.ID = what
	}
	found, err := f.find(ctx, t)
	if err == nil && len(found.Lines) == 0 && t.ID == "" { // an SMSC's id may have digits only, too
		t.ID = what
		found, err = f.find(ctx, t)
	}
	return found, err
}

func (f *Finder) find(ctx context.Context, t *pdulog.Trace) (*Found, error) {
	lines, err := t.Trace(ctx, f.Dir)
	if err != nil {
		return nil, err
	}
	told := newTeller(lines)
	if t.Cut {
		return &Found{Lines: lines, Stories: told.all, Cut: true}, nil
	}
	if t.ID != "" {
		told.know(t.ID)
	}
	if f.Events != "" {
		if err := told.readEvents(ctx, f.Events, t.Filter.Since, f.Most); err != nil {
			return nil, err
		}
		if t.Also = told.unseen; len(t.Also) > 0 && t.ID != "" { // a protocol whose receipts have no ids
			if lines, err = t.Trace(ctx, f.Dir); err != nil {
				return nil, err
			}
		}
	}
	f.wait(ctx, told)
	return &Found{Lines: lines, Stories: told.all}, nil
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
