package server

import (
	"sync/atomic"

	"pmg/connector"
	"pmg/pdulog"
	"pmg/protocols/httpsms"
)

// A Log writes requests, calls and their answers to the pdu log of a connector, and counts them. It is safe for concurrent use.
type Log struct {
	connector *connector.Connector
	lines     *pdulog.Shared
	number    atomic.Uint32
}

// NewLog returns the log of a connector.
func NewLog(c *connector.Connector, clock pdulog.Clock) *Log {
	return &Log{connector: c, lines: pdulog.Share(c.PDULog, clock)}
}

// Next returns the number of the next request or call, which the answer has too.
func (l *Log) Next() uint32 { return l.number.Add(1) }

// IsEnabled reports whether lines are written at all.
func (l *Log) IsEnabled() bool { return l.lines.Enabled() }

// Line writes a request, a call or an answer.
func (l *Log) Line(received bool, p *httpsms.PDU, about pdulog.About) {
	l.lines.Line(received, p, about)
}

// CountExchange counts a request or call, which was received or sent, and its answer, which went the other way.
func (l *Log) CountExchange(command int, received bool, status uint32) {
	l.connector.Stats.Count(command, received, 1)
	l.CountAnswer(command+1, !received, status)
}

// CountAnswer counts an answer.
func (l *Log) CountAnswer(command int, received bool, status uint32) {
	l.connector.Stats.Count(command, received, 1)
	l.connector.Stats.CountStatus(command, received, status)
}

// Close closes the log after all lines are written.
func (l *Log) Close() { l.lines.Close() }
