package connector

import "pmg/sms"

// A Slot is one occurrence of an instance in its connector's list of free slots,
// and so the right to have one request unanswered. While the request is under
// way the slot holds its message.
type Slot struct {
	Instance *Instance
	Link     *Link // nil while the instance is not connected
	Message  *sms.Message
	Sequence uint32
	Sent     int64 // Unix nanoseconds

	next, prev *Slot // in the list of free slots
}

// Slots is a connector's list of free slots: connected instances in front,
// unconnected ones at the back. Every operation is O(1), except that the end of a
// session takes out the slots it has. It is not safe for concurrent use.
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

// Open puts a session that has just logged in to the front. Its window's slots
// are made as they are first needed: an idle session costs one.
func (s *Slots) Open(l *Link, window int) {
	l.unused = window
	s.grow(l)
}

func (s *Slots) grow(l *Link) {
	s.lazyInit()
	l.unused--
	slot := &Slot{Instance: l.Instance, Link: l}
	l.slots = append(l.slots, slot)
	link(slot, s.root.next)
}

// Front tells which slot Take would give, nil when none is free.
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
	if l := slot.Link; l != nil && l.unused > 0 && s.root.next.Link != l {
		s.grow(l)
	}
	return slot
}

// Put returns the slot of a connected instance to the front, its request being
// answered. The slot of a session that is over is forgotten.
func (s *Slots) Put(slot *Slot) {
	slot.Message = nil
	if slot.Link.dropped {
		return
	}
	link(slot, s.root.next)
}

// Drop takes out every slot of a session that is over. Those under way are
// forgotten when they are put back. It tells whether the session had been given any.
func (s *Slots) Drop(l *Link) bool {
	had := l.slots != nil
	l.dropped, l.unused = true, 0
	for _, slot := range l.slots {
		if slot.next != nil {
			unlink(slot)
		}
	}
	l.slots = nil
	return had
}
