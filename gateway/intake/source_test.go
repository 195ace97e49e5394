package intake

import (
	"testing"

	"pmg/account"
	"pmg/connector"
	"pmg/gateway/keep"
	"pmg/gateway/roomtest"
	"pmg/protocols"
	"pmg/sms"
)

// An open room has room for everything, and nobody waits in it.
type open struct{}

func (open) HasRoom(keep.Accepted, *Several) bool { return true }

// A message comes in without a session, a socket or a sequence number, as that of a request will: it takes the
// same steps, counts towards the account's rate, and is refused by the same rules.
func TestSourceWithoutSession(t *testing.T) {
	t.Parallel()
	d := newDesk(t, roomtest.Operator(""))
	cfg := *d.node.Config()
	cfg.Accounts[0].Rate, cfg.Accounts[0].Burst = 1, 2
	accounts := account.NewTable(&cfg, account.NewRegistry())
	l := account.Login{SystemID: []byte("client"), Password: []byte("secret"), Connector: "clients", Bind: protocols.Transceiver}
	client, result := accounts.LogIn(1, l, accounts.Verify(l))
	if client == nil {
		t.Fatal(result)
	}
	from := &connector.Source{Connector: d.table.Connector("clients"), Account: client, Origin: d.node.Origins.Of("client", "clients")}
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
