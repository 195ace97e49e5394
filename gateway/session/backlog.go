package session

import "pmg/connector"

// A backlog keeps the PDUs that came behind one that is not decided yet. So the PDUs of a session stay in order.
type backlog[R any] struct {
	of      map[*connector.Link][]R
	receive func(now int64, l *connector.Link, r R)
}

// add adds a PDU that waits.
func (b *backlog[R]) add(l *connector.Link, r R) { b.of[l] = append(b.of[l], r) }

// goOn handles the waiting PDUs after the decision.
func (b *backlog[R]) goOn(now int64, l *connector.Link) {
	for _, next := range b.take(l) {
		b.receive(now, l, next)
	}
}

// take removes and returns the waiting PDUs.
func (b *backlog[R]) take(l *connector.Link) []R {
	all := b.of[l]
	delete(b.of, l)
	return all
}
