package pdulog

import (
	"bytes"
	"context"
	"slices"
	"time"

	"pmg/internal/logfile"
	"pmg/internal/logtext"
)

// A head is the line that shows that one of the wanted messages exists.
type heads struct {
	most int
	ids  map[string]bool // of lines that name a message
	came int             // requests that brought a message, of which no line yet names the id
}

// isFull notes the message of a line, and reports whether there was no room for it.
func (h *heads) isFull(e *Entry) bool {
	switch id := string(e.ID); {
	case id != "" && h.ids[id]:
		return false
	case id != "":
		if len(h.ids) == h.most {
			return true
		}
		h.ids[id] = true
	case e.Received || e.Reason != nil:
		if h.came == h.most {
			return true
		}
		h.came++
	}
	return false
}

// latest finds the lines of the latest messages with the number, of the account, or of all, the latest first.
func (w *tracer) latest(ctx context.Context) error {
	if w.Most == 0 {
		w.Most = maxTraced
	}
	h := heads{most: w.Most, ids: map[string]bool{}}
	keys, wanted := w.headKeys()
	var reached time.Time
	var found []*tracedLine
	err := w.walk.Blocks(ctx, keys, func(lines logfile.Lines) bool {
		var block []*tracedLine
		eachLine(lines, func(line []byte, at place) {
			if wanted != nil && !w.hasOne(line, wanted) {
				return
			}
			if e := w.parse(line, at); e != nil && w.isHead(&e.Entry) {
				block = append(block, e)
			}
		})
		for _, e := range slices.Backward(block) {
			if len(receiptIDs(&e.Entry)) == 0 && h.isFull(&e.Entry) {
				w.Cut = true
				return false
			}
			found, reached = append(found, e), e.Time
		}
		return true
	})
	switch {
	case w.Cut:
		w.From = reached
	case err != nil && !reached.IsZero():
		w.From = reached
	}
	slices.SortFunc(found, compareLines)
	for _, e := range found {
		w.find(e)
	}
	return err
}

// headKeys returns the keys of lines that show which messages there are; nil: any line may.
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

// isHead reports whether a line shows a message that is looked for.
func (w *tracer) isHead(e *Entry) bool {
	if w.Account != "" && e.Account != nil && e.AccountName() != w.Account ||
		len(w.Connectors) > 0 && !slices.Contains(w.Connectors, e.Connector) {
		return false
	}
	_, isAnswer := e.Status()
	_, to := e.Addresses()
	isReceipt := len(receiptIDs(e)) > 0
	switch {
	case w.Number != "":
		return w.hasNumber(e, "source_addr", "OAdC", "destination_addr", "AdC", "from", "to")
	case w.Failed:
		return isReceipt || isAnswer && (e.Received && e.ID != nil || e.Reason != nil)
	case w.Account != "" && e.Account == nil:
		return false
	}
	return !isAnswer && !isReceipt && to != "" && (e.Received || len(w.Connectors) > 0 && e.ID != nil)
}
