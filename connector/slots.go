package connector

import "pmg/sms"

// A Slot is one occurrence of an instance in its lane's list of free slots, and
// so the right to have one request unanswered. While the request is under way the
// slot holds its message.
type Slot struct {
	Instance *Instance
	Link     *Link // nil while the instance is not connected
	Message  *sms.Message
	Share    *Share // of Message
	Sequence uint32
	Sent     int64 // Unix nanoseconds

	next, prev *Slot // in the list of free slots
}

// Slots is a lane's list of free slots: connected instances in front, unconnected
// ones at the back. Every operation is O(1), except that the end of a session
// takes out the slots it has. It is not safe for concurrent use.
type Slots struct {
	root Slot // ring: root.next is the front
}

func (s *Slots) lazyInit() {
	if s.root.next == nil {
		s.root.next, s.root.prev = &s.root, &s.root
	}
}

func link(slot, before *Slot) {
	slot.prev, slot.next = before.prev, before
	slot.prev.next, before.prev = slot, slot
}

func unlink(slot *Slot) {
	slot.prev.next, slot.next.prev = slot.next, slot.prev
	slot.next, slot.prev = nil, nil
}

// Park puts an unconnected instance at the back.
func (s *Slots) Park(i *Instance) {
	s.lazyInit()
	link(&Slot{Instance: i}, &s.root)
}

// Back returns the slot of an unconnected instance, or nil.
func (s *Slots) Back() *Slot {
	if s.root.prev == nil || s.root.prev == &s.root || s.root.prev.Link != nil {
		return nil
	}
	return s.root.prev
}

// Open puts a session that has just logged in to the front. Its window's slots
// are made when they are first needed: an idle session costs one.
func (s *Slots) Open(l *Link, window int) {
	l.unused = window
	s.grow(l)
}

func (s *Slots) grow(l *Link) {
	s.lazyInit()
	s.free(newSlot(l))
}

// newSlot makes another slot of a session's window.
func newSlot(l *Link) *Slot {
	l.unused--
	slot := &Slot{Instance: l.Instance, Link: l}
	l.slots = append(l.slots, slot)
	return slot
}

// free makes a slot of a connected instance one that can be taken. Where messages
// are balanced over sessions it stands behind the slots of the others, otherwise
// in front, so that few sessions are busy and their batches long.
func (s *Slots) free(slot *Slot) {
	if slot.Link.balanced {
		link(slot, &s.root)
	} else {
		link(slot, s.root.next)
	}
}

// Front returns the slot that Take would, nil when none is free.
func (s *Slots) Front() *Slot {
	if s.root.next == nil || s.root.next == &s.root {
		return nil
	}
	return s.root.next
}

// Take removes the slot in front.
func (s *Slots) Take() *Slot {
	slot := s.Front()
	if slot == nil {
		return nil
	}
	unlink(slot)
	if l := slot.Link; l != nil {
		l.used++
		if l.unused > 0 && (l.balanced || s.root.next.Link != l) {
			s.grow(l)
		}
	}
	return slot
}

// Put returns the slot of a connected instance, its request being answered. The
// slot of a session that is over is forgotten.
func (s *Slots) Put(slot *Slot) {
	slot.Message, slot.Share = nil, nil
	l := slot.Link
	l.used--
	switch {
	case l.dropped:
	case l.held:
		l.aside = append(l.aside, slot)
	default:
		s.free(slot)
	}
}

// Freeze keeps a slot, whose request was not answered in time, until Thaw: a peer
// that does not answer is given no more requests than its window. The last slot of
// the window is not kept, because a peer which has lost all it was given would
// otherwise never be given a request that it can answer.
func (s *Slots) Freeze(slot *Slot) {
	l := slot.Link
	if !l.dropped && len(l.frozen)+1 == len(l.slots)+l.unused {
		s.Put(slot)
		return
	}
	slot.Message, slot.Share = nil, nil
	l.used--
	if !l.dropped {
		l.frozen = append(l.frozen, slot)
	}
}

// Thaw makes the frozen slots of a session whose peer answers again ones that can be taken.
func (s *Slots) Thaw(l *Link) {
	frozen := l.frozen
	l.frozen = nil
	for _, slot := range frozen {
		l.used++ // Put takes it away
		s.Put(slot)
	}
}

// Hold sets the free slots of a session aside, so that no request joins those
// that are under way.
func (s *Slots) Hold(l *Link) {
	l.held = true
	for _, slot := range l.slots {
		if slot.next != nil {
			unlink(slot)
			l.aside = append(l.aside, slot)
		}
	}
}

// TakeHeld takes a slot of a session that Hold has set aside and that has no
// request under way.
func (s *Slots) TakeHeld(l *Link) *Slot {
	n := len(l.aside) - 1
	slot := l.aside[n]
	l.aside = l.aside[:n]
	l.used++
	if n == 0 && l.unused > 0 { // the slot may not come back soon: Freeze
		l.aside = append(l.aside, newSlot(l))
	}
	return slot
}

// Unhold ends what Hold began.
func (s *Slots) Unhold(l *Link) {
	aside := l.aside
	l.held, l.aside = false, nil
	if l.dropped {
		return
	}
	for _, slot := range aside {
		s.free(slot)
	}
}

// Drop takes out every slot of a session that is given no more requests. Those
// under way are forgotten when they are put back. It reports whether the session
// had any.
func (s *Slots) Drop(l *Link) bool {
	had := l.slots != nil
	l.dropped, l.unused = true, 0
	for _, slot := range l.slots {
		if slot.next != nil {
			unlink(slot)
		}
	}
	l.slots, l.aside, l.frozen = nil, nil, nil
	return had
}
