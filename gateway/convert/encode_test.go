package convert

import (
	"testing"
	"time"

	"github.com/rs/zerolog"

	"pmg/config"
	"pmg/connector"
	"pmg/gateway/node"
	"pmg/gateway/route"
	"pmg/protocols"
	"pmg/protocols/prototest/toy"
	"pmg/sms"
)

const (
	now    = int64(1_800_000_000_000_000_000) // an arbitrary time
	second = int64(1_000_000_000)
)

// A clockSession uses a fixed time as a message's validity, both ways.
type clockSession struct {
	protocols.Session
	read    int64 // the time that the peer wrote
	written int64 // the time that the peer gets
}

func (s *clockSession) Message(now int64, _ protocols.PDU, m *sms.Message) sms.Code {
	m.Expires = s.read
	if s.read <= now {
		return sms.BadValidity
	}
	return sms.OK
}

func (s *clockSession) Encode(_ int64, _ protocols.PDU, m *sms.Message, _ uint32) {
	s.written = m.Expires
}

// Absolute times of messages follow the wall clock, even if it was set since the start.
// Timers do not depend on it (F8).
func TestWallClockSteps(t *testing.T) {
	const hour = 3600 * second
	for _, step := range []int64{0, hour, -hour, 30 * second} {
		d := NewDesk(&route.Table{Node: node.New(&config.Config{}, zerolog.Nop())})
		d.Clock.WallClock = func() time.Time { return time.Unix(0, now+step) }
		d.Clock.See(now)
		s := &clockSession{read: now + step + 60*second} // in a minute, by the wall clock
		m := new(sms.Message)
		l := &connector.Link{Session: s, Source: connector.Source{Connector: connector.New(0, &config.Connector{}, toy.New(), &d.Memory)}}
		if code := d.Message(now, l, nil, m); code != sms.OK || m.Expires != now+60*second {
			t.Errorf("step %d: %s, expires in %d s", step/second, code, (m.Expires-now)/second)
		}
		d.Encode(now+second, l, nil, m, 1)
		if s.written != s.read || m.Expires != now+60*second {
			t.Errorf("step %d: written as %d s later than it was read", step/second, (s.written-s.read)/second)
		}
	}
}
