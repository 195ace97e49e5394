package connector

import "pmg/sms"

// failOver has another lane take a message that was sent in vain. It is counted there from
// now on. An answer that comes late does not find it any more.
func (l *Lane) failOver(from, to *Share, m *sms.Message) {
	delete(l.unknown, m.ID)
	l.stats().FailedOver.Add(1)
	from.Transfer(to, m)
	l.handed = append(l.handed, move{m, from, to})
}

// HasHanded reports whether HandOver has something to do.
func (l *Lane) HasHanded() bool { return len(l.handed) > 0 }

// HandOver passes the messages that other lanes take to give, which pushes them there. It is
// called after Next, so that a message is in no lane for a short time, and never in two.
func (l *Lane) HandOver(give func(*Share, *sms.Message)) {
	for i := range l.handed {
		give(l.handed[i].to, l.handed[i].message)
	}
	clear(l.handed)
	l.handed = l.handed[:0]
}
