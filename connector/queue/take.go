package queue

import (
	"github.com/tidwall/btree"

	"pmg/sms"
)

// A search is the state of a search for messages to move. It goes through the queue in
// parts, first through the messages that came back, which are older than the others.
type search struct {
	back   Entry // the search of the messages that came back continues after this entry
	inBack bool  // back is valid: the search of the messages that came back has begun
	cursor
	inRings bool // Queue.back was searched, and the search continues in the rings

	inVain bool // none of the messages searched so far could be moved
	again  bool // the search was started again, because a later message could be moved
}

// A Taker holds the functions that one search calls, and a result of the search.
type Taker struct {
	// Take decides about a message whose body is in memory. In TakeDue it may release the body of a
	// message that stays. Take must not change anything else.
	Take func(*Entry) Verdict
	// Ask begins to read a body. It returns false if the body cannot be read now.
	Ask func(*Entry) bool

	Absent bool // the search stopped at bodies that are not in memory
}

// TakeDue passes due messages to the taker, beginning where the last call stopped, and takes out
// the messages that leave. It subtracts the number of searched messages from left. It stops when
// left is 0, or at a body that must be read first. Then it requests that body and the bodies behind
// it, as many as left allows. end is true if all messages were searched; then the next call begins
// at the start again.
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

// askTree requests bodies of a tree's entries, beginning at the entry from. It appends the entries
// whose state changed to changed. The caller must replace them in the tree.
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

// replaceBack replaces entries of q.back by changed ones.
func (q *Queue) replaceBack(changed []Entry) {
	for i := range changed {
		e := &changed[i]
		old, _ := q.back.Set(*e)
		q.countBack(&old, -1)
		q.countBack(e, 1)
		q.absent += e.absent() - old.absent()
	}
}

// TakeLater passes the messages that are not due yet, and for which wanted returns true, to the
// taker. It takes out at most left of them. end is true if no such message remains.
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

// SearchAgain makes the next call of TakeDue start at the first message again.
func (q *Queue) SearchAgain() { q.moved = search{again: true} }

// InVain reports whether none of the messages that TakeDue has searched could be moved.
func (q *Queue) InVain() bool { return q.moved.inVain }

// SearchedInVain records that none of the searched messages could be moved. It has no effect in a
// search that was started again.
func (q *Queue) SearchedInVain() {
	if !q.moved.again {
		q.moved.inVain = true
	}
}

// find returns the entry with the id and place of e, and its location.
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

// A location says where an entry is: in a ring or in a tree.
type location struct {
	ring *ring
	at   *Entry
	tree *btree.BTreeG[Entry]
}

// Load puts the body that was read from disk into the entry of its message. ok is false if the
// entry does not wait for the body.
func (q *Queue) Load(e *Entry, m *sms.Message) (ok bool) {
	found, in := q.find(e)
	if found.state != beingRead {
		return false
	}
	found.Message, found.state = m, loaded
	q.replace(&found, in)
	return true
}

// Change calls f with the entry that has the id and place of e. If f returns true, the changed
// entry is stored. f may release the body from memory and change whether the entry counts as
// scheduled. f must not change anything else.
func (q *Queue) Change(e *Entry, f func(*Entry) bool) {
	if found, in := q.find(e); in != (location{}) && f(&found) {
		q.replace(&found, in)
	}
}

// replace stores a changed entry in its place, and updates the counts of bodies that are not in
// memory.
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

// Remove takes out and returns the entry with the id and place of e. ok is false if there is no
// such entry, or if keeps returns true for the entry.
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
