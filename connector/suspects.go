package connector

import (
	"slices"

	"pmg/sms"
)

// suspectAfter is how many sessions may end while a message is under way before the message is sent
// alone.
const suspectAfter = 2

// suspects holds the sessions that are reserved for suspects. The suspects wait in the lane's
// Queues. If the lane has several sessions, one session is always left for other messages.
type suspects struct {
	outlets []*Outlet
}

// A suspect is a message that was under way when sessions ended. It may end every session by which
// it is sent. To find such a message, and to protect other messages, each suspect is sent in a
// session that has nothing else under way.
type suspect struct {
	message *sms.Message
	share   *Share
}

// next takes and returns the slot for the next suspect. It returns nil if no suspect can be sent
// now. It reserves as many sessions as the suspects need and are allowed to have.
func (s *suspects) next(l *Lane, now int64) *Slot {
	waiting := &l.Queues.suspects
	for len(*waiting) > 0 && l.isOver(now, (*waiting)[0].share, (*waiting)[0].message, (*waiting)[0].message.Expires) {
		*waiting = (*waiting)[1:]
	}
	if len(*waiting) == 0 {
		s.releaseIdle(l)
		return nil
	}
	idle := 0 // number of reserved sessions without a suspect
	for _, o := range s.outlets {
		if o.suspect != nil {
			continue
		}
		if o.used == 0 {
			return s.send(l, o)
		}
		idle++
	}
	for idle < len(*waiting) && len(s.outlets) < max(1, l.Window.Online()-1) {
		front := l.Window.slots.Front()
		if front == nil || front.Outlet == nil {
			return nil
		}
		o := front.Outlet
		s.outlets = append(s.outlets, o)
		l.Window.slots.Reserve(o)
		if o.used == 0 {
			return s.send(l, o)
		}
		idle++
	}
	return nil
}

// send takes a slot for the next suspect, of a reserved session that has no requests under way.
func (s *suspects) send(l *Lane, o *Outlet) *Slot {
	next := l.Queues.suspects[0]
	l.Queues.suspects = l.Queues.suspects[1:]
	slot := l.Window.slots.TakeReserved(o)
	slot.Message, slot.Share = next.message, next.share
	o.suspect = slot
	return slot
}

// answered ends the isolation when the suspect's slot comes back.
func (s *suspects) answered(l *Lane, slot *Slot) {
	if slot.Outlet.suspect == slot {
		slot.Outlet.suspect = nil
		s.release(l, slot.Outlet)
	}
}

// release ends the reservation of a session, unless a suspect is under way in the session.
func (s *suspects) release(l *Lane, o *Outlet) {
	if o.suspect != nil || !o.reserved {
		return
	}
	s.outlets = slices.DeleteFunc(s.outlets, func(other *Outlet) bool { return other == o })
	l.Window.slots.Release(o)
}

// releaseIdle ends the reservations of sessions that no suspect needs.
func (s *suspects) releaseIdle(l *Lane) {
	for i := len(s.outlets) - 1; i >= 0; i-- {
		s.release(l, s.outlets[i])
	}
}
