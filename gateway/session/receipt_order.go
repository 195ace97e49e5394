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
func (c *Conversation[R]) begins(q *finding[R]) {
	if q.search != nil {
		return
	}
	if c.searches == nil {
		c.searches = map[string]*search[R]{}
	}
	q.search = &search[R]{key: string(c.searchKeyOf(q))}
	c.searches[q.search.key] = q.search
}

// follows makes a receipt wait if the message of an earlier one with its id is looked for, and
// reports whether it does. The session does not end meanwhile.
func (c *Conversation[R]) follows(q *finding[R]) bool {
	if len(c.searches) == 0 {
		return false
	}
	t := c.searches[string(c.searchKeyOf(q))]
	if t == nil {
		return false
	}
	copied := *q
	copied.Record = nil
	q.link.Storing++
	t.behind = append(t.behind, &copied)
	return true
}

// searchKeyOf returns the name of the operator and the id of a receipt.
func (c *Conversation[R]) searchKeyOf(q *finding[R]) []byte {
	r, _ := q.message.Report()
	c.searchKey = append(append(append(c.searchKey[:0], q.operator.Name...), 0), r.ID...)
	return c.searchKey
}

// ends ends the search that began with a receipt, and goes on with those that wait. If its message is unknown,
// so is theirs: an answer that comes now finds them all among the orphans, in their order.
func (c *Conversation[R]) ends(now int64, q *finding[R], unknown bool) {
	t := q.search
	if t == nil {
		return
	}
	q.search = nil
	delete(c.searches, t.key)
	for _, next := range t.behind {
		l := next.link
		l.Storing--
		switch {
		case unknown:
			c.notFound(now, next)
		case !c.follows(next):
			c.find(now, next)
		}
		if l.Storing == 0 {
			c.letGo(now, l)
		}
	}
}

// dropReceipts forgets the receipts of a session that is over which wait for others. The SMSC has no answer
// and sends them again.
func (c *Conversation[R]) dropReceipts(l *connector.Link) {
	for _, t := range c.searches {
		t.behind = slices.DeleteFunc(t.behind, func(q *finding[R]) bool {
			if q.link == l {
				q.message.Release()
				c.port.Drop(l, q.request)
			}
			return q.link == l
		})
	}
}
