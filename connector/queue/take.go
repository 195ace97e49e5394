package queue

import (
	"github.com/tidwall/btree"

	"pmg/sms"
)

// A search is the state of a search for messages to move. It goes through the queue in
// parts, first through the messages that came back, which are older than the others.
type search struct {
	back   Entry // comes before those to go on with
	inBack bool  // back counts: the search has begun there
	cursor
	inRings bool // Queue.back was searched, and the rings follow

	inVain bool // no message of the parts searched so far could be moved
	again  bool // the search has begun again, because a later message could be moved
}

// A Taker is what a search calls. It is for one call.
type Taker struct {
	// Take decides about a message in memory. TakeDue allows it to take the body of one that stays
	// out of memory. It must leave everything else as it is.
	Take func(*Entry) Verdict
	// Ask begins to read a body, or returns false: not now.
	Ask func(*Entry) bool

	Absent bool // the search has stopped at bodies that are not in memory
}

// TakeDue passes messages that are due to take, from where the last call ended, and
// takes out those that are to leave. It takes away from left what it has searched, and
// stops when nothing is left, or at a body that must be read first: for that and for
// those behind it, as far as left goes, it asks. It reports whether it has come to the
// end; the next call begins anew.
func (q *Queue) TakeDue(now int64, left *int, t *Taker) (end bool) {
	q.advance(now)
	s := &q.moved
	if !s.inRings && !q.takeBack(left, t) {
		return false
	}
	s.inRings = true
	if !q.takeRings(left, t) {
		return false
	}
	*s = search{}
	return true
}

func (q *Queue) takeRings(left *int, t *Taker) (end bool) {
	c := &q.moved.cursor
	end = q.scan(c, left, func(_ *ring, e *Entry) Verdict {
		if e.Message == nil {
			t.Absent = true
			return waits
		}
		v := t.Take(e)
		if v == Stays {
			q.absent += e.absent()
		}
		return v
	})
	if !t.Absent {
		return end
	}
	r := q.ring(c.rings)
	for i := int(max(c.at, r.start) - r.start); i < r.n && *left > 0; i++ {
		if !r.at(i).ask(t.Ask) {
			break
		}
		*left--
	}
	return false
}

// takeBack searches the messages that came back.
func (q *Queue) takeBack(left *int, t *Taker) (end bool) {
	s := &q.moved
	var taken, changed []Entry
	end = true
	search := func(e Entry) bool {
		switch {
		case *left <= 0:
			end = false
			return false
		case e.Message == nil:
			end, t.Absent = false, true
			q.askTree(q.back, e, left, t.Ask, &changed)
			return false
		}
		*left--
		s.inBack = true
		s.back = e
		s.back.ID++
		before := e
		switch t.Take(&e) {
		case Leaves:
			taken = append(taken, before)
		case Stays:
			if e.Message == nil {
				changed = append(changed, e)
			}
		}
		return true
	}
	if s.inBack {
		q.back.Ascend(s.back, search)
	} else {
		q.back.Scan(search)
	}
	for i := range taken {
		q.back.Delete(taken[i])
		q.leftBack(&taken[i])
	}
	q.replaceBack(changed)
	return end
}

// askTree asks for bodies from an entry on, and appends those entries to changed, which
// must be replaced.
func (q *Queue) askTree(tree *btree.BTreeG[Entry], from Entry, left *int, ask func(*Entry) bool, changed *[]Entry) {
	tree.Ascend(from, func(e Entry) bool {
		if *left <= 0 {
			return false
		}
		*left--
		if e.state == onDisk {
			if !e.ask(ask) {
				return false
			}
			*changed = append(*changed, e)
		}
		return true
	})
}

// replaceBack replaces entries of those that came back.
func (q *Queue) replaceBack(changed []Entry) {
	for i := range changed {
		e := &changed[i]
		old, _ := q.back.Set(*e)
		q.countBack(&old, -1)
		q.countBack(e, 1)
		q.absent += e.absent() - old.absent()
	}
}

