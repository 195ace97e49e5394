package convert

import (
	"testing"
	"time"

	"github.com/rs/zerolog"

	"pmg/config"
	"pmg/connector"
	"pmg/gateway/node"
	"pmg/gateway/roomtest"
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
		d := New(node.New(&config.Config{}, zerolog.Nop()), nil)
		d.node.Clock.WallClock = func() time.Time { return time.Unix(0, now+step) }
		d.node.Clock.See(now)
		s := &clockSession{read: now + step + 60*second} // in a minute, by the wall clock
		m := new(sms.Message)
		l := &connector.Link{Session: s, Source: connector.Source{Connector: connector.New(0, &config.Connector{}, toy.New(), &d.node.Memory)}}
		if code := d.Message(now, l, nil, m); code != sms.OK || m.Expires != now+60*second {
			t.Errorf("step %d: %s, expires in %d s", step/second, code, (m.Expires-now)/second)
		}
		d.Encode(now+second, l, nil, m, 1)
		if s.written != s.read || m.Expires != now+60*second {
			t.Errorf("step %d: written as %d s later than it was read", step/second, (s.written-s.read)/second)
		}
	}
}

// What a peer is sent of a message takes no session: its connector's protocol, alphabets and rules make it. The
// message itself stays as it is, for another attempt.
func TestLeavingWithoutSession(t *testing.T) {
	t.Parallel()
	g := roomtest.With(t, `
pdulog: {enabled: false}
connectors:
  - {name: caller, direction: out, address: "127.0.0.1:1", system_id: pmg, password: secret, rewrite: [{out: destination, add: "00"}]}
`, func(string) protocols.Driver { return toy.New() })
	d := New(g.Node, g.Table)
	to := &connector.Source{Connector: d.table.Connector("caller")}
	to.Connector.Protocol++ // than that of the message
	m := newMessage(d, sms.Submit, "49170")
	out := d.Leaving(to, m)
	if out == m || string(out.Dest().Addr) != "0049170" || string(out.Text()) != "text" {
		t.Errorf("it leaves as %+v", out)
	}
	if string(m.Dest().Addr) != "49170" || string(m.Native(1)) != "native" {
		t.Errorf("the message has become %+v", m)
	}
	out.Release()
}
