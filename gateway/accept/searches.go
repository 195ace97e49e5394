package accept

import "slices"

// A search is for the message of a receipt. Later receipts with its id wait behind it, so that the
// client gets them in their order: "on its way" must not come behind the final state.
type search[T any] struct {
	key    string
	behind []*finding[T]
}

// Searches returns how many receipts are being looked up.
func (a *Acceptor[T]) Searches() int { return len(a.searches) }

// begins begins a search for the message of a receipt.
func (a *Acceptor[T]) begins(q *finding[T]) {
	if q.search != nil {
		return
	}
	if a.searches == nil {
		a.searches = map[string]*search[T]{}
	}
	q.search = &search[T]{key: string(a.searchKeyOf(q))}
	a.searches[q.search.key] = q.search
}

// follows makes a receipt wait if the message of an earlier one with its id is looked for, and
// reports whether it does.
func (a *Acceptor[T]) follows(q *finding[T]) bool {
	if len(a.searches) == 0 {
		return false
	}
	t := a.searches[string(a.searchKeyOf(q))]
	if t == nil {
		return false
	}
	copied := *q
	copied.match.Record = nil
	a.executor.Hold(q.by)
	t.behind = append(t.behind, &copied)
	return true
}

// searchKeyOf returns the name of the SMSC and the id of a receipt.
func (a *Acceptor[T]) searchKeyOf(q *finding[T]) []byte {
	r, _ := q.message.Report()
	a.searchKey = append(append(append(a.searchKey[:0], q.smsc.Name...), 0), r.ID...)
	return a.searchKey
}

// ends ends the search that began with a receipt, and goes on with those that wait. If its message is unknown,
// so is theirs: an answer that comes now finds them all among the orphans, in their order.
func (a *Acceptor[T]) ends(now int64, q *finding[T], unknown bool) {
	t := q.search
	if t == nil {
		return
	}
	q.search = nil
	delete(a.searches, t.key)
	for _, next := range t.behind {
		by := next.by
		switch {
		case unknown:
			a.notFound(now, next)
		case !a.follows(next):
			a.find(now, next)
		}
		a.executor.Release(now, by)
	}
}

// Forget drops the receipts that wait for others and of which drop, which must end them, reports that their sender is gone. The
// SMSC has no answer and sends them again.
func (a *Acceptor[T]) Forget(drop func(by T) bool) {
	for _, t := range a.searches {
		t.behind = slices.DeleteFunc(t.behind, func(q *finding[T]) bool {
			gone := drop(q.by)
			if gone {
				q.message.Release()
			}
			return gone
		})
	}
}
