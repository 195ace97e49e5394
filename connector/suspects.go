package connector

import (
	"slices"

	"pmg/sms"
)

// suspectAfter is how many sessions may end under a message before it is sent alone.
const suspectAfter = 2

// suspects are messages under which sessions have ended. One of them may end every session
// by which it is sent. To find that one, and to spare the others, each suspect is sent in
// a session that has nothing else under way. If there are several sessions, all but one
// may have suspects; that one stays for other messages.
type suspects struct {
	waiting []suspect
	outlets []*Outlet // sessions that are reserved for suspects
}

type suspect struct {
	message *sms.Message
	share   *Share
}

// next takes and returns the slot for the next suspect, or nil if there is none now.
// It reserves as many sessions for suspects as are needed and allowed.
func (s *suspects) next(l *Lane, now int64) *Slot {
	for len(s.waiting) > 0 && l.isOver(now, s.waiting[0].share, s.waiting[0].message, s.waiting[0].message.Expires) {
		s.waiting = s.waiting[1:]
	}
	if len(s.waiting) == 0 {
		s.releaseIdle(l)
		return nil
	}
	idle := 0 // reserved sessions without a suspect yet
	for _, o := range s.outlets {
		if o.suspect != nil {
			continue
		}
		if o.used == 0 {
			return s.send(l, o)
		}
		idle++
	}
	for idle < len(s.waiting) && len(s.outlets) < max(1, l.Online()-1) {
		front := l.slots.Front()
		if front == nil || front.Outlet == nil {
			return nil
		}
		o := front.Outlet
		s.outlets = append(s.outlets, o)
		l.slots.Reserve(o)
		if o.used == 0 {
			return s.send(l, o)
		}
		idle++
	}
	return nil
}

// send takes a slot of a reserved session without requests under way for the next suspect.
func (s *suspects) send(l *Lane, o *Outlet) *Slot {
	next := s.waiting[0]
	s.waiting = s.waiting[1:]
	slot := l.slots.TakeReserved(o)
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

// release ends the reservation of a session, unless a suspect is under way in it.
func (s *suspects) release(l *Lane, o *Outlet) {
	if o.suspect != nil || !o.reserved {
		return
	}
	s.outlets = slices.DeleteFunc(s.outlets, func(other *Outlet) bool { return other == o })
	l.slots.Release(o)
}

// releaseIdle ends the reservation of sessions for which no suspect is left.
func (s *suspects) releaseIdle(l *Lane) {
	for i := len(s.outlets) - 1; i >= 0; i-- {
		s.release(l, s.outlets[i])
	}
}
