package accept

import (
	"slices"

	"pmg/gateway/receipts"
)

// A search is a search for the message of a receipt. Later receipts with the same id wait for the
// end of the search, so that the client gets all receipts in their order: "on its way" must not
// come after the final state.
type search[T any] struct {
	key    string
	behind []*finding[T]
}

// Searches returns how many receipts are being looked up.
func (a *Acceptor[T]) Searches() int { return len(a.searches) }

// begins records that the search for a receipt's message has begun.
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

// follows reports whether the message of an earlier receipt with the same id is being searched for.
// If so, the receipt waits for that search.
func (a *Acceptor[T]) follows(q *finding[T]) bool {
	if len(a.searches) == 0 {
		return false
	}
	t := a.searches[string(a.searchKeyOf(q))]
	if t == nil {
		return false
	}
	copied := *q
	copied.match = receipts.Match{}
	a.executor.Hold(q.by)
	t.behind = append(t.behind, &copied)
	return true
}

// searchKeyOf returns the key of a search: the name of the SMSC and the id in the receipt.
func (a *Acceptor[T]) searchKeyOf(q *finding[T]) []byte {
	r, _ := q.message.Report()
	a.searchKey = append(append(append(a.searchKey[:0], q.smsc.Name...), 0), r.ID...)
	return a.searchKey
}

// ends ends the search that began with a receipt, and continues with the receipts that wait.
// unknown says that the message is not known. Then the waiting receipts become orphans too, so that
// a late answer finds all of them in their order.
func (a *Acceptor[T]) ends(now int64, q *finding[T], unknown bool) {
	t := q.search
	if t == nil {
		return
	}
	q.search = nil
	delete(a.searches, t.key)
	for _, next := range t.behind {
		by, at := next.by, max(now, next.at)
		switch {
		case unknown:
			a.notFound(at, next)
		case !a.follows(next):
			a.find(at, next)
		}
		a.executor.Release(now, by)
	}
}

// Forget drops waiting receipts for which drop returns true, because their sender is gone. drop
// must release the sender's resources. The SMSC gets no answer and sends these receipts again.
func (a *Acceptor[T]) Forget(drop func(by T) bool) {
	for _, t := range a.searches {
		t.behind = slices.DeleteFunc(t.behind, func(q *finding[T]) bool {
			gone := drop(q.by)
			if gone {
				a.passOn(q.at, q.claim)
				q.message.Release()
			}
			return gone
		})
	}
	a.forgetWaiting(drop)
}
