package session

import (
	"slices"

	"pmg/connector"
)

// A search is for the message of a receipt. Later receipts with its id wait behind it, so that the
// client gets them in the order in which they came: one that says that the message is on its way
// must not come behind the last one.
type search[R any] struct {
	key    string
	behind []*finding[R]
}

// begins begins a search for the message of a receipt.
func (f *finder[R]) begins(q *finding[R]) {
	if q.search != nil {
		return
	}
	q.search = &search[R]{key: string(f.searchKeyOf(q))}
	f.searches[q.search.key] = q.search
}

// follows makes a receipt wait if the message of an earlier one with its id is looked for, and
// reports whether it does. The session does not end meanwhile.
func (f *finder[R]) follows(q *finding[R]) bool {
	if len(f.searches) == 0 {
		return false
	}
	t := f.searches[string(f.searchKeyOf(q))]
	if t == nil {
		return false
	}
	copied := *q
	copied.Record = nil
	q.link.Storing++
	t.behind = append(t.behind, &copied)
	return true
}

// searchKeyOf returns the name of the centre and the id of a receipt.
func (f *finder[R]) searchKeyOf(q *finding[R]) []byte {
	r, _ := q.message.Report()
	f.searchKey = append(append(append(f.searchKey[:0], q.centre.Name...), 0), r.ID...)
	return f.searchKey
}

// ends ends the search that began with a receipt, and goes on with those that wait. If its message is unknown,
// so is theirs: an answer that comes now finds them all among the orphans, in their order.
func (f *finder[R]) ends(now int64, q *finding[R], unknown bool) {
	t := q.search
	if t == nil {
		return
	}
	q.search = nil
	delete(f.searches, t.key)
	for _, next := range t.behind {
		l := next.link
		l.Storing--
		switch {
		case unknown:
			f.notFound(now, next)
		case !f.follows(next):
			f.find(now, next)
		}
		if l.Storing == 0 {
			f.letGo(now, l)
		}
	}
}

// over forgets the receipts of a session that is over which wait for others. The SMSC has no answer
// and sends them again.
func (f *finder[R]) over(l *connector.Link) {
	for _, t := range f.searches {
		t.behind = slices.DeleteFunc(t.behind, func(q *finding[R]) bool {
			if q.link == l {
				q.message.Release()
				f.port.Drop(l, q.request)
			}
			return q.link == l
		})
	}
}