// TakeLater passes messages that wait for their time to the taker, and takes out up to
// left of those that wanted reports true for. It reports whether there are no more of
// those.
func (q *Queue) TakeLater(left *int, wanted func(*Entry) bool, t *Taker) (end bool) {
	var taken, changed []Entry
	end = true
	q.later.Scan(func(e Entry) bool {
		switch {
		case *left <= 0:
			end = false
			return false
		case !wanted(&e):
		case e.Message == nil:
			end, t.Absent = false, true
			*left--
			if e.state == onDisk {
				if !e.ask(t.Ask) {
					return false
				}
				changed = append(changed, e)
			}
		case t.Take(&e) == Leaves:
			*left--
			taken = append(taken, e)
		}
		return true
	})
	for i := range taken {
		q.later.Delete(taken[i])
		q.left(&taken[i])
	}
	for _, e := range changed {
		q.later.Set(e)
	}
	return end
}

// SearchAgain makes the next call of TakeDue begin again.
func (q *Queue) SearchAgain() { q.moved = search{again: true} }

// InVain reports whether no message could be moved of the parts that TakeDue has searched.
func (q *Queue) InVain() bool { return q.moved.inVain }

// SearchedInVain records that. It does not in a search that has begun again.
func (q *Queue) SearchedInVain() {
	if !q.moved.again {
		q.moved.inVain = true
	}
}

// find returns the entry with the id and place of e, and where it is.
func (q *Queue) find(e *Entry) (found Entry, in location) {
	for _, r := range [...]*ring{&q.rings[e.Priority], &q.older[e.Priority]} {
		if at := r.find(e); at != nil {
			return *at, location{ring: r, at: at}
		}
	}
	for _, tree := range [...]*btree.BTreeG[Entry]{q.back, q.later} {
		if found, ok := tree.Get(*e); ok {
			return found, location{tree: tree}
		}
	}
	return Entry{}, location{}
}

// A location is where an entry is: in a ring or in a tree.
type location struct {
	ring *ring
	at   *Entry
	tree *btree.BTreeG[Entry]
}

// Load puts the body of a message that was read into its entry.
func (q *Queue) Load(e *Entry, m *sms.Message) (ok bool) {
	found, in := q.find(e)
	if found.state != beingRead {
		return false
	}
	found.Message, found.state = m, loaded
	q.replace(&found, in)
	return true
}

// Change calls f with the entry that has the id and place of e. If f reports true, what f has
// made of it is kept. f may take its body out of memory, and must leave everything else as it
// is but whether it counts as scheduled.
func (q *Queue) Change(e *Entry, f func(*Entry) bool) {
	if found, in := q.find(e); in != (location{}) && f(&found) {
		q.replace(&found, in)
	}
}

// replace replaces an entry in its place by one whose body is in memory if that of the other is
// not, and the other way round.
func (q *Queue) replace(e *Entry, in location) {
	switch {
	case in.at != nil:
		q.absent += e.absent() - in.at.absent()
		*in.at = *e
	case in.tree == q.back:
		q.replaceBack([]Entry{*e})
	default:
		old, _ := in.tree.Set(*e)
		q.absent += e.absent() - old.absent()
	}
}

// Remove takes out the entry with the id and place of e. It is not found if keeps reports true
// for it.
func (q *Queue) Remove(e *Entry, keeps func(*Entry) bool) (removed Entry, ok bool) {
	found, in := q.find(e)
	if in == (location{}) || keeps(&found) {
		return Entry{}, false
	}
	switch {
	case in.at != nil:
		q.left(&found)
		in.at.take()
		in.ring.trim()
	case in.tree == q.back:
		q.back.Delete(found)
		q.leftBack(&found)
	default:
		q.later.Delete(found)
		q.left(&found)
	}
	return found, true
}
