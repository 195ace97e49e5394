package story

import (
	"context"
	"slices"
	"strings"
	"time"

	"pmg/gateway/operate"
	"pmg/internal/logfile"
	"pmg/pdulog"
	"pmg/protocols/httpsms"
	"pmg/sms"
	"pmg/sms/number"
)

// A Finder finds the stories of messages.
type Finder struct {
	Dir    string        // directory of the pdu logs
	Events string        // directory of the events; "": events are not read
	Most   int           // of how many messages the events and the store are asked
	Room   int           // limit of octets of lines in memory; 0: no limit
	Wide   bool          // messages are found that only the events know
	Logs   *logfile.Logs // index of files, which is kept between searches; nil: none

	// Waiting returns the queue entries of messages, as far as they are known; nil: unknown.
	Waiting func(ctx context.Context, ids []uint64) []operate.StoredMessage
}

// A Found is the result of a search.
type Found struct {
	Lines   [][]byte  // lines of the pdu logs, in the order of their times
	Stories []*Story  // stories, in the order of their first lines
	Cut     bool      // more messages were found: only the latest were followed
	Late    bool      // the context ended before all files were read
	From    time.Time // start of the period that was searched; zero: all files were searched
}

// A Query says which messages are meant.
type Query struct {
	// What is the gateway's id, the same id as a UUID, an SMSC's id, a client's reference, or a number; "": the latest messages
	What       string
	IsID       bool     // What is an id and no number, even if it has only digits
	Account    string   // account of the messages, if What is a number or ""; "": all
	Connectors []string // connectors of the messages; none: all connectors
	Failed     bool     // select only failed messages
	Since      time.Time
	Until      time.Time // exclusive
}

// Search finds messages. Digits are first read as a number. If ctx ends before all files were read, Search
// returns the messages found so far.
func (f *Finder) Search(ctx context.Context, q Query) (*Found, error) {
	if id, err := httpsms.ParseID(q.What); err == nil && !strings.EqualFold(q.What, sms.FormatID(id)) { // the clients' form
		ours := q
		ours.What = sms.FormatID(id)
		found, err := f.Search(ctx, ours)
		if err != nil || found.Late || strings.Contains(q.What, "-") || slices.ContainsFunc(found.Stories, (*Story).known) {
			return found, err
		} // a text without such a message may be an SMSC's id
	}
	digits, _ := number.Clean(q.What)
	t := &pdulog.Trace{
		Number: digits, Account: q.Account, Connectors: q.Connectors, Failed: q.Failed, Most: f.Most, Room: f.Room,
		Logs: f.Logs, Filter: pdulog.Filter{Since: q.Since, Until: q.Until},
	}
	if q.IsID || pdulog.MessageID(q.What) {
		t.ID = q.What
	}
	found, err := f.find(ctx, t)
	// an SMSC's id may have digits only, too
	if err == nil && len(found.Lines)+len(found.Stories) == 0 && t.ID == "" && q.What != "" && !found.Late {
		t.ID = q.What
		found, err = f.find(ctx, t)
	}
	if err == nil && q.Failed {
		found.Stories = slices.DeleteFunc(found.Stories, func(s *Story) bool { return !s.Outcome().Failed() })
	}
	return found, err
}

// known reports whether the story has more than the id that was searched for.
func (s *Story) known() bool { return len(s.Steps) > 0 || s.Waits != nil }

func (f *Finder) find(ctx context.Context, t *pdulog.Trace) (*Found, error) {
	lines, err := t.Trace(ctx, f.Dir)
	late := ctx.Err() != nil
	if err != nil && !late {
		return nil, err
	}
	told := newTeller(lines)
	if t.ID != "" {
		told.know(t.ID)
	}
	if f.Events != "" && !late {
		if f.Wide && !t.Cut && t.ID+t.Number != "" {
			told.wanted = t
		}
		err := told.readEvents(ctx, f, t.Filter.Since)
		if t.Also = told.unseen; err == nil && len(t.Also) > 0 && t.ID != "" { // the protocol's receipts contain no ids
			lines, err = t.Trace(ctx, f.Dir)
		}
		if late = ctx.Err() != nil; err != nil && !late {
			return nil, err
		}
	}
	f.wait(ctx, told)
	return &Found{Lines: lines, Stories: told.all, Cut: t.Cut || told.cut, Late: late, From: t.From}, nil
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
