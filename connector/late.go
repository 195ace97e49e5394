package connector

// late remembers requests whose answers did not come in time, so that an answer
// that comes all the same finds its message. It belongs to whatever runs the session.
type late struct {
	requests []lateRequest // in the order in which they were given up
}

type lateRequest struct {
	sequence uint32
	id       uint64 // of the message
}

// maxLate is how many windows of late requests are remembered.
const maxLate = 4

// GiveUp notes that a request was not answered in time.
func (l *Link) GiveUp(slot *Slot) {
	r := &l.late.requests
	if len(*r) >= maxLate*l.Connector.Config().Window {
		*r = (*r)[:copy(*r, (*r)[1:])]
	}
	*r = append(*r, lateRequest{slot.Sequence, slot.Message.ID})
}

// Late returns the message of a request that was given up, and forgets it.
func (l *Link) Late(sequence uint32) (id uint64, ok bool) {
	r := &l.late.requests
	for i, late := range *r {
		if late.sequence == sequence {
			*r = append((*r)[:i], (*r)[i+1:]...)
			return late.id, true
		}
	}
	return 0, false
}
