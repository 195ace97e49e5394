package connector

import "pmg/sms"

// suspectAfter is how many sessions may end under a message before it is sent alone.
const suspectAfter = 2

// suspects are messages under which sessions have ended. It may be one message
// that ends every session it is sent in. To find out which, and to spare the
// others, suspects are sent one at a time, in a session that has nothing else
// under way.
type suspects struct {
	waiting []suspect
	link    *Link // the session that is kept for the next one; nil: none is
	slot    *Slot // the slot by which one is under way
}

type suspect struct {
	message *sms.Message
	share   *Share
}

// nextSuspect takes the slot that the next suspect is to leave by, nil if there is
// none now. front is the lane's first free slot.
func (l *Lane) nextSuspect(now int64, front *Slot) *Slot {
	s := &l.suspects
	if s.slot != nil {
		return nil
	}
	for len(s.waiting) > 0 && l.isOver(now, s.waiting[0].share, s.waiting[0].message, s.waiting[0].message.Expires) {
		s.waiting = s.waiting[1:]
	}
	if len(s.waiting) == 0 {
		if s.link != nil {
			s.release(l, s.link)
		}
		return nil
	}
	if s.link == nil {
		if front == nil || front.Link == nil {
			return nil
		}
		s.link = front.Link
		l.slots.Hold(s.link)
	}
	if s.link.used > 0 {
		return nil
	}
	next := s.waiting[0]
	s.waiting = s.waiting[1:]
	s.slot = l.slots.TakeHeld(s.link)
	s.slot.Message, s.slot.Share = next.message, next.share
	return s.slot
}

// answered ends the isolation when the suspect's slot comes back.
func (s *suspects) answered(l *Lane, slot *Slot) {
	if s.slot == slot {
		s.slot = nil
		s.release(l, slot.Link)
	}
}

// release gives the session back that was kept for a suspect, unless one is under
// way in it.
func (s *suspects) release(l *Lane, link *Link) {
	if s.link == link && s.slot == nil {
		s.link = nil
		l.slots.Unhold(link)
	}
}
