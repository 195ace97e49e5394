package intake

import (
	"testing"

	"pmg/gateway/keep"
	"pmg/gateway/roomtest"
	"pmg/sms"
)

// An open room has room for everything.
type open struct{}

func (open) HasRoom(keep.Accepted, *Several) bool { return true }

// A message comes in without a session, a socket or a sequence number, as that of a request will: it takes the
// same steps, counts towards the account's rate, and is refused by the same rules.
func TestSourceWithoutSession(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "", "rate: 1, burst: 2", "", toOperator)
	d, from := p.Checker, p.submission(Submitted, sms.Submit, nil).From
	from.Account = (&roomtest.Ground{Node: d.node}).Client(t, "client")
	now := d.node.Clock.Now()
	submit := func(text string) (*Submission, Verdict) {
		s := &Submission{Way: Submitted, From: from, Room: open{}, Change: func(_ int64, m *sms.Message) sms.Code {
			if text == "" {
				return sms.BadLength
			}
			m.Set(sms.Address{Addr: []byte("1234")}, sms.Address{Addr: []byte("46700000001")}, []byte(text))
			return sms.OK
		}}
		return s, d.Take(now, s)
	}
	if s, v := submit("hello"); v != Pass || s.Share == nil || s.Lane.Home().Name != "operator" || s.Message.Account() != "client" || s.Message.Arrived != now {
		t.Errorf("it is %d, %s", v, s.Code)
	}
	if s, v := submit(""); v != Refuse || s.Code != sms.BadLength {
		t.Errorf("one that cannot be made is %d, %s", v, s.Code)
	}
	refused := from.Connector.Stats.Refused.Load()
	for range 100 {
		if s, v := submit("again"); v == Refuse && s.Code == sms.Throttled {
			if n := from.Connector.Stats.Refused.Load(); n != refused+1 {
				t.Errorf("%d are counted as refused", n-refused)
			}
			return
		}
	}
	t.Error("no rate is kept")
}
