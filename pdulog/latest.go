package pdulog

import (
	"bytes"
	"context"
	"slices"
	"time"

	"pmg/internal/logfile"
	"pmg/internal/logtext"
)

// A heads counts the messages of a search, by the lines that show that they exist.
type heads struct {
	most  int
	ids   map[string]bool // ids in lines that name a message
	came  int             // requests that brought a message, of which no line yet has the id
	peers map[string]bool // ids that SMSCs' receipts name, with the connector
	told  map[string]bool // ids that receipts to clients name
}

// isFull records the message of a line. It reports true if there was no room.
func (h *heads) isFull(e *tracedLine) bool {
	switch {
	case len(e.named) > 0 && e.Received:
		return h.lacks(h.peers, e.Connector+" "+e.named[0])
	case len(e.named) > 0:
		return h.lacks(h.told, e.named[0])
	case len(e.ID) > 0:
		return h.lacks(h.ids, string(e.ID))
	case e.Received || e.Reason != nil:
		if h.came == h.most {
			return true
		}
		h.came++
	}
	return false
}

// lacks adds an id to ids. It reports true if there was no room.
func (h *heads) lacks(ids map[string]bool, id string) bool {
	if !ids[id] && len(ids) == h.most {
		return true
	}
	ids[id] = true
	return false
}

// latest finds the lines of the latest messages with the number, of the account, or of all, the latest first.
// Receipts for messages with the number are found by their ids: a receipt without other lines counts only if
// there is room.
func (w *tracer) latest(ctx context.Context) error {
	if w.Most == 0 {
		w.Most = maxTraced
	}
	h := heads{most: w.Most, ids: map[string]bool{}, peers: map[string]bool{}, told: map[string]bool{}}
	keys, wanted := w.headKeys()
	var reached, left time.Time // left: time of the latest receipt that did not fit
	var found, receipts []*tracedLine
	err := w.walk.Blocks(ctx, keys, func(lines logfile.Lines) bool {
		for _, e := range slices.Backward(w.headsIn(lines, wanted)) {
			isReceipt := w.Number != "" && len(e.named) > 0
			switch full := h.isFull(e); {
			case full && !isReceipt:
				w.Cut = true
				return false
			case full:
				if left.IsZero() {
					left = e.Time
				}
			case isReceipt:
				receipts = append(receipts, e)
			default:
				found, reached = append(found, e), e.Time
			}
		}
		return true
	})
	if !w.Cut {
		found = append(found, receipts...)
		if w.Cut = !left.IsZero(); w.Cut {
			reached = left
		}
	}
	if w.Cut || err != nil && !reached.IsZero() {
		w.From = reached
	}
	slices.SortFunc(found, compareLines)
	for _, e := range found {
		w.find(e)
	}
	return err
}

// headsIn returns the lines of a block that show messages of the search, in the order of their times.
func (w *tracer) headsIn(lines logfile.Lines, wanted map[uint64]bool) (heads []*tracedLine) {
	eachLine(lines, func(line []byte, at place) {
		if wanted != nil && !w.hasOne(line, wanted) {
			return
		}
		if e := w.parse(line, at); e != nil && w.isHead(e) {
			heads = append(heads, e)
		}
	})
	slices.SortStableFunc(heads, func(a, b *tracedLine) int { return a.Time.Compare(b.Time) })
	return heads
}

// headKeys returns the keys of lines that show messages; nil: any line may show one.
func (w *tracer) headKeys() ([]logfile.Key, map[uint64]bool) {
	var hash uint64
	switch {
	case w.Number != "":
		hash = NumberHash([]byte(w.Number))
	case w.Failed:
		hash = logfile.Hash(failureKey, nil)
	case w.Account != "":
		hash = logfile.Hash(accountKey, bytes.Trim(logtext.AppendValue(nil, []byte(w.Account)), `"`))
	default:
		return nil, nil
	}
	return []logfile.Key{{Hash: hash}}, map[uint64]bool{hash: true}
}

// isHead reports whether a line shows a message of the search.
func (w *tracer) isHead(e *tracedLine) bool {
	if w.Account != "" && e.Account != nil && e.AccountName() != w.Account ||
		len(w.Connectors) > 0 && !slices.Contains(w.Connectors, e.Connector) {
		return false
	}
	_, isAnswer := e.Status()
	_, to := e.Addresses()
	isReceipt := len(e.named) > 0
	switch {
	case w.Number != "":
		return w.hasNumber(&e.Entry, "source_addr", "OAdC", "destination_addr", "AdC", "from", "to")
	case w.Failed:
		return isReceipt || isAnswer && !e.IsOperation() && (e.Received && e.ID != nil || e.Reason != nil)
	case w.Account != "" && e.Account == nil:
		return false
	}
	return !isAnswer && !isReceipt && to != "" && (e.Received || len(w.Connectors) > 0 && e.ID != nil)
}
