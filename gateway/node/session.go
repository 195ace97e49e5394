package node

import (
	"github.com/rs/zerolog"

	"pmg/connector"
)

// OfSession adds the fields that identify a session to a log entry.
func OfSession(e *zerolog.Event, l *connector.Link) *zerolog.Event {
	return e.Str("connector", l.Connector.Name).Int("instance", l.Instance.Number).Stringer("remote", l.Remote)
}
