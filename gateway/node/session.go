package node

import (
	"github.com/rs/zerolog"

	"pmg/connector"
)

// OfSession adds the fields that identify a session to a log entry.
func OfSession(e *zerolog.Event, l *connector.Link) *zerolog.Event {
	return OfSource(e, &l.Source)
}

// OfSource adds the fields that identify a sender of messages, which may have no session, to a log
// entry.
func OfSource(e *zerolog.Event, s *connector.Source) *zerolog.Event {
	e.Str("connector", s.Connector.Name)
	if s.Instance != nil {
		e.Int("instance", s.Instance.Number)
	}
	return e.Stringer("remote", s.Remote)
}
