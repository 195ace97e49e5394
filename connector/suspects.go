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
	links   []*Link // sessions that are reserved for suspects
}

type suspect struct {
	message *sms.Message
	share   *Share
}

// nextSuspect takes and returns the slot for the next suspect, or nil if there is none now.
// It reserves as many sessions for suspects as are needed and allowed.
func (l *Lane) nextSuspect(now int64) *Slot {
	s := &l.suspects
	for len(s.waiting) > 0 && l.isOver(now, s.waiting[0].share, s.waiting[0].message, s.waiting[0].message.Expires) {
		s.waiting = s.waiting[1:]
	}
	if len(s.waiting) == 0 {
		s.releaseIdle(l)
		return nil
	}
	idle := 0 // reserved sessions without a suspect yet
	for _, link := range s.links {
		if link.suspect != nil {
			continue
		}
		if link.used == 0 {
			return s.send(l, link)
		}
		idle++
	}
	for idle < len(s.waiting) && len(s.links) < max(1, l.Online()-1) {
		front := l.slots.Front()
		if front == nil || front.Link == nil {
			return nil
		}
		link := front.Link
		s.links = append(s.links, link)
		l.slots.Hold(link)
		if link.used == 0 {
			return s.send(l, link)
		}
		idle++
	}
	return nil
}

// send takes a slot of a reserved session without requests under way for the next suspect.
func (s *suspects) send(l *Lane, link *Link) *Slot {
	next := s.waiting[0]
	s.waiting = s.waiting[1:]
	slot := l.slots.TakeHeld(link)
	slot.Message, slot.Share = next.message, next.share
	link.suspect = slot
	return slot
}

// answered ends the isolation when the suspect's slot comes back.
func (s *suspects) answered(l *Lane, slot *Slot) {
	if slot.Link.suspect == slot {
		slot.Link.suspect = nil
		s.release(l, slot.Link)
	}
}

// release ends the reservation of a session, unless a suspect is under way in it.
func (s *suspects) release(l *Lane, link *Link) {
	if link.suspect != nil || !link.reserved {
		return
	}
	s.links = slices.DeleteFunc(s.links, func(other *Link) bool { return other == link })
	l.slots.Unhold(link)
}

// releaseIdle ends the reservation of sessions for which no suspect is left.
func (s *suspects) releaseIdle(l *Lane) {
	for i := len(s.links) - 1; i >= 0; i-- {
		s.release(l, s.links[i])
	}
}
