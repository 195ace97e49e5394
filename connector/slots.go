package connector

import (
	"slices"

	"pmg/sms"
)

// A Slot is the right of a session to one unanswered request. A free slot is in its lane's list of
// free slots. A slot whose request is under way holds the message.
type Slot struct {
	Instance *Instance
	Outlet   *Outlet // the outlet that owns the slot; nil while the instance is not connected
	Link     *Link   // the outlet's session; nil: the outlet has no session
	Message  *sms.Message
	Changed  *sms.Message // the copy of Message that plugins changed for this attempt; nil: unchanged
	Share    *Share       // the share of Message
	Inquiry  *Inquiry     // the operation under way, which is about Message; nil: Message itself is sent
	Sequence uint32
	Sent     int64 // Unix nanoseconds

	next, prev *Slot // neighbours in the list of free slots
}

// Slots is a lane's list of free slots. Slots of connected instances are in front, slots of
// unconnected instances at the back. Every operation is O(1), except Drop, which removes all slots
// of a session. Slots is not safe for concurrent use.
type Slots struct {
	root Slot // the list is a ring: root.next is the front
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

// Park adds the slot of an unconnected instance at the back.
func (s *Slots) Park(i *Instance) {
	s.lazyInit()
	link(&Slot{Instance: i}, &s.root)
}

// Back returns the slot of an unconnected instance, or nil if there is none.
func (s *Slots) Back() *Slot {
	if s.root.prev == nil || s.root.prev == &s.root || s.root.prev.Outlet != nil {
		return nil
	}
	return s.root.prev
}

// Open adds an outlet with a window. Slots are created when they are first needed, so that an idle
// session has only one slot.
func (s *Slots) Open(o *Outlet, window int) {
	o.unused = window
	if o.size.auto != nil {
		o.unused = o.size.auto.Size()
	}
	s.grow(o)
}

func (s *Slots) grow(o *Outlet) {
	s.lazyInit()
	s.free(newSlot(o))
}

// newSlot creates another slot of an outlet's window.
func newSlot(o *Outlet) *Slot {
	o.unused--
	slot := &Slot{Outlet: o, Link: o.link}
	if o.link != nil {
		slot.Instance = o.link.Instance
	}
	o.slots = append(o.slots, slot)
	return slot
}

// free adds a slot of a connected instance to the list. If messages are balanced over sessions, the
// slot is put behind the slots of the other sessions. Otherwise the slot is put in front, so that
// few sessions are busy and their batches are long.
func (s *Slots) free(slot *Slot) {
	if slot.Outlet.balanced {
		link(slot, &s.root)
	} else {
		link(slot, s.root.next)
	}
}

// Front returns the slot that Take would return, or nil if none is free.
func (s *Slots) Front() *Slot {
	if s.root.next == nil || s.root.next == &s.root {
		return nil
	}
	return s.root.next
}

// Take removes and returns the slot in front.
func (s *Slots) Take() *Slot {
	slot := s.Front()
	if slot == nil {
		return nil
	}
	unlink(slot)
	if o := slot.Outlet; o != nil {
		o.used++
		if o.unused > 0 && (o.balanced || s.root.next.Outlet != o) {
			s.grow(o)
		}
	}
	return slot
}

// Put returns a slot of a connected instance after the answer to its request. The slot of
// a session that is over is dropped.
func (s *Slots) Put(slot *Slot) {
	slot.Message, slot.Changed, slot.Share, slot.Inquiry = nil, nil, nil, nil
	o := slot.Outlet
	o.used--
	switch {
	case !o.takesMore():
	case o.size.surplus > 0:
		o.size.surplus--
		o.remove(slot)
	case o.reserved:
		o.aside = append(o.aside, slot)
	default:
		s.free(slot)
	}
}

// Freeze withholds a slot whose request was not answered in time until Thaw is called. So a peer
// that does not answer gets no more requests than its window. The last slot of the window is not
// frozen. Otherwise a peer that has lost a whole window of requests would never get another request
// to answer. For the same reason surplus slots are dropped, and not frozen.
func (s *Slots) Freeze(slot *Slot) {
	o := slot.Outlet
	if o.takesMore() && (o.size.surplus > 0 || len(o.frozen)+1 == len(o.slots)+o.unused) {
		s.Put(slot)
		return
	}
	slot.Message, slot.Changed, slot.Share, slot.Inquiry = nil, nil, nil, nil
	o.used--
	if o.takesMore() {
		o.frozen = append(o.frozen, slot)
	}
}

// Thaw makes the frozen slots of a session available again, because the peer has answered.
func (s *Slots) Thaw(o *Outlet) {
	frozen := o.frozen
	o.frozen = nil
	for _, slot := range frozen {
		o.used++ // Put subtracts 1 from used
		s.Put(slot)
	}
}

// Reserve sets the free slots of a session aside, so that the session gets no further messages.
func (s *Slots) Reserve(o *Outlet) {
	o.reserved = true
	for _, slot := range o.slots {
		if slot.next != nil {
			unlink(slot)
			o.aside = append(o.aside, slot)
		}
	}
}

// TakeReserved takes a slot that Reserve set aside. The session must have no request under way.
func (s *Slots) TakeReserved(o *Outlet) *Slot {
	n := len(o.aside) - 1
	slot := o.aside[n]
	o.aside = o.aside[:n]
	o.used++
	if n == 0 && o.unused > 0 { // the next suspect needs a slot, and this slot may be frozen
		o.aside = append(o.aside, newSlot(o))
	}
	return slot
}

// Release undoes Reserve.
func (s *Slots) Release(o *Outlet) {
	aside := o.aside
	o.reserved, o.aside = false, nil
	if !o.takesMore() {
		return
	}
	for _, slot := range aside {
		s.free(slot)
	}
}

// Resize allows so many requests under way. It reports false, and does nothing, while the session is reserved for suspects.
// No slot of the session may be frozen.
func (s *Slots) Resize(o *Outlet, size int) bool {
	have := len(o.slots) - o.size.surplus + o.unused
	if o.reserved || !o.takesMore() {
		return false
	}
	if size > have {
		more := size - have
		back := min(more, o.size.surplus)
		o.size.surplus -= back
		if o.unused += more - back; o.unused == more-back && o.unused > 0 {
			s.grow(o) // the others may all be under way, and only Take makes slots
		}
		return true
	}
	less := have - size
	cut := min(less, o.unused)
	o.unused -= cut
	for _, slot := range slices.Clone(o.slots) {
		if cut < less && slot.next != nil {
			unlink(slot)
			o.remove(slot)
			cut++
		}
	}
	o.size.surplus += less - cut
	return true
}

// remove forgets a slot.
func (o *Outlet) remove(slot *Slot) {
	o.slots = slices.DeleteFunc(o.slots, func(s *Slot) bool { return s == slot })
}

// isFull reports whether all requests that are allowed are under way.
func (o *Outlet) isFull() bool {
	return o.unused == 0 && o.used+len(o.frozen) >= len(o.slots)
}

// Drop removes all free slots of a session that gets no more requests. Slots under way are dropped
// when they are put back. Drop reports whether the session had slots.
func (s *Slots) Drop(o *Outlet) bool {
	had := o.slots != nil
	o.supply, o.unused, o.size.surplus = stopped, 0, 0
	for _, slot := range o.slots {
		if slot.next != nil {
			unlink(slot)
		}
	}
	o.slots, o.aside, o.frozen = nil, nil, nil
	return had
}
