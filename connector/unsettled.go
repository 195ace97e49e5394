package connector

// unsettled counts the messages whose outcome is known and which the store has not
// forgotten yet: after a crash they would be sent again. Together with those under way
// they are at most as many as the sessions' windows, which bounds what a crash doubles.
type unsettled struct {
	n       int
	batches []unsettledBatch // in the order of their numbers
}

type unsettledBatch struct {
	number uint64
	n      int
}

// add counts a message that the store forgets in a batch; 0: it is in no store.
func (u *unsettled) add(batch uint64) {
	if batch == 0 {
		return
	}
	u.n++
	if last := len(u.batches) - 1; last >= 0 && u.batches[last].number == batch {
		u.batches[last].n++
		return
	}
	u.batches = append(u.batches, unsettledBatch{batch, 1})
}

// Unsettled returns how many messages have ended and are still in the store.
func (l *Lane) Unsettled() int { return l.unsettled.n }

// Committed notes that the batches up to a number were committed. It reports whether
// more messages may leave by that.
func (l *Lane) Committed(upTo uint64) bool {
	u := &l.unsettled
	done := 0
	for done < len(u.batches) && u.batches[done].number <= upTo {
		u.n -= u.batches[done].n
		done++
	}
	u.batches = u.batches[:copy(u.batches, u.batches[done:])]
	return done > 0
}
